'use strict'

// `cpu-prof lake compare`: shows what has changed between two sets of runs of a lake.

const { loadTools } = require('@org/cpu-prof/own-packages').addon
const { resultOf } = require('@org/cpu-prof/own-packages').jsonResult
const { parseRule, evaluate } = require('@org/cpu-prof/own-packages').compareRules
const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const exitCodes = require('@org/cpu-prof/own-packages').exitCodes
const { fail, printStatus } = require('@org/cpu-prof/own-packages').output
const { ask } = require('./ask.js')
const output = require('./output/compare.js')
const { ITEMS, nameOf } = require('./query/items.js')
const queries = require('./query/queries.js')
const { sidesOf } = require('./query/scope.js')

/** @typedef {import('@org/cpu-prof').Comparison} Comparison */
/** @typedef {import('@org/cpu-prof').ComparedRow} Row */
/** @typedef {import('./query/items.js').Kind} Kind */
/** @typedef {import('./duckdb.js').Lake} Lake */
/** @typedef {ReturnType<typeof parseRule>} Rule */
/** @typedef {Pick<Row, 'base' | 'head' | 'low' | 'high' | 'changed'>} Difference */
/** @typedef {{ repo: string, run_id: string, busy_us: number, duration_us: number, interval_us: number }} Run */
/**
 * A row before the test: what it is, and its values in the runs of both sides.
 * @typedef {object} Tested
 * @property {Pick<Row, 'kind' | 'owner' | 'name' | 'file' | 'package' | 'measure' | 'unit'>} of
 * @property {number[]} base
 * @property {number[]} head
 * @property {number} sampled time between two samples, in the unit of the values
 *
 * @typedef {object} Answer
 * @property {Comparison} comparison
 * @property {[string, string]} names the selectors
 * @property {Map<Row, Tested>} values of the runs
 *
 * @typedef {object} Own
 * @property {string} base
 * @property {string} head
 * @property {string} [repo]
 * @property {string[]} [failOn]
 * @property {boolean} [absolute]
 *
 * @typedef {Own & import('./ask.js').Output} Options
 */

/** Items with less than this part of the work, on both sides, are not tested. */
const TESTED = 0.005
/** What a lake does not have, so that no rule can be about it: totals, and kinds of names. */
const UNKNOWN = new Set(['cpu', 'gc', 'idle', 'waiting', 'blocked', 'memory', 'file', 'process'])

/** @param {string | undefined} place the lake @param {Options} options */
async function compare(place, options) {
  const plan = () => {
    const rules = (options.failOn ?? []).map((text) => ruleOf(text, options.absolute !== true))
    const { choices, scopes, range } = sidesOf(options)
    return {
      range,
      question: async (/** @type {Lake} */ lake) => {
        const [head, base] = await chosen(lake, scopes, choices)
        const found = await compareRuns(lake, base.runs, head.runs, rules, options)
        const both = base.dropped
        const note = `${both} of the runs are chosen by both selectors, and count as head`
        if (both > 0) found.comparison.notes.push(note)
        return { ...found, names: /** @type {[string, string]} */ ([options.base, options.head]) }
      },
    }
  }
  const { top } = options
  const found = await ask(place, plan, options, {
    text: (answer, screen) => output.text(answer, screen, top),
    markdown: (answer) => output.markdown(answer, top),
    html: (answer) => output.html(answer, top),
    json: ({ comparison }) => comparison,
  })
  if (found === undefined) return
  const { rules, notes } = found.comparison
  for (const note of notes) printStatus(note)
  for (const { rule, row } of rules) {
    if (row === undefined) printStatus(`no run has what the rule names: ${rule}`)
  }
  const broken = rules.filter((rule) => rule.broken).map(({ rule }) => rule)
  if (broken.length > 0) {
    fail(`slower than allowed: ${broken.join(', ')}`, exitCodes.RULE_BROKEN)
  }
}

