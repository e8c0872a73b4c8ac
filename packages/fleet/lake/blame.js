'use strict'

// `cpu-prof lake blame`: finds the commits at which something got slower or faster.

const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const { findChanges } = require('@org/cpu-prof/own-packages').offline
const { ask } = require('./ask.js')
const { ordered } = require('./query/order.js')
const { ITEMS, nameOf } = require('./query/items.js')
const queries = require('./query/queries.js')
const { scopeOf } = require('./query/scope.js')
const output = require('./output/blame.js')

/** @typedef {import('./query/items.js').Kind} Kind */
/** @typedef {import('./query/order.js').OrderedRun} OrderedRun */
/** @typedef {Awaited<ReturnType<typeof findChanges>>['commits'][number]} ChangedCommit */
/** @typedef {import('./ask.js').Output & import('./query/scope.js').Choice & { absolute?: boolean } & Partial<Record<Kind, string>>} Options */
/**
 * A row whose changes are looked for.
 * @typedef {object} Row
 * @property {Kind | 'whole'} kind
 * @property {string} name
 * @property {string} place
 * @property {Record<string, string>} keys
 * @property {number[]} values
 *
 * @typedef {object} Change
 * @property {Kind | 'whole'} kind
 * @property {string} name
 * @property {string} place
 * @property {Record<string, string>} keys columns of the lake
 * @property {'changed' | 'new' | 'gone' | 'renamed'} outcome
 * @property {string} [was] the name before, of one that is renamed
 * @property {number} relative difference as a part of the time before; 0 if new
 * @property {number} error half of the confidence interval of 95 %, likewise
 * @property {number} beforeMs in a run of the usual length
 * @property {number} afterMs
 * @property {number} runsBefore
 * @property {number} runsAfter
 * @property {number} chance of such a change in any row where nothing has changed
 *
 * @typedef {object} Position
 * @property {string} name of the commit, or the start of the run
 * @property {string | null} commit
 * @property {number} chance that this is the commit, given that there is one
 *
 * @typedef {object} Blamed
 * @property {string} name of the likeliest commit, or the start of the run
 * @property {string | null} commit
 * @property {string | null} before the last commit with runs before it
 * @property {number} between commits without a run between both
 * @property {Position[]} candidates
 * @property {Change[]} changes
 *
 * @typedef {object} Drifting
 * @property {string} name
 * @property {string} place
 * @property {number} relative
 *
 * @typedef {object} Answer
 * @property {1} version
 * @property {string} lake
 * @property {number} runs
 * @property {number} positions commits, or runs without one
 * @property {number} rows that were tested
 * @property {boolean} enough whether the runs can tell a change
 * @property {number} leastRuns runs that each side of a change needs
 * @property {boolean} absolute
 * @property {Blamed[]} commits
 * @property {Drifting[]} drifts
 * @property {{ name: string }[]} unclear times with a step that machines can have whose speed drifts
 * @property {{ name: string, share: number, step: number } | null} detectable the smallest step that is found nearly always, of one function
 * @property {string[]} notes
 */

/** Least part of all work that an item has to be tested, and most items of a kind. */
const LEAST_SHARE = 0.0003
const MOST_ITEMS = 1000
/** The share of the work for which the smallest step is told. */
const TOLD_SHARE = 0.05
/** Part of the larger side that a side has at most where a function is new or gone. */
const HARDLY = 0.02
/** How much the times of a function may differ whose name has changed. */
const ALIKE = 0.3

/** @param {string | undefined} place the lake @param {Options} options */
async function blame(place, options) {
  const plan = () => {
    const scope = scopeOf(options)
    return {
      range: scope.range,
      question: (/** @type {import('./duckdb.js').Lake} */ lake, /** @type {string} */ name) =>
        answer(lake, name, scope, options),
    }
  }
  const view = { ...output, json: (/** @type {Answer} */ found) => found }
  const text = (/** @type {Answer} */ found, /** @type {import('./ask.js').Screen} */ screen) =>
    output.text(found, screen, options.top)
  await ask(place, plan, options, { ...view, text })
}

/**
 * @param {import('./duckdb.js').Lake} lake @param {string} folder
 * @param {import('./query/scope.js').Scope} scope @param {Options} options @returns {Promise<Answer>}
 */
