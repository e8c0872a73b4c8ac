'use strict'

// The SQL of the questions to a lake: the same for DuckDB, Spark and ClickHouse, but for their dialects.

const { DIALECTS } = require('./dialects.js')
const { ITEMS } = require('./items.js')

/** @typedef {import('./dialects.js').Dialect} Dialect */
/** @typedef {import('./items.js').Keys} Keys */
/** @typedef {import('./items.js').Kind} Kind */

// A run without a sample of an item has no row of it. It counts as 0, so runs are joined with the rows.
// No column of a result has the name of a column that goes into it: ClickHouse would take it for that.

/** Returns the quantiles of a value over runs, as columns. @param {Dialect} dialect @param {string} value */
const quantiles = ({ quantile }, value) => `${quantile(0.25, value)} AS p25,
    ${quantile(0.5, value)} AS median, ${quantile(0.75, value)} AS p75, ${quantile(0.95, value)} AS p95`

/** Rows of an answer. */
const ROWS = 10

/** The time of an item in a run with all that it calls: several functions of a name can call each other. */
const WHOLE = 'least(sum(total_us), max(busy_us))'

/** Returns the query of how many runs there are. @param {string} where */
const summary = (where) => `SELECT count(*) AS runs, sum(busy_us) AS busy,
    min(started_at) AS first_start, max(started_at) AS last_start,
    count(DISTINCT repo) AS repos, count(DISTINCT commit) AS commits
  FROM groups WHERE kind = 'run' AND ${where}`

/** Returns the query of the repositories. @param {string} where */
const repos = (where) => `SELECT DISTINCT repo FROM groups
  WHERE kind = 'run' AND ${where} ORDER BY repo LIMIT 20`

/**
 * Returns the query of the items with the most self time.
 * @param {Kind} kind @param {string} where @param {number} rows
 * @param {{ label?: boolean }} [options] label: only those of the key `$label`
 */
function largest(kind, where, rows, { label = false } = {}) {
  const { table, keys, where: ofKind } = ITEMS[kind]
  const list = keys.join(', ')
  return `SELECT ${list}, sum(self_us) AS all_own FROM ${table}
  WHERE ${ofKind} AND ${where}${label ? ' AND sort = $label' : ''}
  GROUP BY ${list} ORDER BY all_own DESC, ${list} LIMIT ${rows}`
}

/**
 * Returns items whose keys {@link namedItems} binds.
 * @param {Kind} kind @param {number} count of the items, at least one
 * @returns {{ rows: string, names: string }}
 */
function boundItems(kind, count) {
  const { keys } = ITEMS[kind]
  const numbers = [...Array(count).keys()]
  const rows = numbers.map(
    (n) => `SELECT ${keys.map((key) => `$${key}_${n} AS ${key}`).join(', ')}`,
  )
  const names = numbers.map((n) => `$${lastOf(keys)}_${n}`)
  return { rows: rows.join(' UNION ALL '), names: names.join(', ') }
}

/**
 * Returns the items that a query lists.
 * @param {Kind} kind @param {string} rows the query
 * @returns {{ rows: string, names: string }}
 */
const listedItems = (kind, rows) => ({
  rows,
  names: `SELECT ${lastOf(ITEMS[kind].keys)} FROM items`,
})

/**
 * Returns the query of the times of some items over runs, the most self time first.
 * @param {Kind} kind @param {string} where
 * @param {{ rows: string, names: string }} items their keys: a query, and what its last column can be
 * @param {{ dialect?: Dialect }} [options]
 */
