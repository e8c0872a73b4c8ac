'use strict'

// What the engines that read a lake do not write alike. All else in the queries is the same for all.

/**
 * @typedef {object} Dialect
 * @property {(part: number, value: string) => string} quantile of values, with linear interpolation
 * @property {(text: string) => string} text a text as SQL
 */

/** Returns a text as SQL of DuckDB. @param {string} text */
const literal = (text) => `'${text.replaceAll("'", "''")}'`

/** Returns texts as a list of SQL of DuckDB. @param {string[]} texts */
const listLiteral = (texts) => `[${texts.map(literal).join(', ')}]`

/** @param {string} text */
const withBackslashes = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** @type {Record<'duckdb' | 'spark' | 'clickhouse', Dialect>} */
const DIALECTS = {
  duckdb: {
    quantile: (part, value) => `quantile_cont(${value}, ${part})`,
    text: literal,
  },
  spark: { quantile: (part, value) => `percentile(${value}, ${part})`, text: withBackslashes },
  clickhouse: {
    quantile: (part, value) => `quantileExactInclusive(${part})(${value})`,
    text: withBackslashes,
  },
}

module.exports = { DIALECTS, literal, listLiteral }
