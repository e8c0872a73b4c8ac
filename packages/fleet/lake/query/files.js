'use strict'

// The live files of a lake as tables of a statement, for engines that know no lake.

const path = require('node:path')
const { COLUMNS } = require('../schema.js')

/** @typedef {import('./dialects.js').Dialect} Dialect */
/** @typedef {import('../../base/store.js').Partition} Partition */

/** The tables that questions read. */
const TABLES = /** @type {const} */ (['functions', 'groups'])
/** What engines take for a pattern in a path. */
const OF_PATTERNS = /[*?[\]{},\\]/

/**
 * Returns a statement with the tables that it reads: live files of a lake. Throws for a lake whose path an
 * engine would take for a pattern.
 * @param {string} sql that begins with WITH @param {string} lake an absolute path, or `s3://…`
 * @param {Partition[]} partitions @param {Dialect} dialect
 */
function withFiles(sql, lake, partitions, dialect) {
  const root = rootOf(lake, dialect)
  const tables = TABLES.filter((table) => new RegExp(`FROM ${table}\\b`).test(sql)).map(
    (table) => `${table} AS (${tableOf(table, `${root}/v1/${table}`, partitions, dialect)}\n)`,
  )
  return `WITH ${tables.join(', ')}, ${sql.replace(/^WITH /, '')};\n`
}

/** Returns the address of a lake, as an engine has it. @param {string} lake @param {Dialect} dialect */
function rootOf(lake, { folders, buckets }) {
  const place = lake.split(path.sep).join('/').replace(/\/+$/, '')
  if (OF_PATTERNS.test(place)) {
    throw new Error(`engines take the path ${lake} for a pattern: give the lake another one`)
  }
  if (/^s3:\/\//i.test(place)) return `${buckets}${place.slice('s3://'.length)}`
  // An address of a folder has three slashes, also where the path begins with the letter of a drive.
  return `${folders}${folders === '' || place.startsWith('/') ? '' : '/'}${place}`
}

/**
 * Returns the query of a table. The repository and the day are in the path too, but each engine reads them
 * there in another way.
 * @param {typeof TABLES[number]} table @param {string} folder @param {Partition[]} partitions @param {Dialect} dialect
 */
function tableOf(table, folder, partitions, { parquet, text }) {
  const columns = COLUMNS[table].map(([name]) => name).join(', ')
  /** @type {Map<string, string[]>} */
  const names = new Map()
  for (const { repo, date, stems } of partitions) {
    const files = stems.map((stem) => `repo=${segmentOf(repo)}/date=${date}/${stem}.parquet`)
    names.set(repo, [...(names.get(repo) ?? []), ...files])
  }
  const parts = [...names].map(
    ([repo, files]) => `
    SELECT ${columns}, ${text(repo)} AS repo, CAST(started_at AS DATE) AS date
    FROM ${parquet(folder, files)}`,
  )
  return parts.join('\n    UNION ALL')
}

/** Returns a repository as the name of a folder, as the addon writes it. @param {string} repo */
function segmentOf(repo) {
  const encoded = (/** @type {string} */ mark) =>
    `%${mark.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  return encodeURIComponent(repo).replace(/[!'()*~]|\.$/g, encoded)
}

module.exports = { withFiles }
