'use strict'

// Lays out a table of costs: its columns and its rows in their order.

const { lineCosts } = require('../data/calls.js')
const { inPackage, nameOf, placeOf, shortPlaceOf } = require('../data/names.js')
const { BLOCKED, TIMES, WAITING } = require('../data/recording.js')
const { formatSides } = require('../data/sides.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {import('../state.js').Shown} Shown */
/** @typedef {Record<TIMES[number], number>} Times microseconds; differences in a comparison */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} place
 * @property {string} [title] the whole place
 * @property {Times} times
 * @property {number} [item] the function to select
 * @property {string} [code] the text of a line
 * @property {Partial<import('../state.js').State>} [choice] what a click on the name selects, if not the function
 * @property {Record<string, string>} [sides] times of both sides, by the name of the time
 *
 * @typedef {{ key: number | string, times: Times, label: () => Omit<Row, 'times'> }} Unnamed a row before
 *   its texts are needed
 *
 * @typedef {ReturnType<typeof layoutTable>} Table
 */

/** Columns that are shown only where they have times. */
const OPTIONAL = new Set(['critical', 'blocked', 'waiting'])

/** @param {Recording} recording @param {Shown} shown @param {number} [limit] rows */
function layoutTable(recording, shown, limit = Number.POSITIVE_INFINITY) {
  const { state, costs, sides } = shown
  const rows = sides
    ? joinRows(rowsOf(recording, shown, sides.base), rowsOf(recording, shown, sides.head))
    : rowsOf(recording, shown, costs)
  const hasNoTotal = ['lines', 'labels'].includes(state.table)
  const columns = TIMES.filter((name) =>
    OPTIONAL.has(name)
      ? rows.some(({ times }) => times[name] !== 0)
      : name === 'self' || !hasNoTotal,
  )
  const sort = columns.includes(state.sort) ? state.sort : 'self'
  const size = (/** @type {Unnamed} */ { times }, /** @type {TIMES[number]} */ name) =>
    Math.abs(times[name])
  rows.sort((a, b) => size(b, sort) - size(a, sort) || size(b, 'self') - size(a, 'self'))
  return {
    columns,
    sort,
    wholeUs: wholeOf(costs, sort),
    count: rows.length,
    /** The time that has the longest bar: microseconds. */
    mostUs: rows.length > 0 ? size(rows[0], sort) : 0,
    rows: rows.slice(0, limit).map(({ times, label }) => ({ ...label(), times })),
  }
}

/** Returns what the times of a column are shares of: microseconds. @param {Costs} costs @param {TIMES[number]} sort */
function wholeOf({ states, workUs, wallUs }, sort) {
  if (sort === 'blocked') return states[BLOCKED]
  if (sort === 'waiting') return states[WAITING]
  return sort === 'critical' ? wallUs : workUs
}

/** @param {Recording} recording @param {Shown} shown @param {Costs} costs @returns {Unnamed[]} */
function rowsOf(recording, { state, isWanted }, costs) {
  const { files, filePaths, packages, ownerKinds, ownerNames } = recording
  const query = state.query.toLowerCase()
  /** @param {import('../data/recording.js').Items} times @param {(item: number) => string} nameOf @param {(item: number) => string} placeOf */
  const named = (times, nameOf, placeOf = () => '') =>
    itemRows(
      times,
      (item) => ({ name: nameOf(item), place: placeOf(item) }),
      (item) => `${nameOf(item)} ${placeOf(item)}`.toLowerCase().includes(query),
    )
  switch (state.table) {
    case 'functions':
      return itemRows(
        costs.functionCosts,
        (item) => functionOf(recording, item),
        (item) => files[item] !== -1 && isWanted(item),
      )
    case 'lines':
      return lineRows(recording, costs, isWanted)
    case 'files':
      return named(costs.fileCosts, (file) => filePaths[file] || '(native)')
    case 'packages':
      return named(costs.packageCosts, (item) => packages[item])
    case 'owners':
      return named(
        costs.ownerCosts,
        (owner) => ownerNames[owner],
        (owner) => (ownerNames[owner].slice(1, -1) === ownerKinds[owner] ? '' : ownerKinds[owner]),
      )
    case 'labels':
      return labelRows(recording, costs, state, query)
    default:
      return []
  }
}