async function answer(lake, folder, { where, params }, options) {
  const found = await lake.query(queries.orderedRuns(where), params)
  const repos = [...new Set(found.map(({ repo }) => repo))]
  if (repos.length > 1) {
    throw new WrongUsage(
      `the runs are of ${repos.length} repositories, whose commits have no common order; choose one: --repo ${repos[0]}`,
    )
  }
  const runs = ordered(found)
  const kind = /** @type {Kind[]} */ (['function', 'file', 'package', 'owner']).find(
    (kind) => options[kind] !== undefined,
  )
  const kinds = new Set(/** @type {Kind[]} */ (['function', kind ?? 'package']))
  const { absolute = false } = options
  /** @type {Row[]} */
  const rows = []
  for (const kind of kinds) rows.push(...(await rowsOf(lake, kind, runs, { where, params })))
  const whole = { kind: /** @type {const} */ ('whole'), name: 'the whole work', place: '' }
  rows.push({ ...whole, keys: {}, values: runs.map(({ busy }) => busy) })
  const hosts = [...new Set(runs.map(({ host }) => host))]
  const busy = middle(runs.map(({ busy }) => busy))
  const interval = middle(runs.map(({ interval }) => interval))
  const isShare = (/** @type {Row} */ row) => !absolute && row.kind !== 'whole'
  const result = await findChanges({
    commits: runs.map(({ position }) => position),
    hosts: runs.map(({ host }) => (host === null ? null : hosts.indexOf(host))),
    samples: runs.map(({ busy, interval }) => busy / Math.max(1, interval)),
    rows: rows.map((row) => ({
      values: isShare(row)
        ? row.values.map((value, at) => value / Math.max(1, runs[at].busy))
        : row.values,
      sampled: isShare(row) ? interval / Math.max(1, busy) : interval,
      share: isShare(row),
      part: isShare(row) && row.kind === 'function',
    })),
  })
  const unit = (/** @type {Row} */ row) => (isShare(row) ? busy / 1000 : 1 / 1000)
  const named = kind === undefined ? undefined : String(options[kind])
  const isWanted = (/** @type {Row} */ row) =>
    kind === undefined || (row.kind === kind && isNamed(row, String(named)))
  if (kind !== undefined && !rows.some(isWanted)) {
    throw new Error(
      `no ${kind} '${named}' has ${100 * LEAST_SHARE} % of the work of these runs; cpu-prof lake top ${folder} --by ${kind} shows names`,
    )
  }
  const firsts = firstRuns(runs)
  const commits = result.commits
    .map((commit) => blamed(commit, firsts, { rows, unit, isWanted }))
    .filter(({ changes }) => changes.length > 0)
  const drifts = result.drifts
    .filter(({ row }) => isWanted(rows[row]))
    .map(({ row, before, after }) => ({
      name: rows[row].name,
      place: rows[row].place,
      relative: before > 0 ? after / before - 1 : 0,
    }))
  const unclear = result.unclear
    .filter((row) => isWanted(rows[row]))
    .map((row) => ({ name: rows[row].name }))
  const branches = new Set(found.map(({ branch }) => branch)).size
  return {
    version: 1,
    lake: folder,
    runs: runs.length,
    positions: firsts.length,
    rows: rows.length,
    enough: result.enough,
    leastRuns: result.leastRuns,
    absolute,
    commits,
    drifts,
    unclear,
    detectable: detectableOf(result.detectable, rows, busy * runs.length),
    notes: branches > 1 ? [`the runs are of ${branches} branches (--branch chooses one)`] : [],
  }
}

/**
 * Returns the items of a kind with their times in each run.
 * @param {import('./duckdb.js').Lake} lake @param {Kind} kind @param {OrderedRun[]} runs
 * @param {{ where: string, params: Record<string, string> }} scope @returns {Promise<Row[]>}
 */
async function rowsOf(lake, kind, runs, { where, params }) {
  const places = new Map(runs.map(({ id }, at) => [id, at]))
  const all = runs.reduce((sum, { busy }) => sum + busy, 0)
  const sql = queries.itemsOfRuns(kind, where, { least: LEAST_SHARE * all, most: MOST_ITEMS })
  const items = await lake.query(sql, params)
  return items.map(({ runs: ids, times, ...keys }) => {
    const values = new Array(runs.length).fill(0)
    ids.forEach((/** @type {string} */ id, /** @type {number} */ at) => {
      values[places.get(id) ?? 0] = times[at]
    })
    const item = Object.fromEntries(ITEMS[kind].keys.map((key) => [key, keys[key]]))
    return { kind, ...nameOf(kind, item), keys: item, values }
  })
}