/** @param {string} text @param {boolean} shares @returns {Rule} */
function ruleOf(text, shares) {
  const rule = parseRule(text, shares)
  const what = rule.kind === 'total' ? rule.measure : rule.kind
  if (UNKNOWN.has(what)) {
    throw new WrongUsage(
      `a lake cannot decide the rule '${text}': its runs have no such time (${what})`,
    )
  }
  return rule
}

/**
 * Returns the runs of the head, and those of the base that are not among them.
 * @param {Lake} lake @param {import('./query/scope.js').Scope[]} scopes @param {import('./query/scope.js').Choice[]} choices
 */
async function chosen(lake, scopes, choices) {
  const idOf = (/** @type {Run} */ { repo, run_id }) => `${repo}\0${run_id}`
  /** @type {Set<string>} */
  const taken = new Set()
  const sides = []
  for (const side of [1, 0]) {
    const { where, params } = scopes[side]
    const all = /** @type {Run[]} */ (await lake.query(queries.runsOf(where), params))
    const free = all.filter((run) => !taken.has(idOf(run)))
    const runs = free.slice(0, choices[side].last)
    if (runs.length === 0) {
      const why = all.length > 0 ? 'beside those of the head' : ''
      throw new Error(`the ${side === 1 ? 'head' : 'base'} has no runs ${why}`.trimEnd())
    }
    for (const run of runs) taken.add(idOf(run))
    sides.push({ runs, dropped: all.length - free.length })
  }
  return sides
}

/**
 * @param {Lake} lake @param {Run[]} base @param {Run[]} head @param {Rule[]} rules @param {Options} options
 */
async function compareRuns(lake, base, head, rules, { absolute = false }) {
  const runs = [...base, ...head]
  const tested = totalsOf(base, head)
  for (const kind of /** @type {Kind[]} */ (Object.keys(ITEMS))) {
    const isOf = (/** @type {Rule} */ rule) =>
      rule.kind === kind || (kind === 'owner' && !Object.hasOwn(ITEMS, rule.kind))
    const wanted = rules.filter((rule) => rule.name !== undefined && isOf(rule))
    const names = wanted.map(({ name = '' }) => (kind === 'label' ? afterKey(name) : name))
    const least = TESTED * Math.min(base.length, head.length)
    const rows = await lake.query(queries.timesOf(kind, runs, { least, wanted: names }))
    tested.push(...itemsOf(kind, rows, [base, head], wanted, absolute))
  }
  const given = tested.map(({ base, head, sampled }) => ({ base, head, sampled }))
  /** @type {{ noise: Comparison['noise'], differences: Difference[] }} */
  const { noise, differences } = await resultOf(() =>
    loadTools().cpuProfDifferences(JSON.stringify(given)),
  )
  /** @type {Map<Row, Tested>} */
  const values = new Map()
  for (const [index, each] of tested.entries()) {
    values.set(rowOf(each, differences[index]), each)
  }
  const rows = [...values.keys()].sort(byKindAndSize)
  /** @type {Comparison} */
  const comparison = {
    version: 1,
    base: { runs: base.length, inputs: base.length },
    head: { runs: head.length, inputs: head.length },
    noise,
    rows,
    rules: rules.map((rule) => evaluate(rule, rows)),
    repaired: [],
    failed: [],
    notes: [],
  }
  return { comparison, values }
}

/** Returns the value of a label. @param {string} label */
const afterKey = (label) => label.slice(label.indexOf('=') + 1)

/** @param {Run[]} base @param {Run[]} head @returns {Tested[]} */
function totalsOf(base, head) {
  const of = (/** @type {'busy_us' | 'duration_us'} */ column) => ({
    base: base.map((run) => run[column] / 1000),
    head: head.map((run) => run[column] / 1000),
  })
  return [
    { of: { kind: 'total', measure: 'wall', unit: 'ms' }, ...of('duration_us'), sampled: 0 },
    { of: { kind: 'total', measure: 'work', unit: 'ms' }, ...of('busy_us'), sampled: 0 },
  ]
}