function top(kind, where, items, { dialect = DIALECTS.duckdb } = {}) {
  const { table, keys, where: ofKind } = ITEMS[kind]
  const list = keys.join(', ')
  const equal = (/** @type {string} */ a, /** @type {string} */ b) =>
    keys.map((key) => `${a}.${key} = ${b}.${key}`).join(' AND ')
  const of = (/** @type {string} */ a) => keys.map((key) => `${a}.${key} AS ${key}`).join(', ')
  return `WITH runs AS (
    SELECT repo, run_id FROM groups WHERE kind = 'run' AND ${where}
  ), items AS (
    ${items.rows}
  ), per_run AS (
    SELECT repo, run_id, ${list}, sum(self_us) AS own, ${WHOLE} AS whole, 1 AS seen
    FROM ${table} WHERE ${ofKind} AND ${where} AND ${lastOf(keys)} IN (${items.names})
    GROUP BY repo, run_id, ${list}
  ), padded AS (
    SELECT ${of('i')}, coalesce(p.own, 0) AS own, coalesce(p.whole, 0) AS whole,
      coalesce(p.seen, 0) AS seen
    FROM items i CROSS JOIN runs r
    LEFT JOIN per_run p ON p.repo = r.repo AND p.run_id = r.run_id AND ${equal('p', 'i')}
  )
  SELECT ${list}, sum(seen) AS runs, sum(own) AS self_sum, sum(whole) AS total_sum, avg(own) AS mean,
    ${quantiles(dialect, 'own')}
  FROM padded GROUP BY ${list} ORDER BY self_sum DESC, ${list}`
}

/**
 * Returns the key that most items differ by. Engines skip other names while they read; a further condition
 * on the other keys only takes time.
 * @param {string[]} keys
 */
const lastOf = (keys) => keys[keys.length - 1]

/** Returns the keys of items as the values that {@link boundItems} names. @param {Kind} kind @param {Keys[]} items */
function namedItems(kind, items) {
  return Object.fromEntries(
    items.flatMap((item, n) => ITEMS[kind].keys.map((key) => [`${key}_${n}`, item[key]])),
  )
}

/** Returns the query of the items that `$item` names. @param {Kind} kind @param {string} where */
function candidates(kind, where) {
  const { table, keys, where: ofKind } = ITEMS[kind]
  const list = keys.join(', ')
  return `SELECT ${list}, sum(self_us) AS own FROM ${table}
  WHERE ${ofKind} AND ${isNamed(kind)} AND ${where} GROUP BY ${list} ORDER BY own DESC, ${list} LIMIT 20`
}

/** Returns the condition of the items that `$item` names. @param {Kind} kind */
const isNamed = (kind) => `(${ITEMS[kind].names.map((name) => `${name} = $item`).join(' OR ')})`

/**
 * @typedef {object} View
 * @property {boolean} total
 * @property {boolean} absolute
 * @property {boolean} [byName] whether `$item` names the items, or else their keys are bound as `$key_…`
 */

/**
 * Returns the values of each run, as a common table: of an item, or of the whole.
 * @param {Kind | undefined} kind @param {string} where @param {View} view
 */
function valuesOfRuns(kind, where, { total, absolute, byName = false }) {
  const facts = 'repo, run_id, started_at, date, commit, commit_seq, host, busy_us'
  const runs = `runs AS (SELECT ${facts} FROM groups WHERE kind = 'run' AND ${where})`
  if (kind === undefined) {
    return `${runs}, measured AS (SELECT ${facts}, busy_us AS amount, 1 AS seen FROM runs)`
  }
  const { table, keys, where: ofKind } = ITEMS[kind]
  const isItem = byName ? isNamed(kind) : keys.map((key) => `${key} = $key_${key}`).join(' AND ')
  const amount = absolute
    ? 'coalesce(p.spent, 0)'
    : 'CASE WHEN r.busy_us > 0 THEN coalesce(p.spent, 0) / r.busy_us ELSE 0 END'
  const of = facts
    .split(', ')
    .map((name) => `r.${name} AS ${name}`)
    .join(', ')
  return `${runs}, per_run AS (
    SELECT repo, run_id, ${total ? WHOLE : 'sum(self_us)'} AS spent, 1 AS seen FROM ${table}
    WHERE ${ofKind} AND ${isItem} AND ${where} GROUP BY repo, run_id
  ), measured AS (
    SELECT ${of}, ${amount} AS amount, coalesce(p.seen, 0) AS seen
    FROM runs r LEFT JOIN per_run p ON p.repo = r.repo AND p.run_id = r.run_id
  )`
}