/** @param {Row} row @param {string} text */
function isNamed({ name, keys, kind }, text) {
  const { function: called, file, package: of } = keys
  const full = kind === 'function' ? [`${file}:${called}`, `${of}/${file}:${called}`] : []
  return [name, ...Object.values(keys).slice(-1), ...full].includes(text)
}

/** Returns the first run of each position. @param {OrderedRun[]} runs */
function firstRuns(runs) {
  return runs.filter((run, at) => at === 0 || run.position !== runs[at - 1].position)
}

/**
 * @param {ChangedCommit} found @param {OrderedRun[]} firsts
 * @param {{ rows: Row[], unit: (row: Row) => number, isWanted: (row: Row) => boolean }} view
 * @returns {Blamed}
 */
function blamed({ commit, candidates, changes }, firsts, { rows, unit, isWanted }) {
  const at = firsts[commit]
  const last = firsts[commit - 1]
  const between = at.seq !== null && last?.seq != null ? Math.max(0, at.seq - last.seq - 1) : 0
  const all = changes.map((change) => ({
    row: rows[change.row],
    change: changeOf(change, rows[change.row], unit(rows[change.row])),
  }))
  const wanted = all.filter(({ row }) => isWanted(row))
  return {
    name: at.name,
    commit: at.commit,
    before: last?.commit ?? null,
    between,
    candidates: candidates.map((one) => ({
      name: firsts[one.commit].name,
      commit: firsts[one.commit].commit,
      chance: one.chance,
    })),
    changes: withRenames(wanted.map(({ change }) => change)),
  }
}

/** @param {ChangedCommit['changes'][number]} change @param {Row} row @param {number} unit milliseconds @returns {Change} */
function changeOf({ before, after, low, high, runsBefore, runsAfter, chance }, row, unit) {
  const isNew = before < HARDLY * after
  const isGone = after < HARDLY * before
  const outcome = isNew ? 'new' : isGone ? 'gone' : 'changed'
  return {
    kind: row.kind,
    name: row.name,
    place: row.place,
    keys: row.keys,
    outcome,
    relative: isNew ? 0 : after / before - 1,
    error: (high - low) / 2 / (isNew ? after : before),
    beforeMs: before * unit,
    afterMs: after * unit,
    runsBefore,
    runsAfter,
    chance,
  }
}

/** Puts a function that is gone and one that is new in the same file together. @param {Change[]} changes */
function withRenames(changes) {
  const gone = changes.filter(({ kind, outcome }) => kind === 'function' && outcome === 'gone')
  const renamed = new Set()
  const found = changes.map((change) => {
    if (change.kind !== 'function' || change.outcome !== 'new') return change
    const former = gone.find(
      (other) =>
        !renamed.has(other) &&
        ['package', 'file'].every((key) => other.keys[key] === change.keys[key]) &&
        Math.abs(change.afterMs / other.beforeMs - 1) < ALIKE,
    )
    if (former === undefined) return change
    renamed.add(former)
    const relative = change.afterMs / former.beforeMs - 1
    const { beforeMs, name: was } = former
    return { ...change, outcome: /** @type {const} */ ('renamed'), was, beforeMs, relative }
  })
  return found.filter((change) => !renamed.has(change))
}

/** @param {(number | null)[]} steps @param {Row[]} rows @param {number} all */
function detectableOf(steps, rows, all) {
  const told = rows.flatMap(({ kind, name, values }, at) => {
    const share = values.reduce((sum, value) => sum + value, 0) / Math.max(1, all)
    const step = steps[at]
    return kind === 'function' && step != null && share > 0 ? [{ name, share, step }] : []
  })
  const distance = (/** @type {{ share: number }} */ { share }) =>
    Math.abs(Math.log(share / TOLD_SHARE))
  return told.sort((a, b) => distance(a) - distance(b))[0] ?? null
}

/** Returns the median. @param {number[]} values */
function middle(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}

module.exports = { blame }
