'use strict'

// `cpu-prof lake sql`: runs a user's query on a lake, or a question, which it also prints for other engines.

const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const { jsonText, printable } = require('@org/cpu-prof/own-packages').format
const { printResult } = require('@org/cpu-prof/own-packages').output
const { cutEnd, displayWidth, padEnd } = require('@org/cpu-prof/own-packages').width
const { asked, orFail } = require('./ask.js')
const { openStore } = require('../base/store.js')
const { openLake } = require('./duckdb.js')
const { DIALECTS } = require('./query/dialects.js')
const { withFiles } = require('./query/files.js')
const { QUESTIONS, statementOf } = require('./query/statements.js')

/** @typedef {import('./duckdb.js').Table} Table */
/** @typedef {{ json?: boolean, csv?: boolean }} Form */
/** @typedef {{ engine?: keyof typeof DIALECTS, print?: boolean }} Engine */

/** Columns of the widest cell of a table. */
const WIDEST = 80
/** Types of columns that stand at the right. */
const IS_NUMBER = /INT|FLOAT|DOUBLE|DECIMAL/

/**
 * Runs or prints a query. One word is the query, of the lake of CPU_PROF_LAKE; of two, the first is the lake.
 * @param {string[]} words @param {Form & Engine & import('./query/statements.js').Options} options
 */
async function sql(words, { json, csv, engine, print, ...options }) {
  await orFail(async () => {
    const [query, place, ...others] = [...words].reverse()
    if (others.length > 0) throw new WrongUsage('too many words: quote the statement')
    if (Object.hasOwn(QUESTIONS, query)) {
      await answer(query, asked(place), options, { json, csv, engine, print })
      return
    }
    const given = [engine && 'engine', print && 'print', ...Object.keys(options)]
    const foreign = given.find((name) => name !== undefined)
    if (foreign !== undefined) {
      throw new WrongUsage(
        `--${foreign} belongs to a question (${Object.keys(QUESTIONS).join(', ')}), and this is a statement`,
      )
    }
    await run(query, asked(place), {}, { json, csv })
  })
}

/**
 * Runs or prints the statement of a question.
 * @param {string} question @param {string} lake @param {import('./query/statements.js').Options} options
 * @param {Form & Engine} output
 */
async function answer(question, lake, options, { engine = 'duckdb', print, ...form }) {
  if (engine !== 'duckdb' && !print) {
    throw new WrongUsage(`--engine ${engine} needs --print: only DuckDB runs here`)
  }
  const dialect = DIALECTS[engine]
  const { sql, range } = statementOf(question, options, dialect)
  if (!print) return run(sql, lake, range, form)
  // Without tables, no file of a bucket is fetched.
  const { partitions } = await openStore(lake).live({ ...range, tables: [] })
  const live = partitions.filter(({ stems }) => stems.length > 0)
  if (live.length === 0) throw new Error('no run of the lake is chosen')
  printResult(withFiles(sql, lake, live, dialect))
}

/**
 * Runs a statement, and prints its rows.
 * @param {string} statement @param {string} place @param {import('./duckdb.js').OpenOptions} range @param {Form} form
 */
async function run(statement, place, range, { json, csv }) {
  const lake = await openLake(place, range)
  try {
    const table = await lake.read(statement)
    printResult(json ? jsonText(objectsOf(table)) : csv ? csvOf(table) : drawTable(table))
  } finally {
    lake.close()
  }
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
