'use strict'

// Rules of a comparison: how much slower something may become.

const { loadTools } = require('./addon.js')
const { WrongUsage } = require('./errors/wrong-usage.js')

/** Measures of the whole run, by their names in rules. */
const TOTALS = mapOf({
  total: 'work',
  work: 'work',
  wall: 'wall',
  cpu: 'cpu',
  gc: 'gc',
  idle: 'idle',
  waiting: 'waiting',
  blocked: 'blocked',
  memory: 'memory',
})
/** @typedef {import('../index.js').ComparedRow} Row */
/** @typedef {Exclude<Row['kind'], 'total' | 'owner'>} Kind what has a name, but owners */
/** @typedef {Exclude<import('../index.js').ReportOwner['kind'], 'package' | 'test file' | 'own code'>} Owner */

/** The measures that rules limit, by the kinds of what has a name. @type {Record<Kind | Owner, Row['measure']>} */
const MEASURES = {
  function: 'total',
  file: 'total',
  package: 'total',
  process: 'duration',
  label: 'self',
  rule: 'self',
  plugin: 'self',
  loader: 'self',
  transform: 'self',
  test: 'self',
}
const NAMED = mapOf(MEASURES)
/** Bytes of a unit. */
const BYTES = mapOf({ kB: 1e3, MB: 1e6, GB: 1e9 })

/** Returns a map of an object's own values, in which a rule finds no `constructor`. @template T @param {Record<string, T>} values */
function mapOf(values) {
  return new Map(Object.entries(values))
}

/**
 * A rule.
 * @typedef {object} Rule
 * @property {string} text as it was given
 * @property {string} kind `total`, or the kind of what has the name
 * @property {string} [name]
 * @property {string} measure
 * @property {number} limit in the unit of the measure, or a part of base
 * @property {boolean} isRelative
 */

/**
 * Returns a rule. Throws if the text is none.
 * @param {string} text @param {boolean} shares whether times are compared as shares @returns {Rule}
 */
function parseRule(text, shares) {
  const parts = /^(\w+)(?::(.+))?>\s*(\d+(?:\.\d+)?)\s*(%|[a-zA-Z]+)$/.exec(text.trim())
  if (parts === null) throw wrong(text, 'is none')
  const [, what, name, number, unit] = parts
  const measure = (name === undefined ? TOTALS : NAMED).get(what)
  if (measure === undefined) {
    throw wrong(
      text,
      NAMED.has(what) ? `has no name: ${what}:name` : `has no such measure: ${what}`,
    )
  }
  const isRelative = unit === '%'
  const limit = isRelative ? Number(number) / 100 : limitOf(number, unit, measure)
  if (limit === undefined) throw wrong(text, `has a wrong unit: ${unit}`)
  if (shares && !isRelative && (measure === 'self' || measure === 'total')) {
    throw wrong(text, 'needs a percentage, because shares are compared')
  }
  const kind = name === undefined ? 'total' : what
  return { text, kind, name, measure, limit, isRelative }
}

/** Returns bytes of memory, and milliseconds of all else; undefined for another unit. @param {string} number @param {string} unit @param {string} measure @returns {number | undefined} */
function limitOf(number, unit, measure) {
  if (measure !== 'memory') return loadTools().cpuProfLengthMs(`${number}${unit}`) ?? undefined
  const bytes = BYTES.get(unit)
  return bytes === undefined ? undefined : Number(number) * bytes
}

/** @param {string} text @param {string} problem */
function wrong(text, problem) {
  const examples =
    'total>5%, wall>2s, gc>10%, memory>50MB, function:renderTable>20ms, package:lodash>10%'
  return new WrongUsage(`cpu-prof: the rule '${text}' ${problem}; rules are such as ${examples}`)
}

/**
 * Decides whether a rule is broken: whether the whole interval of the difference is above the limit.
 * @param {Rule} rule @param {import('../index.js').ComparedRow[]} rows
 * @returns {import('../index.js').ComparedRule}
 */
function evaluate({ text, kind, name, measure, limit, isRelative }, rows) {
  const found = rows.filter((row) => {
    const isKind =
      NAMED.has(kind) && row.owner !== undefined ? row.owner === kind : row.kind === kind
    return isKind && row.measure === measure && (name === undefined || row.name === name)
  })
  /** @param {import('../index.js').ComparedRow} row */
  const excess = (row) => row.low - (isRelative ? limit * row.base : limit)
  const worst = found.sort((a, b) => excess(b) - excess(a))[0]
  if (worst === undefined) return { rule: text, broken: false }
  return { rule: text, broken: excess(worst) > 0, row: worst }
}

module.exports = { NAMED, TOTALS, parseRule, evaluate }