/**
 * Returns the query of an item's values by days or commits.
 * @param {Kind | undefined} kind @param {string} where
 * @param {View & { by: 'day' | 'commit', dialect?: Dialect }} view
 */
function trend(kind, where, { by, dialect = DIALECTS.duckdb, ...view }) {
  const bucket = by === 'day' ? 'date' : 'commit'
  return `WITH ${valuesOfRuns(kind, where, view)}
  SELECT ${bucket} AS bucket, count(*) AS runs, sum(seen) AS runs_with, avg(amount) AS mean,
    ${quantiles(dialect, 'amount')}, min(commit_seq) AS seq, min(started_at) AS first_start
  FROM measured GROUP BY ${bucket}`
}

/**
 * Returns the query of an item's value in each run.
 * @param {Kind | undefined} kind @param {string} where @param {View & { by: 'day' | 'commit' }} view
 */
function trendRuns(kind, where, { by, ...view }) {
  const bucket = by === 'day' ? 'date' : 'commit'
  return `WITH ${valuesOfRuns(kind, where, view)}
  SELECT ${bucket} AS bucket, amount, host, started_at FROM measured ORDER BY started_at, run_id`
}

/** Returns the query of the runs of a side, the newest first. @param {string} where */
const runsOf = (where) => `SELECT repo, run_id, started_at, busy_us, duration_us, interval_us
  FROM groups WHERE kind = 'run' AND ${where} ORDER BY started_at DESC, repo, run_id`

/** Returns the query of the runs, the oldest first. @param {string} where */
const orderedRuns = (where) => `SELECT repo, run_id, started_at, "commit", commit_seq, branch, host,
    busy_us, interval_us
  FROM groups WHERE kind = 'run' AND ${where} ORDER BY started_at, run_id`

/**
 * Returns the query of the items with at least a sum of self time, with lists of runs and times there.
 * @param {Kind} kind @param {string} where @param {{ least: number, most: number }} limits
 */
function itemsOfRuns(kind, where, { least, most }) {
  const { table, keys, where: ofKind } = ITEMS[kind]
  const list = keys.join(', ')
  return `WITH per_run AS (
    SELECT run_id, ${list}, sum(self_us) AS own FROM ${table} WHERE ${ofKind} AND ${where}
    GROUP BY run_id, ${list}
  )
  SELECT ${list}, list(run_id ORDER BY run_id) AS runs, list(own ORDER BY run_id) AS times
  FROM per_run GROUP BY ${list} HAVING sum(own) > 0 AND sum(own) >= ${least}
  ORDER BY sum(own) DESC, ${list} LIMIT ${most}`
}

/**
 * Returns the query of the items' times in each of some runs: items with a notable share of the work, and
 * those whose name is wanted. In an order, so that rows with equal differences have one too.
 * @param {Kind} kind @param {{ repo: string, run_id: string }[]} runs
 * @param {{ least: number, wanted: string[] }} options the least sum of shares
 */
function timesOf(kind, runs, { least, wanted }) {
  const { table, keys, where } = ITEMS[kind]
  const list = keys.join(', ')
  const { text } = DIALECTS.duckdb
  const pairs = runs.map(({ repo, run_id }) => `(${text(repo)}, ${text(run_id)})`)
  const name = keys[keys.length - 1]
  const isWanted = wanted.length === 0 ? '' : ` OR ${name} IN (${wanted.map(text).join(', ')})`
  const equal = keys.map((key) => `p.${key} = n.${key}`).join(' AND ')
  return `WITH per_run AS (
    SELECT repo, run_id, ${list}, sum(self_us) AS own, ${WHOLE} AS whole, max(busy_us) AS busy
    FROM ${table} WHERE ${where} AND (repo, run_id) IN (${pairs.join(', ')})
    GROUP BY repo, run_id, ${list}
  ), notable AS (
    SELECT ${list} FROM per_run GROUP BY ${list}
    HAVING sum(CASE WHEN busy > 0 THEN whole / busy ELSE 0 END) >= ${least}${isWanted}
  )
  SELECT ${keys.map((key) => `p.${key} AS ${key}`).join(', ')}, p.repo AS repo, p.run_id AS run_id,
    p.own AS own, p.whole AS whole
  FROM per_run p JOIN notable n ON ${equal}
  ORDER BY ${[...keys, 'repo', 'run_id'].map((key) => `p.${key}`).join(', ')}`
}

