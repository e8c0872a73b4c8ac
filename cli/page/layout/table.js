'use strict'

// Lays out a table: its columns and its rows in their order.

const { lineCosts } = require('../data/costs.js')
const { nameOf, placeOf } = require('../data/names.js')
const { formatSides } = require('../data/sides.js')
const { SORTS } = require('../state.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {import('../state.js').Shown} Shown */
/**
 * @typedef {object} Row times in microseconds; differences in a comparison
 * @property {string} name
 * @property {string} place
 * @property {number} self
 * @property {number} total
 * @property {number} blocked
 * @property {number} [item] the function to select
 * @property {Record<string, string>} [sides] times of both sides, by the name of the time
 *
 * @typedef {ReturnType<typeof layoutTable>} Table
 */

/** @param {Recording} recording @param {Shown} shown */
function layoutTable(recording, shown) {
  const { state, costs, sides } = shown
  const rows = sides
    ? joinRows(rowsOf(recording, shown, sides.base), rowsOf(recording, shown, sides.head))
    : rowsOf(recording, shown, costs)
  const hasColumn = {
    self: true,
    total: state.table !== 'lines',
    blocked: rows.some(({ blocked }) => blocked !== 0),
  }
  const columns = SORTS.filter((name) => hasColumn[name])
  const sort = hasColumn[state.sort] ? state.sort : 'self'
  rows.sort((a, b) => Math.abs(b[sort]) - Math.abs(a[sort]) || Math.abs(b.self) - Math.abs(a.self))
  /** What the times of the sorted column are shares of: microseconds. */
  const wholeUs = sort === 'blocked' ? costs.states.blocked : costs.workUs
  return { rows, columns, sort, wholeUs }
}

/** @param {Recording} recording @param {Shown} shown @param {Costs} costs @returns {Row[]} */
function rowsOf(recording, { state, isWanted }, costs) {
  const { files, filePaths, packages, ownerKinds, ownerNames } = recording
  const query = state.query.toLowerCase()
  /** @param {import('../data/costs.js').Items} times @param {(item: number) => string} nameOf @param {(item: number) => string} placeOf */
  const named = (times, nameOf, placeOf = () => '') =>
    itemRows(times, (item) => ({ name: nameOf(item), place: placeOf(item) })).filter(
      ({ name, place }) => `${name} ${place}`.toLowerCase().includes(query),
    )
  switch (state.table) {
    case 'functions':
      return itemRows(costs.functionCosts, (item) => functionOf(recording, item)).filter(
        ({ item }) => files[item] !== -1 && isWanted(item),
      )
    case 'lines':
      return lineCosts(recording, costs)
        .filter(({ item }) => isWanted(item))
        .map(({ item, line, us }) => ({
          ...{ ...functionOf(recording, item), place: placeOfLine(recording, item, line) },
          ...{ self: us, total: 0, blocked: 0 },
        }))
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
  }
}

/**
 * Returns a row for each item that has time.
 * @template {object} Label @param {import('../data/costs.js').Items} times
 * @param {(item: number) => Label} labelOf
 */
function itemRows({ self, total, blocked }, labelOf) {
  const rows = []
  for (let item = 0; item < self.length; item++) {
    if (total[item] + blocked[item] === 0) continue
    const times = { self: self[item], total: total[item], blocked: blocked[item] }
    rows.push({ ...labelOf(item), ...times })
  }
  return rows
}

/** @param {Recording} recording @param {number} item */
function functionOf(recording, item) {
  return { name: nameOf(recording, item), place: placeOf(recording, item), item }
}

/** @param {Recording} recording @param {number} item @param {number} line */
function placeOfLine({ files, filePaths }, item, line) {
  const path = filePaths[files[item]]
  return line > 0 ? `${path}:${line}` : `${path} (unknown line)`
}

/** Joins rows of both sides. @param {Row[]} base @param {Row[]} head @returns {Row[]} */
function joinRows(base, head) {
  /** @type {Map<number | string, { base?: Row, head?: Row }>} */
  const pairs = new Map()
  const keyOf = (/** @type {Row} */ { item, name, place }) => item ?? `${name}\0${place}`
  for (const row of base) pairs.set(keyOf(row), { base: row })
  for (const row of head) pairs.set(keyOf(row), { ...pairs.get(keyOf(row)), head: row })
  return [...pairs.values()].map(({ base, head }) => {
    const row = { .../** @type {Row} */ (head ?? base), sides: {} }
    for (const name of SORTS) {
      const [baseUs, headUs] = [base?.[name] ?? 0, head?.[name] ?? 0]
      row[name] = headUs - baseUs
      Object.assign(row.sides, { [name]: formatSides(baseUs, headUs) })
    }
    return row
  })
}

module.exports = { layoutTable }
