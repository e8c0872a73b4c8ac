'use strict'

// Chooses the rows of a comparison that are shown, and puts their values into words.

const { BUILT_IN, OWN_CODE } = require('../report/tables.js')
const { formatBytes, formatTime, formatShare, formatCount } = require('../terminal/format.js')

/** @typedef {import('../../index.js').Comparison} Comparison */
/** @typedef {import('../../index.js').ComparedRow} Row */
/** @typedef {{ title: string, rows: Row[], isWhole: boolean }} Table */

/** Rows of each table. */
const ROWS = 10
/** Owners by whose name a change is told. @type {Set<string | undefined>} */
const RESPONSIBLE = new Set(['rule', 'plugin', 'loader', 'transform', 'test', 'test file'])
/** A base below this part of head is hardly there. */
const HARDLY = 0.01
/** From here on, a factor says more than a percentage. */
const MANY_TIMES = 10
/** Changes that the result names. */
const NAMED = 3
/** Two rows of one function say the same if their differences are this close. */
const SAME = 0.1

/** What measures of the whole run are called. @type {Partial<Record<Row['measure'], string>>} */
const TOTALS = {
  wall: 'wall time',
  work: 'work',
  cpu: 'CPU time',
  gc: 'garbage collection',
  idle: 'idle',
  waiting: 'waiting for a core',
  blocked: 'blocked in calls',
  memory: 'peak memory',
  processes: 'processes',
}

/** Names of packages and owners that say nothing more than the whole run. */
const NO_NAMES = new Set([OWN_CODE, ...BUILT_IN])

/** Returns the tables of a comparison: the whole run, and what has changed. @param {Comparison} comparison @returns {Table[]} */
function tablesOf({ rows }) {
  const changes = rows.filter(({ changed }) => changed)
  /** @param {Row['kind']} kind @param {Row['measure']} measure */
  const of = (kind, measure) =>
    changes.filter((row) => row.kind === kind && row.measure === measure && isNamed(row))
  const work = workOf(rows)
  const selfTimes = of('function', 'self')
  // Callers of all that changed, and functions that call nothing more, would say the same again.
  const totalTimes = of('function', 'total').filter(
    (row) =>
      !BUILT_IN.has(row.package ?? '') &&
      !(work !== undefined && isClose(work, row)) &&
      !selfTimes.some((self) => isSameFunction(self, row) && isClose(self, row)),
  )
  const owners = of('owner', 'self')
  const whole = rows.filter(({ kind }) => kind === 'total').sort(byPlace)
  const tables = [
    { title: 'rules, plugins, tests and packages, with their helpers', rows: owners },
    { title: 'labels, by the work for them', rows: of('label', 'self') },
    { title: 'functions, by self time', rows: selfTimes },
    { title: 'functions, with all that they call', rows: totalTimes },
    { title: 'files, by self time', rows: of('file', 'self') },
    { title: 'packages, by self time', rows: of('package', 'self') },
    { title: 'processes, by duration', rows: of('process', 'duration') },
    { title: 'whole run', rows: whole, isWhole: true },
  ]
  return tables
    .map((table) => ({ isWhole: false, ...table }))
    .filter((table) => table.rows.length > 0)
}

/** @param {Row[]} rows */
const workOf = (rows) => rows.find(({ kind, measure }) => kind === 'total' && measure === 'work')

/** @param {Row} row */
const isNamed = ({ kind, name = '', package: of = '' }) =>
  kind === 'function' || !(NO_NAMES.has(name) || BUILT_IN.has(of))

/** Compares measures of the whole run by their places in the table. @param {Row} a @param {Row} b */
function byPlace(a, b) {
  const order = Object.keys(TOTALS)
  return order.indexOf(a.measure) - order.indexOf(b.measure)
}

/** @param {Row} a @param {Row} b */
const isSameFunction = (a, b) => a.name === b.name && a.file === b.file && a.line === b.line

/** Returns whether the second difference says hardly more than the first. @param {Row} a @param {Row} b */
const isClose = (a, b) => Math.abs(a.difference - b.difference) <= SAME * Math.abs(a.difference)

/** Returns the name of a row, and the place that tells it apart. @param {Row} row @returns {[string, string]} */
function nameOf(row) {
  if (row.kind === 'total') return [TOTALS[row.measure] ?? row.measure, '']
  if (row.kind === 'owner') return [`${row.owner} ${row.name ?? ''}`.trim(), '']
  if (row.kind !== 'function') return [row.name || '(native)', '']
  const place = row.file === '' ? nativePlace(row) : placeOf(row)
  const many = row.functions === undefined ? '' : ` (${row.functions} of this name)`
  return [`${row.name}${many}`, place]
}

