'use strict'

// `cpu-prof lake top`: shows what costs most over many runs.

const { ask } = require('./ask.js')
const { nameOf, parseBy } = require('./query/items.js')
const queries = require('./query/queries.js')
const { scopeOf } = require('./query/scope.js')
const output = require('./output/top.js')

/** @typedef {import('./query/items.js').Kind} Kind */
/** @typedef {import('./ask.js').Output & import('./query/scope.js').Choice & { by?: string }} Options */
/**
 * What an item cost. Times are milliseconds; quantiles are over runs, where a run without it counts as 0.
 * @typedef {object} Cost
 * @property {string} name
 * @property {string} place what tells it apart: a path, or a package
 * @property {Record<string, string>} keys columns of the lake
 * @property {number} runs with a sample of it
 * @property {number} selfMs sum
 * @property {number} [totalMs] sum; missing for files
 * @property {number} share of all work, by self time
 * @property {number} meanMs
 * @property {number} medianMs
 * @property {number} p95Ms
 *
 * @typedef {object} Answer
 * @property {1} version
 * @property {string} by
 * @property {number} runs
 * @property {number} busyMs work of all runs
 * @property {string | null} first start of the first run, in UTC
 * @property {string | null} last
 * @property {Cost[]} rows
 * @property {string[]} notes
 */

/** @param {string | undefined} place the lake @param {Options} options */
async function top(place, options) {
  const by = options.by ?? 'function'
  const { kind, key } = parseBy(by)
  const plan = () => {
    const scope = scopeOf(options)
    const view = { by, kind, key, rows: options.top ?? queries.ROWS }
    return {
      range: scope.range,
      question: (/** @type {import('./duckdb.js').Lake} */ lake) => answer(lake, scope, view),
    }
  }
  await ask(place, plan, options, { ...output, json: (found) => found })
}

/**
 * @param {import('./duckdb.js').Lake} lake @param {import('./query/scope.js').Scope} scope
 * @param {{ by: string, kind: Kind, key?: string, rows: number }} view @returns {Promise<Answer>}
 */
async function answer(lake, { where, params }, { by, kind, key, rows }) {
  const [whole] = await lake.query(queries.summary(where), params)
  const found = await costliest(lake, { where, params }, { kind, key, rows })
  const busy = Number(whole.busy ?? 0)
  return {
    version: 1,
    by,
    runs: whole.runs,
    busyMs: busy / 1000,
    first: whole.first_start,
    last: whole.last_start,
    rows: found.map((row) => costOf(kind, row, busy)),
    notes: notesOf(whole),
  }
}

/**
 * Returns the items with the most self time, and their times over runs. Two queries read less than one: the
 * second knows the few items whose runs it reads.
 * @param {import('./duckdb.js').Lake} lake
 * @param {{ where: string, params: Record<string, string> }} scope
 * @param {{ kind: Kind, key?: string, rows: number }} view
 */
async function costliest(lake, { where, params }, { kind, key, rows }) {
  const isOfKey = key !== undefined
  const sql = queries.largest(kind, where, rows, { label: isOfKey })
  const items = await lake.query(sql, { ...params, ...(isOfKey && { label: key }) })
  if (items.length === 0) return []
  const bound = { ...params, ...queries.namedItems(kind, items) }
  return lake.query(queries.top(kind, where, queries.boundItems(kind, items.length)), bound)
}

/** @param {Kind} kind @param {Record<string, any>} row @param {number} busy @returns {Cost} */
function costOf(kind, row, busy) {
  const { runs, self_sum, total_sum, mean, p25, median, p75, p95, ...keys } = row
  return {
    ...nameOf(kind, keys),
    keys,
    runs,
    selfMs: self_sum / 1000,
    ...(kind !== 'file' && { totalMs: total_sum / 1000 }),
    share: busy > 0 ? self_sum / busy : 0,
    meanMs: mean / 1000,
    medianMs: median / 1000,
    p95Ms: p95 / 1000,
  }
}

/** @param {Record<string, any>} whole */
function notesOf({ runs, repos }) {
  if (runs === 0) return ['no run of the lake is chosen']
  return repos > 1 ? [`the runs are of ${repos} repositories (--repo chooses one)`] : []
}

module.exports = { costliest, top }
