'use strict'

// `cpu-prof lake sql`: runs a user's query on a lake.

const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const { jsonText, printable } = require('@org/cpu-prof/own-packages').format
const { printResult } = require('@org/cpu-prof/own-packages').output
const { cutEnd, displayWidth, padEnd } = require('@org/cpu-prof/own-packages').width
const { asked, orFail } = require('./ask.js')
const { openLake } = require('./duckdb.js')

/** @typedef {import('./duckdb.js').Table} Table */

/** Columns of the widest cell of a table. */
const WIDEST = 80
/** Types of columns that stand at the right. */
const IS_NUMBER = /INT|FLOAT|DOUBLE|DECIMAL/

/**
 * Runs a query. One word is the query, of the lake of CPU_PROF_LAKE; of two, the first is the lake.
 * @param {string[]} words @param {{ json?: boolean, csv?: boolean }} options
 */
async function sql(words, { json, csv }) {
  await orFail(async () => {
    const [query, place, ...others] = [...words].reverse()
    if (others.length > 0) throw new WrongUsage('too many words: quote the statement')
    const lake = await openLake(asked(place))
    try {
      const table = await lake.read(query)
      printResult(json ? jsonText(objectsOf(table)) : csv ? csvOf(table) : drawTable(table))
    } finally {
      lake.close()
    }
  })
}

/** Returns rows as objects; a column whose name is taken gets a number. @param {Table} table */
function objectsOf({ columns, rows }) {
  /** @type {string[]} */
  const names = []
  for (const { name } of columns) {
    let free = name
    for (let number = 1; names.includes(free); number++) free = `${name}_${number}`
    names.push(free)
  }
  return rows.map((row) =>
    Object.fromEntries(names.map((name, at) => [name, withTextsOfBigInts(row[at])])),
  )
}

/** JSON has no whole numbers beyond the exact ones: these are texts. @param {any} value @returns {any} */
function withTextsOfBigInts(value) {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(withTextsOfBigInts)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([name, each]) => [name, withTextsOfBigInts(each)]))
}

/** Returns a value as one text. @param {any} value */
function textOf(value) {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(withTextsOfBigInts(value)) : String(value)
}

/** @param {Table} table */
function csvOf({ columns, rows }) {
  const quote = (/** @type {string} */ text) =>
    /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const line = (/** @type {string[]} */ cells) => `${cells.map(quote).join(',')}\n`
  return [columns.map(({ name }) => name), ...rows.map((row) => row.map(textOf))].map(line).join('')
}

/** @param {Table} table */
function drawTable({ columns, rows }) {
  const cells = rows.map((row) =>
    row.map((value) => cutEnd(printable(value === null ? 'NULL' : textOf(value)), WIDEST)),
  )
  const heads = columns.map(({ name }) => cutEnd(printable(name), WIDEST))
  const widths = heads.map((head, at) =>
    Math.max(displayWidth(head), ...cells.map((row) => displayWidth(row[at]))),
  )
  const draw = (/** @type {string[]} */ row) =>
    row
      .map((cell, at) => {
        const isNumber = IS_NUMBER.test(columns[at].type) && !columns[at].type.endsWith(']')
        const padded = padEnd(cell, widths[at])
        return isNumber ? padded.slice(cell.length) + cell : padded
      })
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  return `${[draw(heads), rule, ...cells.map(draw)].join('\n')}\n`
}

module.exports = { sql }
