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
 * Returns the query of the times of some items over runs, the most self time first. {@link namedItems} has the
 * values of their keys.
 * @param {Kind} kind @param {string} where @param {number} count of the items, at least one
 * @param {{ dialect?: Dialect }} [options]
 */
function top(kind, where, count, { dialect = DIALECTS.duckdb } = {}) {
  const { table, keys, where: ofKind } = ITEMS[kind]
  const list = keys.join(', ')
  const equal = (/** @type {string} */ a, /** @type {string} */ b) =>
    keys.map((key) => `${a}.${key} = ${b}.${key}`).join(' AND ')
  const of = (/** @type {string} */ a) => keys.map((key) => `${a}.${key} AS ${key}`).join(', ')
  const numbers = [...Array(count).keys()]
  const items = numbers.map(
    (n) => `SELECT ${keys.map((key) => `$${key}_${n} AS ${key}`).join(', ')}`,
  )
  // Engines skip other names while they read. A further condition on the other keys only takes time.
  const name = keys[keys.length - 1]
  const named = numbers.map((n) => `$${name}_${n}`).join(', ')
  return `WITH runs AS (
    SELECT repo, run_id FROM groups WHERE kind = 'run' AND ${where}
  ), items AS (
    ${items.join(' UNION ALL ')}
  ), per_run AS (
    SELECT repo, run_id, ${list}, sum(self_us) AS own, ${WHOLE} AS whole, 1 AS seen
    FROM ${table} WHERE ${ofKind} AND ${where} AND ${name} IN (${named})
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

/** Returns the keys of items as the values that {@link top} names. @param {Kind} kind @param {Keys[]} items */
function namedItems(kind, items) {
  return Object.fromEntries(
    items.flatMap((item, n) => ITEMS[kind].keys.map((key) => [`${key}_${n}`, item[key]])),
  )
}

/** Returns the query of the items that `$item` names. @param {Kind} kind @param {string} where */
function candidates(kind, where) {
  const { table, keys, where: ofKind, names } = ITEMS[kind]
  const named = names.map((name) => `${name} = $item`).join(' OR ')
  const list = keys.join(', ')
  return `SELECT ${list}, sum(self_us) AS own FROM ${table}
  WHERE ${ofKind} AND (${named}) AND ${where} GROUP BY ${list} ORDER BY own DESC, ${list} LIMIT 20`
}

/**
 * Returns the values of each run, as a common table: of one item, whose keys are bound as `$key_…`, or of
 * the whole.
 * @param {Kind | undefined} kind @param {string} where @param {{ total: boolean, absolute: boolean }} view
 */
function valuesOfRuns(kind, where, { total, absolute }) {
  const facts = 'repo, run_id, started_at, date, commit, commit_seq, host, busy_us'
  const runs = `runs AS (SELECT ${facts} FROM groups WHERE kind = 'run' AND ${where})`
  if (kind === undefined) {
    return `${runs}, measured AS (SELECT ${facts}, busy_us AS amount, 1 AS seen FROM runs)`
  }
  const { table, keys, where: ofKind } = ITEMS[kind]
  const isItem = keys.map((key) => `${key} = $key_${key}`).join(' AND ')
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
 * @param {{ by: 'day' | 'commit', total: boolean, absolute: boolean, dialect?: Dialect }} view
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
 * @param {Kind | undefined} kind @param {string} where
 * @param {{ by: 'day' | 'commit', total: boolean, absolute: boolean }} view
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
 * @param {{ least: number, wanted: string[], dialect?: Dialect }} options the least sum of shares
 */
function timesOf(kind, runs, { least, wanted, dialect = DIALECTS.duckdb }) {
  const { table, keys, where } = ITEMS[kind]
  const list = keys.join(', ')
  const { text } = dialect
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

module.exports = {
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