/**
 * Returns a row for each wanted item that has time.
 * @param {import('../data/recording.js').Items} costs @param {(item: number) => Omit<Row, 'times'>} labelOf
 * @param {(item: number) => boolean} isWanted @returns {Unnamed[]}
 */
function itemRows(costs, labelOf, isWanted) {
  const { self, total, critical, blocked, waiting } = costs
  const rows = []
  for (let item = 0; item < self.length; item++) {
    if (total[item] + blocked[item] + waiting[item] === 0 || !isWanted(item)) continue
    const label = () => labelOf(item)
    const times = { self: self[item], total: total[item], critical: critical[item] }
    Object.assign(times, { blocked: blocked[item], waiting: waiting[item] })
    rows.push({ key: item, times: /** @type {Times} */ (times), label })
  }
  return rows
}

/** @param {Recording} recording @param {Costs} costs @param {import('../state.js').State} state @param {string} query @returns {Unnamed[]} */
function labelRows({ labels }, costs, { label: chosen }, query) {
  const items = labels?.items ?? []
  return itemRows(
    costs.labelCosts,
    (item) => {
      const { name, key } = items[item]
      // A second click takes the choice back.
      return { name, place: key, choice: { label: item === chosen ? undefined : item } }
    },
    (item) => `${items[item].name} ${items[item].key}`.toLowerCase().includes(query),
  )
}

/** @param {Recording} recording @param {Costs} costs @param {(item: number) => boolean} isWanted @returns {Unnamed[]} */
function lineRows(recording, costs, isWanted) {
  const { code, files, fullPaths } = recording
  return lineCosts(recording, costs)
    .filter(({ item }) => isWanted(item))
    .map(({ item, line, us }) => ({
      key: `${item}:${line}`,
      times: { self: us, total: 0, critical: 0, blocked: 0, waiting: 0 },
      label: () => ({
        ...functionOf(recording, item),
        place: placeOfLine(recording, item, line),
        code: code.get(fullPaths[files[item]])?.get(line)?.trim(),
      }),
    }))
}

/** @param {Recording} recording @param {number} item */
function functionOf(recording, item) {
  const [place, title] = [shortPlaceOf, placeOf].map((textOf) => textOf(recording, item))
  return { name: nameOf(recording, item), place, title, item }
}

/** @param {Recording} recording @param {number} item @param {number} line */
function placeOfLine({ files, filePaths }, item, line) {
  const path = inPackage(filePaths[files[item]])
  return line > 0 ? `${path}:${line}` : `${path} (unknown line)`
}

/** Joins rows of both sides. @param {Unnamed[]} base @param {Unnamed[]} head @returns {Unnamed[]} */
function joinRows(base, head) {
  /** @type {Map<number | string, { base?: Unnamed, head?: Unnamed }>} */
  const pairs = new Map(base.map((row) => [row.key, { base: row }]))
  for (const row of head) pairs.set(row.key, { ...pairs.get(row.key), head: row })
  return Array.from(pairs, ([key, { base, head }]) => {
    const { label } = /** @type {Unnamed} */ (head ?? base)
    const times = /** @type {Times} */ ({})
    /** @type {Record<string, string>} */
    const sides = {}
    for (const name of TIMES) {
      const [baseUs, headUs] = [base?.times[name] ?? 0, head?.times[name] ?? 0]
      times[name] = headUs - baseUs
      sides[name] = formatSides(baseUs, headUs)
    }
    return { key, times, label: () => ({ ...label(), sides }) }
  })
}

module.exports = { layoutTable }
