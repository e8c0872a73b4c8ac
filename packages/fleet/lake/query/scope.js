'use strict'

// Chooses the runs of a question: options and selectors, as conditions of SQL with bound values.

const { loadTools } = require('@org/cpu-prof/own-packages').addon
const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const { DIALECTS } = require('./dialects.js')

/**
 * What chooses runs.
 * @typedef {object} Choice
 * @property {string} [repo]
 * @property {string} [branch]
 * @property {string} [job]
 * @property {string} [commit] the start of one
 * @property {string} [host]
 * @property {string} [since] `30d`, or a day
 * @property {string} [until]
 * @property {number} [last] the newest runs
 *
 * @typedef {object} Scope
 * @property {string} where a condition
 * @property {Record<string, string>} params its values
 * @property {{ repo?: string, from?: string, to?: string }} range what of the lake is opened
 */

const DAY = /^\d{4}-\d\d-\d\d$/
const MS_PER_DAY = 86_400_000
/** Columns that are equal to a value. */
const FACTS = /** @type {const} */ (['repo', 'branch', 'job', 'host'])
/** The options that choose runs. */
const CHOICES = /** @type {const} */ ([...FACTS, 'commit', 'since', 'until'])
const SELECTORS = [...FACTS, 'commit', 'date', 'last']

/**
 * Returns the condition of a choice. Days are whole, in UTC.
 * @param {Choice} choice @param {string} [side] the start of the names of its values @param {number} [now]
 * @param {import('./dialects.js').Dialect} [dialect]
 * @returns {Scope}
 */
function scopeOf(choice, side = '', now = Date.now(), dialect = DIALECTS.duckdb) {
  /** @type {Record<string, string>} */
  const params = {}
  const bind = (/** @type {string} */ name, /** @type {string} */ value) => {
    params[`${side}${name}`] = value
    return `$${side}${name}`
  }
  const conditions = ['1 = 1']
  for (const name of FACTS) {
    const value = choice[name]
    if (value !== undefined) conditions.push(`${name} = ${bind(name, value)}`)
  }
  const { repo, commit, since, until } = choice
  if (commit !== undefined) {
    conditions.push(`substring(commit, 1, ${[...commit].length}) = ${bind('commit', commit)}`)
  }
  const [start, end] = [momentOf(since, now, false), momentOf(until, now, true)]
  if (start !== undefined) {
    conditions.push(`started_at >= ${dialect.moment(bind('since', textOf(start)))}`)
  }
  if (end !== undefined) {
    conditions.push(`started_at < ${dialect.moment(bind('until', textOf(end)))}`)
  }
  const range = {
    ...(repo !== undefined && { repo }),
    ...(start !== undefined && { from: dayOf(start) }),
    ...(end !== undefined && { to: dayOf(end) }),
  }
  return { where: conditions.join(' AND '), params, range }
}

/**
 * Returns a moment, in milliseconds. Throws if the text is none.
 * @param {string | undefined} text @param {number} now @param {boolean} isEnd whether a day is taken to its end
 */
function momentOf(text, now, isEnd) {
  if (text === undefined) return undefined
  const lengthMs = loadTools().cpuProfLengthMs(text)
  // Days before 1970 have no runs, and those before the year 0 no form.
  if (lengthMs !== null) return Math.max(0, now - lengthMs)
  const day = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(day) || dayOf(day) !== text) {
    throw new WrongUsage(
      `'${text}' is not a time for --since, --until or date=; use a day such as 2026-11-01, or a length ` +
        'of time before now such as 30d, 2w or 12h',
    )
  }
  return isEnd ? day + MS_PER_DAY : day
}

/** @param {number} ms */
const textOf = (ms) => new Date(ms).toISOString().replace('T', ' ').slice(0, -1)

/** @param {number} ms */
const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10)

/**
 * Returns the choice of a selector: `branch=main,last=50`. Throws if the text is none.
 * @param {string} text @param {Choice} [common] what both sides have
 * @returns {Choice}
 */
function parseSelector(text, common = {}) {
  /** @type {Choice} */
  const choice = { ...common }
  // A comma is a part of a value where no name follows it.
  for (const part of text.split(/,(?=[a-z]+=)/)) {
    const [, name = '', value = ''] = /^([a-z]+)=(.+)$/s.exec(part) ?? []
    if (!SELECTORS.includes(name)) throw wrong(text, part)
    if (name === 'date') {
      const [from, to = from, ...more] = value.split('..')
      if (more.length > 0) throw wrong(text, part)
      Object.assign(choice, { ...(from && { since: from }), ...(to && { until: to }) })
    } else if (name === 'last') {
      if (!/^[1-9]\d{0,6}$/.test(value)) throw wrong(text, part)
      choice.last = Number(value)
    } else Object.assign(choice, { [name]: value })
  }
  return choice
}

/** @param {string} text @param {string} part */
function wrong(text, part) {
  return new WrongUsage(
    `the selector '${text}' has a part that is none: '${part}'; selectors are such as branch=main, ` +
      'commit=1a2b3c, job=build, host=ci-1, date=2026-11-01..2026-11-07, last=50, joined by commas',
  )
}

/**
 * Returns both sides of a comparison, the base first, and the part of the lake that has both.
 * @param {{ base: string, head: string, repo?: string }} options selectors
 * @param {import('./dialects.js').Dialect} [dialect]
 */
function sidesOf({ base, head, repo }, dialect) {
  const common = repo === undefined ? {} : { repo }
  const choices = [base, head].map((text) => parseSelector(text, common))
  const scopes = choices.map((choice, side) =>
    scopeOf(choice, ['base_', 'head_'][side], undefined, dialect),
  )
  return { choices, scopes, range: unionOf(scopes[0], scopes[1]) }
}

/** Returns the part of the lake that has both. @param {Scope} a @param {Scope} b @returns {Scope['range']} */
function unionOf({ range: a }, { range: b }) {
  return {
    ...(a.repo !== undefined && a.repo === b.repo && { repo: a.repo }),
    ...(a.from && b.from && { from: [a.from, b.from].sort()[0] }),
    ...(a.to && b.to && { to: [a.to, b.to].sort()[1] }),
  }
}

module.exports = { CHOICES, scopeOf, parseSelector, sidesOf }
