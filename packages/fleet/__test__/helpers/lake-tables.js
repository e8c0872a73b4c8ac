'use strict'

// The tables of a run for a lake, as DuckDB reads them.

const fs = require('node:fs')
const path = require('node:path')
const { DuckDBInstance } = require('@duckdb/node-api')
const { TABLES } = require('../../lake/schema.js')
const { lakeTables } = require('../../base/tables.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')

/** @typedef {Record<string, any>} Row */

/**
 * Writes the tables of a run, and opens them.
 * @param {string | string[]} inputs @param {object} [facts] @param {object} [selection]
 */
async function tablesOf(inputs, facts = {}, selection = {}) {
  const folder = temporaryDirectory()
  const run = await lakeTables(inputs, { repo: 'owner/name', ...facts }, folder, selection)
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  for (const table of TABLES) {
    const file = path.join(folder, `${table}.parquet`)
    await connection.run(`CREATE VIEW ${table} AS SELECT * FROM read_parquet('${file}')`)
  }
  /** Returns the rows of a query, with whole numbers as numbers. @param {string} sql @returns {Promise<Row[]>} */
  const query = async (sql) => {
    const rows = (await connection.runAndReadAll(sql)).getRowObjects()
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, plain(v)])))
  }
  return { ...run, folder, query, close: () => connection.closeSync() }
}

/** Returns a value of DuckDB as one of JavaScript. @param {any} value @returns {any} */
function plain(value) {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value?.items)) return value.items.map(plain)
  return value
}

/** Returns the names of all files of a folder. @param {string} folder */
const filesOf = (folder) => fs.readdirSync(folder).sort()

module.exports = { tablesOf, filesOf, TABLES }
