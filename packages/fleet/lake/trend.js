'use strict'

// `cpu-prof lake trend`: shows how the cost of something changed by day or by commit.

const { ask } = require('./ask.js')
const output = require('./output/trend.js')
const { KINDS, checkTotal, fullName, nameOf } = require('./query/items.js')
const queries = require('./query/queries.js')
const { scopeOf } = require('./query/scope.js')

/** @typedef {import('./query/items.js').Kind} Kind */
/** @typedef {import('./query/scope.js').Scope} Scope */
/** @typedef {import('./duckdb.js').Lake} Lake */
/**
 * @typedef {object} Point values over the runs of a day or a commit
 * @property {string | null} at day or commit; null for runs without a commit
 * @property {number} runs
 * @property {number} runsWith runs with a sample of it; the others count as 0
 * @property {number} mean
 * @property {number} p25
 * @property {number} median
 * @property {number} p75
 * @property {number} p95
 *
 * @typedef {object} Run
 * @property {string | null} at
 * @property {number} value
 * @property {string} host
 * @property {string} start
 *
 * @typedef {object} Answer
 * @property {1} version
 * @property {string} kind
 * @property {string} name
 * @property {string} place
 * @property {'self' | 'total'} measure
 * @property {'share' | 'ms'} unit of the values
 * @property {'day' | 'commit'} by
 * @property {Point[]} points from the oldest
 * @property {Run[]} [values] of each run, for the page
 * @property {string[]} notes
 *
 * @typedef {object} Own
 * @property {'day' | 'commit'} [by]
 * @property {boolean} [absolute]
 * @property {boolean} [total]
 *
 * @typedef {Own & import('./ask.js').Output & import('./query/scope.js').Choice & { [kind in Kind]?: string }} Options
 */

/** @param {string | undefined} place the lake @param {Options} options */
async function trend(place, options) {
  const plan = () => {
    const scope = scopeOf(options)
    return {
      range: scope.range,
      question: (/** @type {Lake} */ lake) => answer(lake, scope, options),
    }
  }
  await ask(place, plan, options, {
    ...output,
    json: ({ values, ...found }) => found,
  })
}

/** @param {Lake} lake @param {Scope} scope @param {Options} options @returns {Promise<Answer>} */
async function answer(lake, { where, params }, options) {
  const kind = KINDS.find((kind) => options[kind] !== undefined)
  const [whole] = await lake.query(queries.summary(where), params)
  const by = options.by ?? (whole.commits > 0 && whole.repos === 1 ? 'commit' : 'day')
  if (by === 'commit' && whole.repos > 1) {
    const names = await lake.query(queries.repos(where), params)
    const list = names.map(({ repo }) => repo).join(', ')
    throw new Error(
      `the commits of several repositories have no order; choose with --repo: ${list}`,
    )
  }
  checkTotal(kind, options.total === true)
  const keys =
    kind === undefined ? {} : await find(lake, kind, String(options[kind]), { where, params })
  const bound = {
    ...params,
    ...Object.fromEntries(Object.entries(keys).map(([key, value]) => [`key_${key}`, value])),
  }
  // The share of the whole is always 1.
  const absolute = options.absolute === true || kind === undefined
  const view = { by, total: options.total === true, absolute }
  const scale = absolute ? 1000 : 1
  const rows = await lake.query(queries.trend(kind, where, view), bound)
  const points = sorted(rows, by).map((row) => pointOf(row, scale))
  const values =
    options.html === undefined
      ? undefined
      : (await lake.query(queries.trendRuns(kind, where, view), bound)).map((row) => ({
          at: row.bucket,
          value: row.amount / scale,
          host: row.host ?? '',
          start: row.started_at,
        }))
  return {
    version: 1,
    kind: kind ?? 'run',
    ...(kind === undefined ? { name: 'work', place: '' } : nameOf(kind, keys)),
    measure: options.total ? 'total' : 'self',
    unit: absolute ? 'ms' : 'share',
    by,
    points,
    ...(values !== undefined && { values }),
    notes: notesOf(whole, points),
  }
}

/**
 * Returns the one item that a text names. Throws if there are none, or several.
 * @param {Lake} lake @param {Kind} kind @param {string} text @param {{ where: string, params: Record<string, string> }} scope
 * @returns {Promise<Record<string, string>>}
 */
async function find(lake, kind, text, { where, params }) {
  const sql = queries.candidates(kind, where)
  const found = (await lake.query(sql, { ...params, item: text })).map(({ own, ...keys }) => keys)
  if (found.length === 0) {
    const hint = kind === 'label' ? '; a label is key=value' : ''
    throw new Error(`no run that is chosen has the ${kind} ${text}${hint}`)
  }
  const exact = found.filter((keys) => fullName(kind, keys) === text)
  if (exact.length === 1) return exact[0]
  if (found.length === 1) return found[0]
  const list = found.map((keys) => `  ${fullName(kind, keys)}`).join('\n')
  throw new Error(
    `several are named ${text}; name one of these: ${list.trim().replace(/\n */g, ', ')}`,
  )
}

/**
 * Sorts the rows of points from the oldest: by the positions of their commits, where all are known, or else
 * by the starts of their first runs.
 * @param {Record<string, any>[]} rows @param {'day' | 'commit'} by
 */
function sorted(rows, by) {
  const hasOrder = by === 'commit' && rows.every(({ seq }) => seq !== null)
  const earlier = (/** @type {any} */ a, /** @type {any} */ b) =>
    a.first_start < b.first_start ? -1 : Number(a.first_start > b.first_start)
  return rows.sort((a, b) => (hasOrder ? a.seq - b.seq : 0) || earlier(a, b))
}

/** @param {Record<string, any>} row @param {number} scale @returns {Point} */
function pointOf({ bucket, runs, runs_with, mean, p25, median, p75, p95 }, scale) {
  const [m, low, middle, high, highest] = [mean, p25, median, p75, p95].map((v) => v / scale)
  return {
    at: bucket,
    runs,
    runsWith: runs_with,
    mean: m,
    p25: low,
    median: middle,
    p75: high,
    p95: highest,
  }
}

/** @param {Record<string, any>} whole @param {Point[]} points */
function notesOf({ runs, repos }, points) {
  if (runs === 0) return ['no run of the lake is chosen']
  const without = runs - points.reduce((sum, { runsWith }) => sum + runsWith, 0)
  return [
    ...(without > 0 ? [`${without} of ${runs} runs have no sample of it, and count as 0`] : []),
    ...(repos > 1 ? [`the runs are of ${repos} repositories (--repo chooses one)`] : []),
  ]
}

module.exports = { trend }
