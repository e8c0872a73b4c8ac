'use strict'

// Lays out the selected function: its times, callers, callees and lines as texts.

const { callsOf, lineCosts } = require('../data/costs.js')
const { nameOf, placeOf } = require('../data/names.js')
const { callsOfSides, formatChange, formatDifference } = require('../data/sides.js')
const { formatShare, formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */
/** @typedef {{ cells: string[], name: string, place: string, item?: number }} Row the item is a function */

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

module.exports = { layoutDetail }