/**
 * Returns the rows of items that have a notable share of the work, or are wanted.
 * @param {Kind} kind @param {Record<string, any>[]} rows @param {[Run[], Run[]]} sides
 * @param {Rule[]} wanted @param {boolean} absolute
 */
function itemsOf(kind, rows, sides, wanted, absolute) {
  const [base, head] = sides
  const runs = [...base, ...head]
  const places = new Map(runs.map(({ repo, run_id }, at) => [`${repo}\0${run_id}`, at]))
  const { keys, hasTotal } = ITEMS[kind]
  /** @type {Map<string, { of: Tested['of'], self: number[], total: number[] }>} */
  const items = new Map()
  for (const row of rows) {
    const id = JSON.stringify(keys.map((key) => row[key]))
    const item = items.get(id) ?? {
      of: describe(kind, row),
      self: runs.map(() => 0),
      total: runs.map(() => 0),
    }
    items.set(id, item)
    const at = places.get(`${row.repo}\0${row.run_id}`)
    if (at === undefined) continue
    item.self[at] = row.own
    item.total[at] = row.whole
  }
  const workMs = Math.max(mean(base.map(busyOf)), mean(head.map(busyOf))) / 1000
  const intervalMs = mean(runs.map((run) => run.interval_us)) / 1000
  const sampled = absolute ? intervalMs : intervalMs / Math.max(1, workMs)
  /** @type {('self' | 'total')[]} */
  const measures = kind === 'label' || !hasTotal ? ['self'] : ['self', 'total']
  /** @type {Tested[]} */
  const tested = []
  for (const { of, ...times } of items.values()) {
    const isWanted = wanted.some(({ name }) => name === of.name)
    for (const measure of measures) {
      const shares = times[measure].map((us, at) =>
        busyOf(runs[at]) > 0 ? us / busyOf(runs[at]) : 0,
      )
      const split = (/** @type {number[]} */ values) => ({
        base: values.slice(0, base.length),
        head: values.slice(base.length),
      })
      const parts = split(shares)
      const most = Math.max(mean(parts.base), mean(parts.head))
      if (most === 0 || !(isWanted || most >= TESTED)) continue
      const values = absolute ? split(times[measure].map((us) => us / 1000)) : parts
      tested.push({ of: { ...of, measure, unit: absolute ? 'ms' : 'share' }, ...values, sampled })
    }
  }
  return tested
}

/** @param {Run} run */
const busyOf = ({ busy_us }) => busy_us

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Describes an item as a comparison does. @param {Kind} kind @param {Record<string, any>} keys @returns {Tested['of']} */
function describe(kind, keys) {
  const common = /** @type {const} */ ({ kind, measure: 'self', unit: 'ms' })
  if (kind === 'function') {
    return { ...common, name: keys.function, file: keys.file, package: keys.package }
  }
  if (kind === 'owner') return { ...common, owner: keys.sort, name: keys.name }
  const { name } = nameOf(kind, keys)
  return kind === 'file' ? { ...common, name, package: keys.package } : { ...common, name }
}

/** @param {Tested} tested @param {Difference} found @returns {Row} */
function rowOf({ of }, { base, head, low, high, changed }) {
  const difference = head - base
  return {
    ...of,
    base,
    head,
    difference,
    low,
    high,
    ...(base > 0 && { relative: difference / base }),
    changed,
  }
}

/** Compares rows by kind, then changes before others, then by size. @param {Row} a @param {Row} b */
function byKindAndSize(a, b) {
  const order = ['total', 'owner', 'label', 'package', 'file', 'function']
  return (
    order.indexOf(a.kind) - order.indexOf(b.kind) ||
    Number(b.changed) - Number(a.changed) ||
    Math.abs(b.difference) - Math.abs(a.difference)
  )
}

module.exports = { compare }
