'use strict'

// Names requests by their methods and the patterns of their paths: `GET /users/17?x=y` is `GET /users/:id`.

// A name has nothing that can be secret: no user, no query, no fragment, no ids and random texts of a path. The
// addon has the same rule for recordings that are read (`outside_text`), tied to this one by a list of cases.

/** The longest name, in UTF-16 units. */
const MAX_NAME = 300

/** The longest target that is looked at. */
const MAX_TARGET = 8 * MAX_NAME

/** The longest part of a path that can be a name. */
const MAX_PART = 64

/** The most units of targets whose patterns are remembered. */
const MAX_REMEMBERED = 100_000

/** The most different names that are labels of a thread: anyone can ask a server for any path. */
const MAX_LABELS = 1000

/** What stands for the names that come later. */
const OTHER = '(other)'

/** What stands for a part that differs from request to request. */
const ID = ':id'

/** `https://` */
const SCHEME = /^[a-z][a-z\d+.-]+:\/\//i

/** A number, a UUID, or a long hexadecimal number. */
const NUMBER = /^(?:\d+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{16,})$/i

/** An address of a person. */
const ADDRESS = /^.+@|%40/

/** Letters and digits in turn: at least three changes from one to the other, or two in a long text. */
const RANDOM = {
  runs: /[a-z\d]{6,}/gi,
  changes: /[a-z](?=\d)|\d(?=[a-z])/gi,
  longLength: 16,
}

/** Patterns by targets. @type {Map<string, string>} */
const byTarget = new Map()
let remembered = 0

/** Names that are labels. @type {Set<string>} */
const labels = new Set()

/**
 * Returns the name of a request with a method. The target is a path or a URL.
 * @param {string} method @param {string} target
 */
function requestName(method, target) {
  return short(`${short(method)} ${patternOf(target)}`)
}

/** Returns the name of a request to a URL. @param {string} url */
function urlName(url) {
  return short(patternOf(url))
}

/** Returns a name as a label, or what stands for the names that are too many. @param {string} name */
function bounded(name) {
  if (labels.has(name)) return name
  if (labels.size >= MAX_LABELS) return OTHER
  labels.add(name)
  return name
}

/** Returns a path or a URL as a pattern. @param {string} target */
function patternOf(target) {
  const known = byTarget.get(target)
  if (known !== undefined) return known
  const pattern = newPatternOf(target)
  const { length } = target
  if (length <= MAX_NAME) {
    if (remembered + length > MAX_REMEMBERED) {
      byTarget.clear()
      remembered = 0
    }
    byTarget.set(target, pattern)
    remembered += length
  }
  return pattern
}

/** @param {string} target */
function newPatternOf(target) {
  const start = target.slice(0, MAX_TARGET)
  const scheme = SCHEME.exec(start)?.[0] ?? ''
  if (scheme === '') return pathPattern(withoutQuery(start))
  let rest = start.slice(scheme.length)
  for (let length = userLength(rest); length > 0; length = userLength(rest))
    rest = rest.slice(length)
  const kept = withoutQuery(rest)
  const host = upTo(kept, '/')
  return scheme + host + pathPattern(kept.slice(host.length))
}

/**
 * Returns the length of the user, the password and the `@` before a host. A password can have the characters that
 * begin a path or a query.
 * @param {string} rest of a URL, behind its scheme
 */
function userLength(rest) {
  const authority = upTo(withoutQuery(rest), '/')
  const at = authority.lastIndexOf('@')
  if (at !== -1) return at + 1
  const port = authority.includes(':') ? authority.slice(authority.lastIndexOf(':') + 1) : ''
  if (port.endsWith(']') || /^\d*$/.test(port)) return 0
  const last = rest.lastIndexOf('@')
  return last === -1 ? rest.length : last + 1
}

/** @param {string} text */
function withoutQuery(text) {
  return upTo(upTo(text, '?'), '#')
}

/** @param {string} path */
function pathPattern(path) {
  return path.split('/').map(partOf).join('/')
}

/** Returns a part of a path without its parameters (`;jsessionid=…`). @param {string} whole */
function partOf(whole) {
  const part = upTo(whole, ';')
  return isId(part) ? ID : part
}

/** @param {string} part */
function isId(part) {
  return part.length > MAX_PART || NUMBER.test(part) || ADDRESS.test(part) || isRandom(part)
}

/** @param {string} part */
function isRandom(part) {
  const { runs, changes, longLength } = RANDOM
  return (part.match(runs) ?? []).some((run) => {
    const count = run.match(changes)?.length ?? 0
    return count >= 3 || (count === 2 && run.length >= longLength)
  })
}

/** @param {string} text */
function short(text) {
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text
}

/** @param {string} text @param {string} end */
function upTo(text, end) {
  const at = text.indexOf(end)
  return at === -1 ? text : text.slice(0, at)
}

module.exports = { bounded, requestName, urlName }