/**
 * Returns the query of the items whose means over the runs differ most between two sides. Runs that both
 * choose are of the head.
 * @param {Kind} kind
 * @param {{ where: string, last?: number }[]} sides base and head, each with the count of its newest runs
 * @param {{ absolute: boolean, rows: number, label: boolean }} view label: only those of the key `$label`
 */
function differences(kind, [base, head], { absolute, rows, label }) {
  const { table, keys, where: ofKind, hasTotal } = ITEMS[kind]
  const list = keys.join(', ')
  const side = (/** @type {string} */ where, /** @type {number | undefined} */ last) => {
    const newest = `ORDER BY started_at DESC, repo, run_id LIMIT ${last}`
    return `SELECT repo, run_id, busy_us FROM groups
    WHERE kind = 'run' AND ${where}${last === undefined ? '' : ` ${newest}`}`
  }
  const measures = hasTotal ? ['self', 'total'] : ['self']
  const columns = (/** @type {(side: string, measure: string) => string} */ column) =>
    measures
      .flatMap((measure) => ['base', 'head'].map((side) => column(side, measure)))
      .join(',\n      ')
  const amount = (/** @type {string} */ measure) =>
    absolute
      ? `p.${measure}_time`
      : `CASE WHEN r.busy_us > 0 THEN p.${measure}_time / r.busy_us ELSE 0 END`
  const total = hasTotal ? `, ${WHOLE} AS total_time` : ''
  const difference = (/** @type {string} */ measure) => `head_${measure} - base_${measure}`
  const all = measures.map(
    (measure) =>
      `base_${measure}, head_${measure}, ${difference(measure)} AS ${measure}_difference`,
  )
  return `WITH of_head AS (
    ${side(head.where, head.last)}
  ), of_base AS (
    ${side(`${base.where} AND (repo, run_id) NOT IN (SELECT repo, run_id FROM of_head)`, base.last)}
  ), runs AS (
    SELECT 'base' AS side, repo, run_id, busy_us FROM of_base
    UNION ALL SELECT 'head' AS side, repo, run_id, busy_us FROM of_head
  ), counts AS (
    SELECT sum(CASE WHEN side = 'base' THEN 1 ELSE 0 END) AS base_runs,
      sum(CASE WHEN side = 'head' THEN 1 ELSE 0 END) AS head_runs
    FROM runs
  ), per_run AS (
    SELECT repo, run_id, ${list}, sum(self_us) AS self_time${total}
    FROM ${table} WHERE ${ofKind} AND (${base.where} OR ${head.where})${label ? ' AND sort = $label' : ''}
    GROUP BY repo, run_id, ${list}
  ), sums AS (
    SELECT ${keys.map((key) => `p.${key} AS ${key}`).join(', ')},
      ${columns((side, measure) => `sum(CASE WHEN r.side = '${side}' THEN ${amount(measure)} ELSE 0 END) AS ${side}_${measure}_sum`)}
    FROM per_run p JOIN runs r ON r.repo = p.repo AND r.run_id = p.run_id
    GROUP BY ${keys.map((key) => `p.${key}`).join(', ')}
  ), means AS (
    SELECT ${list},
      ${columns((side, measure) => `${side}_${measure}_sum / nullif(${side}_runs, 0) AS ${side}_${measure}`)}
    FROM sums CROSS JOIN counts
  )
  SELECT ${list}, ${all.join(', ')}
  FROM means ORDER BY abs(${difference('self')}) DESC, ${list} LIMIT ${rows}`
}

module.exports = {
  ROWS,
  boundItems,
  listedItems,
  differences,
  summary,
  repos,
  orderedRuns,
  itemsOfRuns,
  largest,
  top,
  namedItems,
  candidates,
  trend,
  trendRuns,
  runsOf,
  timesOf,
}