/** @param {{ file?: string, line?: number }} at */
const placeOf = ({ file, line }) => (line ? `${file}:${line}` : `${file}`)

/** Returns the place of a function without a file. @param {Row} row */
const nativePlace = ({ caller }) => (caller === undefined ? '(native)' : '')

/** Returns the code that calls a function of Node or a native one. @param {Row} row */
function callerOf({ caller }) {
  return caller === undefined ? '' : `${caller.name} ${placeOf(caller)}`
}

/** Returns the former name, the former file, or both. @param {Row} row */
function formerOf({ was, name, file = '' }) {
  if (was === undefined) return ''
  return [was.name, was.file].filter((text) => text !== name && text !== file).join(' in ')
}

/** @param {number} value @param {Row['unit']} unit */
function formatValue(value, unit) {
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'share') return formatShare(value, 1)
  return unit === 'ms' ? formatTime(value) : value.toFixed(Number.isInteger(value) ? 0 : 1)
}

/** Returns a value with its sign. @param {number} value @param {Row['unit']} unit */
function formatSigned(value, unit) {
  return `${value < 0 ? '−' : '+'}${formatValue(Math.abs(value), unit)}`
}

/** @param {Row} row */
function formatRelative({ relative = 0, base, head }) {
  if (base < HARDLY * head) return 'new'
  if (head < HARDLY * base) return 'gone'
  if (head > MANY_TIMES * base) return `× ${Math.round(head / base)}`
  return `${relative < 0 ? '−' : '+'}${(100 * Math.abs(relative)).toFixed(1)}%`
}

/**
 * Returns the texts of a row; those of a change are empty if there is none.
 * @param {Row} row
 */
function cellsOf(row) {
  const { base, head, low, high, difference, unit, changed } = row
  const [name, place] = nameOf(row)
  return {
    name,
    place,
    caller: callerOf(row),
    former: formerOf(row),
    base: formatValue(base, unit),
    head: formatValue(head, unit),
    difference: formatSigned(difference, unit),
    /** How far the true difference can be from the measured one. */
    noise: changed ? `±${formatValue((high - low) / 2, unit)}` : '',
    relative: changed ? formatRelative(row) : '',
  }
}

/**
 * Returns the result in a sentence.
 * @param {Comparison} comparison @param {(name: string) => string} [quote] marks a name
 */
function verdict({ rows }, quote = (name) => name) {
  const changes = rows.filter(({ changed }) => changed)
  if (changes.length === 0) return `no change in ${formatCount(rows.length, 'value')}`
  const work = workOf(changes)
  /** @param {(row: Row) => boolean} isWanted */
  const selfTimes = (isWanted) => changes.filter((row) => row.measure === 'self' && isWanted(row))
  // A rule or a test says more than the functions below.
  const what =
    [
      selfTimes(({ owner = '' }) => RESPONSIBLE.has(owner)),
      selfTimes(({ kind }) => kind === 'function'),
      changes.filter((row) => row !== work),
    ].find((list) => list.length > 0) ?? []
  const named = what.slice(0, NAMED).map((row) => {
    const name = nameOf(row)[0]
    return `${row.kind === 'total' ? name : quote(name)} ${formatSigned(row.difference, row.unit)}`
  })
  if (what.length > NAMED) named.push(`${what.length - NAMED} more`)
  if (work === undefined) return `changed, but not the work as a whole: ${named.join(', ')}`
  const how = work.difference > 0 ? 'slower' : 'faster'
  const size = `${formatTime(Math.abs(work.difference))} of work (${formatRelative(work)})`
  return named.length === 0 ? `${how} by ${size}` : `${how} by ${size}: ${named.join(', ')}`
}

/** Tells how large the noise is, and where it comes from. @param {Comparison} comparison */
function noiseOf({ rows, noise, base, head }) {
  const work = workOf(rows)
  if (work === undefined || work.base === 0) return ''
  const width = (100 * (work.high - work.low)) / 2 / work.base
  const size = `the noise of the work as a whole is ±${width.toFixed(1)}%`
  if (noise === 'measured') return size
  return (
    `${size}, assumed from ${base.runs} and ${formatCount(head.runs, 'run')}; ` +
    'four of each show their own, and seven show small changes'
  )
}

module.exports = { ROWS, tablesOf, cellsOf, verdict, noiseOf }
