'use strict'

// The questions to a lake as one statement each, whose values are texts in it: for engines that others run.

const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const { KINDS, checkTotal, parseBy } = require('./items.js')
const queries = require('./queries.js')
const { CHOICES, scopeOf, sidesOf } = require('./scope.js')

/** @typedef {import('./dialects.js').Dialect} Dialect */
/** @typedef {import('./items.js').Kind} Kind */
/** @typedef {import('./scope.js').Scope} Scope */
/**
 * The options of all questions, as a user gives them.
 * @typedef {object} Own
 * @property {string} [by]
 * @property {boolean} [absolute]
 * @property {boolean} [total]
 * @property {number} [top]
 * @property {string} [base]
 * @property {string} [head]
 *
 * @typedef {Own & import('./scope.js').Choice & { [kind in Kind]?: string }} Options
 *
 * @typedef {object} Statement
 * @property {string} sql a SELECT that begins with WITH, of the tables of a lake
 * @property {Scope['range']} range what of the lake it reads
 *
 * @typedef {object} Question
 * @property {readonly string[]} takes names of its options
 * @property {(options: Options, dialect: Dialect) => { sql: string, params: Record<string, string>, range: Scope['range'] }} build
 */

const POINTS = /** @type {const} */ (['day', 'commit'])

/** The questions by the names of their commands. @type {Record<string, Question>} */
const QUESTIONS = {
  top: { takes: [...CHOICES, 'by', 'top'], build: top },
  trend: { takes: [...CHOICES, ...KINDS, 'by', 'absolute', 'total'], build: trend },
  compare: { takes: ['base', 'head', 'repo', 'by', 'absolute', 'top'], build: compare },
}

/**
 * Returns the statement of a question. Throws for options that it does not have.
 * @param {string} name @param {Options} options @param {Dialect} dialect @returns {Statement}
 */
function statementOf(name, options, dialect) {
  const { takes, build } = QUESTIONS[name]
  const foreign = Object.keys(options).find((option) => !takes.includes(option))
  if (foreign !== undefined) throw new WrongUsage(`the question ${name} has no option --${foreign}`)
  const { sql, params, range } = build(options, dialect)
  return { sql: sql.replace(/\$(\w+)/g, (_, name) => dialect.text(params[name])), range }
}

/** Returns what rows are of. @param {string} name @param {string | undefined} by */
function kindOf(name, by = 'function') {
  if (POINTS.some((point) => point === by)) {
    throw new WrongUsage(`the question ${name} has no --by ${by}: trend has it`)
  }
  return parseBy(by)
}

/** @type {Question['build']} */
function top(options, dialect) {
  const { where, params, range } = scopeOf(options, '', undefined, dialect)
  const { kind, key } = kindOf('top', options.by)
  const rows = queries.largest(kind, where, options.top ?? queries.ROWS, {
    label: key !== undefined,
  })
  const sql = queries.top(kind, where, queries.listedItems(kind, rows), { dialect })
  return { sql, params: key === undefined ? params : { ...params, label: key }, range }
}

/** @type {Question['build']} */
function trend(options, dialect) {
  const { where, params, range } = scopeOf(options, '', undefined, dialect)
  const kind = KINDS.find((kind) => options[kind] !== undefined)
  const by = POINTS.find((point) => point === (options.by ?? 'commit'))
  if (by === undefined) {
    throw new WrongUsage(
      `the question trend has no --by ${options.by}: it has ${POINTS.join(' and ')}`,
    )
  }
  const { absolute = false, total = false } = options
  checkTotal(kind, total)
  const view = { by, total, absolute: absolute || kind === undefined, byName: true, dialect }
  const order = by === 'day' ? 'bucket' : 'seq NULLS LAST, first_start, bucket'
  return {
    sql: `${queries.trend(kind, where, view)}\n  ORDER BY ${order}`,
    params: kind === undefined ? params : { ...params, item: String(options[kind]) },
    range,
  }
}

/** @type {Question['build']} */
function compare({ base, head, ...options }, dialect) {
  if (base === undefined || head === undefined) {
    throw new WrongUsage('the question compare needs --base and --head')
  }
  const { choices, scopes, range } = sidesOf({ base, head, repo: options.repo }, dialect)
  const { kind, key } = kindOf('compare', options.by)
  const sides = scopes.map(({ where }, side) => ({ where, last: choices[side].last }))
  const { absolute = false, top: rows = queries.ROWS } = options
  const sql = queries.differences(kind, sides, { absolute, rows, label: key !== undefined })
  const params = { ...scopes[0].params, ...scopes[1].params }
  return { sql, params: key === undefined ? params : { ...params, label: key }, range }
}

module.exports = { QUESTIONS, statementOf }
