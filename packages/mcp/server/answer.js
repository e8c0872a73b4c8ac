'use strict'

// Builds the answers of tools: the same as text and as structured content, both of a limited size.

const { CHARACTERS } = require('@org/cpu-prof/own-packages').budget
const { printable } = require('@org/cpu-prof/own-packages').format

/** Characters of a name, a path or a line: a recording can hold longer ones than anybody reads. */
const MAX_TEXT = 300
/** Characters of a line before the lists. */
const MAX_HEAD = 600
/** Notes that are shown. */
const MAX_NOTES = 5

/**
 * @typedef {{ text: string, data: unknown }} Row
 *
 * @typedef {object} List
 * @property {string} key in the structured content
 * @property {string} title
 * @property {Row[]} rows the most telling first
 * @property {Record<string, unknown>} [of] what the rows belong to, where several lists have one key
 * @property {boolean} [isLog] whether the rows are lines of a text, of which the last tell most
 *
 * @typedef {object} Answer
 * @property {Record<string, unknown>} facts
 * @property {string[]} head lines before the lists
 * @property {List[]} [lists]
 * @property {string[]} [notes]
 * @property {string} [more] what shows the rows that are left out
 */

/**
 * Returns the result of a tool: with as many rows of each list as fit.
 * @param {Answer} answer @param {number} maxTokens
 */
function resultOf({ facts, head, lists = [], notes = [], more }, maxTokens) {
  const most = maxTokens * CHARACTERS
  const shownNotes = notes.slice(0, MAX_NOTES).map((note) => cut(note, MAX_HEAD))
  const cleanHead = head.filter((line) => line !== '').map((line) => cut(line, MAX_HEAD))
  const data = { ...clean(facts), ...(shownNotes.length > 0 && { notes: shownNotes }) }
  const cleanLists = lists.map(({ rows, ...list }) => ({
    ...list,
    of: clean(list.of),
    rows: rows.map((row) => ({ text: cut(row.text), data: clean(row.data) })),
  }))
  const longest = Math.max(0, ...lists.map(({ rows }) => rows.length))
  for (let count = longest; ; count--) {
    const shown = cleanLists.map((list) => shortened(list, count))
    const isCut = shown.some(({ hidden }) => hidden > 0)
    const text = [
      ...cleanHead,
      ...shownNotes.map((note) => `note: ${note}`),
      ...shown.flatMap(linesOf),
      ...(isCut && more ? [`more: ${more}`] : []),
    ]
      .join('\n')
      .trimStart()
    const structured = { ...data, ...structuredLists(shown), ...(isCut && more ? { more } : {}) }
    const fits = Math.max(text.length, JSON.stringify(structured).length) <= most
    if (fits || count <= 0)
      return wrapped(text.slice(0, most), fits ? structured : cutFacts(structured, most))
  }
}

/** @param {string} text @param {Record<string, unknown>} structuredContent */
function wrapped(text, structuredContent) {
  return { content: [{ type: /** @type {const} */ ('text'), text }], structuredContent }
}

/** Returns an answer that tells why a tool did nothing. @param {string} text */
function failure(text) {
  return {
    content: [{ type: /** @type {const} */ ('text'), text: cut(text, 1000) }],
    isError: true,
  }
}

/** @param {List} list @param {number} count */
function shortened({ rows, ...list }, count) {
  const shown = list.isLog ? rows.slice(Math.max(0, rows.length - count)) : rows.slice(0, count)
  return { ...list, rows: shown, hidden: rows.length - shown.length }
}

/** @param {ReturnType<typeof shortened>} list */
function linesOf({ title, rows, hidden, isLog }) {
  if (rows.length === 0 && hidden === 0) return []
  const rest = hidden > 0 ? [`  … ${hidden} more`] : []
  const lines = rows.map(({ text }) => `  ${text}`)
  return ['', title, ...(isLog ? [...rest, ...lines] : [...lines, ...rest])]
}

/** @param {ReturnType<typeof shortened>[]} lists */
function structuredLists(lists) {
  /** @type {Record<string, unknown[]>} */
  const members = {}
  /** @type {Record<string, number>} */
  const leftOut = {}
  for (const { key, of, rows, hidden } of lists) {
    const data = rows.map((row) => row.data)
    members[key] = [
      ...(members[key] ?? []),
      ...(of === undefined ? data : [{ ...of, lines: data }]),
    ]
    if (hidden > 0) leftOut[key] = (leftOut[key] ?? 0) + hidden
  }
  return Object.keys(leftOut).length > 0 ? { ...members, leftOut } : members
}

/** Leaves out the longest members until the rest fits. @param {Record<string, unknown>} facts @param {number} most */
function cutFacts(facts, most) {
  const members = Object.entries(facts)
  const size = () => JSON.stringify(Object.fromEntries(members)).length
  while (members.length > 0 && size() > most) {
    const sizes = members.map(([, value]) => JSON.stringify(value)?.length ?? 0)
    members.splice(sizes.indexOf(Math.max(...sizes)), 1)
  }
  return Object.fromEntries(members)
}

/** Returns a text on one line, without control characters, of a limited length. @param {string} text @param {number} [most] */
function cut(text, most = MAX_TEXT) {
  const line = printable(text)
  return line.length > most ? `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…` : line
}

/**
 * Returns a value in which texts are cut and numbers have one decimal. Shares keep three.
 * @param {any} value @param {string} [key] @returns {any}
 */
function clean(value, key = '') {
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'number') return Number(value.toFixed(key === 'share' ? 3 : 1))
  if (Array.isArray(value)) return value.map((each) => clean(each))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && each !== '')
      .map(([name, each]) => [name, clean(each, name)]),
  )
}

module.exports = { resultOf, failure, MAX_TEXT }
