'use strict'

// What the engines that read a lake do not write alike. All else in the queries is the same for all.

/**
 * @typedef {object} Dialect
 * @property {(part: number, value: string) => string} quantile of values, with linear interpolation
 * @property {(text: string) => string} text a text as SQL
 * @property {(text: string) => string} moment a time without a zone, of a text in SQL
 * @property {(folder: string, names: string[]) => string} parquet the rows of Parquet files
 * @property {string} folders start of the address of a folder on this machine
 * @property {string} buckets start of the address of a bucket
 */

/** Returns a text as SQL of DuckDB. @param {string} text */
const literal = (text) => `'${text.replaceAll("'", "''")}'`

/** Returns texts as a list of SQL of DuckDB. @param {string[]} texts */
const listLiteral = (texts) => `[${texts.map(literal).join(', ')}]`

/** Returns a path of several files, as engines expand it. @param {string} folder @param {string[]} names */
const patternOf = (folder, names) =>
  names.length === 1 ? `${folder}/${names[0]}` : `${folder}/{${names.join(',')}}`

/** @param {string} text */
const withBackslashes = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** @type {Record<'duckdb' | 'spark' | 'clickhouse', Dialect>} */
const DIALECTS = {
  duckdb: {
    quantile: (part, value) => `quantile_cont(${value}, ${part})`,
    text: literal,
    moment: (text) => `CAST(${text} AS TIMESTAMP)`,
    parquet: (folder, names) => {
      const files = names.map((name) => `${folder}/${name}`)
      return `read_parquet(${listLiteral(files)}, hive_partitioning = false, union_by_name = true)`
    },
    folders: '',
    buckets: 's3://',
  },
  spark: {
    quantile: (part, value) => `percentile(${value}, ${part})`,
    // Spark replaces ${env:…} even within a text.
    text: (text) => withBackslashes(text).replaceAll('$', '\\u0024'),
    moment: (text) => `CAST(${text} AS TIMESTAMP_NTZ)`,
    parquet: (folder, names) => `parquet.\`${patternOf(folder, names).replaceAll('`', '``')}\``,
    folders: 'file://',
    buckets: 's3a://',
  },
  clickhouse: {
    quantile: (part, value) => `quantileExactInclusive(${part})(${value})`,
    text: withBackslashes,
    // Other times have the zone of the server.
    moment: (text) => `toDateTime64(${text}, 3, 'UTC')`,
    parquet: (folder, names) => {
      const read = folder.startsWith('s3://') ? 's3' : 'file'
      return `${read}(${withBackslashes(patternOf(folder, names))}, 'Parquet')`
    },
    folders: '',
    buckets: 's3://',
  },
}

module.exports = { DIALECTS, literal, listLiteral }
