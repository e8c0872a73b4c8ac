'use strict'

// Draws the selected function: its times, callers, callees and lines.

const { callsOf, lineCosts } = require('../data/costs.js')
const { nameOf, placeOf } = require('../data/names.js')
const { callsOfSides, formatChange, formatDifference } = require('../data/sides.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { button, byId, element, nameCell } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Change} Change */
/** @typedef {import('../state.js').Shown} Shown */
/** @typedef {{ cells: string[], name: string, place: string, item?: number }} Row the item is a function */

/** Rows of each list. */
const ROWS = 12
const HINT = 'Select a function in the flame graph or in the table to see who calls it.'

/** @param {Recording} recording @param {Change} change @param {Shown} shown */
function drawDetail(recording, change, shown) {
  const item = shown.state.function
  if (item === undefined) {
    byId('detail').replaceChildren(element('p', { className: 'faint', textContent: HINT }))
    return
  }
  const { name, place, times, lists } = layoutDetail(recording, shown, item)
  const close = button('×', () => change({ function: undefined }), { 'aria-label': 'close' })
  byId('detail').replaceChildren(
    element('h2', {}, name, ' ', close),
    element('p', { className: 'place', textContent: place }),
    element('p', { textContent: times }),
    ...lists.flatMap(({ title, rows }) => (rows.length > 0 ? drawList(title, rows, change) : [])),
  )
}

/** @param {string} title @param {Row[]} rows @param {Change} change */
function drawList(title, rows, change) {
  const shown = rows.slice(0, ROWS).map((row) => {
    const cells = row.cells.map((textContent) => element('td', { textContent }))
    return element('tr', {}, ...cells, nameCell(row, change))
  })
  const list = [element('h3', { textContent: title }), element('table', {}, ...shown)]
  const rest = rows.length - shown.length
  if (rest > 0) list.push(element('p', { className: 'faint', textContent: `and ${rest} more` }))
  return list
}

/**
 * Returns the texts of a function, with its lists of rows.
 * @param {Recording} recording @param {Shown} shown @param {number} item
 */
function layoutDetail(recording, shown, item) {
  const { costs, sides } = shown
  const { callers, callees } = sides
    ? callsOfSides(recording, sides, item)
    : callsOf(recording, costs, item)
  /** @param {{ item: number, us: number, sides?: string }} call @returns {Row} */
  const rowOf = ({ item: other, us, sides: times }) => ({
    cells: times ? [formatDifference(us), times] : cellsOf(us, costs.workUs),
    ...(other === -1
      ? { name: '(event loop)', place: '' }
      : { name: nameOf(recording, other), place: placeOf(recording, other), item: other }),
  })
  /** @type {Row[]} */
  const lines = lineCosts(recording, costs, item)
    .filter(({ line }) => line > 0)
    .map(({ line, us }) => ({ cells: cellsOf(us, costs.workUs), name: `line ${line}`, place: '' }))
  return {
    name: nameOf(recording, item),
    place: placeOf(recording, item),
    times: textOfTimes(shown, item),
    lists: [
      { title: 'callers, by the time of their calls', rows: callers.map(rowOf) },
      { title: 'callees, by the time of the calls', rows: callees.map(rowOf) },
      { title: 'lines, by self time', rows: lines },
    ],
  }
}

/** Returns a time and its share. @param {number} us @param {number} workUs */
function cellsOf(us, workUs) {
  return [formatTime(us / 1000), formatShare(us, workUs)]
}

/** Returns the times of a function on one line. @param {Shown} shown @param {number} item */
function textOfTimes({ costs, sides }, item) {
  const names = /** @type {const} */ (['total', 'self'])
  if (sides) {
    const [base, head] = [sides.base.functionCosts, sides.head.functionCosts]
    return names
      .map((name) => `${name} ${formatChange(base[name][item], head[name][item])}`)
      .join(' · ')
  }
  const { workUs, functionCosts } = costs
  const times = names.map((name) => {
    const [time, share] = cellsOf(functionCosts[name][item], workUs)
    return `${name} ${time} (${share})`
  })
  const blockedUs = functionCosts.blocked[item]
  const blocked = blockedUs > 0 ? [`blocked ${formatTime(blockedUs / 1000)}`] : []
  return [...times, ...blocked].join(' · ')
}

module.exports = { drawDetail }
