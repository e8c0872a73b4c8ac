'use strict'

// Turns the paths of requests into few patterns: `/users/17` is `/users/:id`.

/** The most different patterns of a thread. Anyone can ask a server for any path. */
const MAX_PATTERNS = 1000

/** What stands for the patterns that come later. */
const OTHER = '(other)'

/** A number, a UUID, or a long hexadecimal number. */
const ID = /^(?:\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,})$/i

/** A long text of random letters and digits, as base64 makes it. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w-]{16,}={0,2}$/

/** The most paths whose patterns are remembered. */
const MAX_PATHS = 1000

/** Patterns by paths. @type {Map<string, string>} */
const byPath = new Map()

/** @type {Set<string>} */
const patterns = new Set()

/** Returns the pattern of a path, which a method can precede. @param {string} path */
function patternOf(path) {
  const known = byPath.get(path)
  if (known !== undefined) return known
  const pattern = bounded(path.split('/').map(withoutId).join('/'))
  if (byPath.size >= MAX_PATHS) byPath.clear()
  byPath.set(path, pattern)
  return pattern
}

/** @param {string} segment */
function withoutId(segment) {
  return ID.test(segment) || RANDOM.test(segment) ? ':id' : segment
}

/** @param {string} pattern */
function bounded(pattern) {
  if (patterns.has(pattern)) return pattern
  if (patterns.size >= MAX_PATTERNS) return OTHER
  patterns.add(pattern)
  return pattern
}

module.exports = { patternOf }
