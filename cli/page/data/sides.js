'use strict'

// Puts the two sides of a comparison beside each other.

const { callsOf, costsOf } = require('./costs.js')
const { formatTime } = require('../../terminal/units.js')

/** @typedef {import('./recording.js').Recording} Recording */
/** @typedef {import('./costs.js').Costs} Costs */
/** @typedef {{ base: Costs, head: Costs }} Sides */

/** Returns the costs of both sides; undefined if nothing is compared. @param {Recording} recording @returns {Sides | undefined} */
function sidesOf(recording) {
  if (!recording.compared) return undefined
  const span = { fromUs: 0, toUs: recording.durationUs }
  return { base: costsOf(recording, [0], span), head: costsOf(recording, [1], span) }
}

/**
 * Returns the times of a box on both sides, in microseconds. A box that stands for many nodes has the
 * times of its function.
 * @param {Sides} sides @param {import('../layout/flame.js').Box} box @param {boolean} isInverted
 */
function timesOf({ base, head }, { item, node }, isInverted) {
  // Inverted, a node is the caller of others, and has the part of its time that they took.
  if (node === -1 || isInverted) {
    return { baseUs: base.functionCosts.total[item], headUs: head.functionCosts.total[item] }
  }
  return { baseUs: base.total[node], headUs: head.total[node] }
}

/**
 * Joins rows of both sides. Their times are differences, and `sides` has the times.
 * @template {{ item?: number, name: string, place: string }} Row
 * @param {Row[]} base @param {Row[]} head @param {('self' | 'total' | 'blocked')[]} measures
 */
function joinRows(base, head, measures) {
  /** @type {Map<number | string, { base?: Row, head?: Row }>} */
  const pairs = new Map()
  const keyOf = (/** @type {Row} */ row) => row.item ?? `${row.name}\0${row.place}`
  for (const row of base) pairs.set(keyOf(row), { base: row })
  for (const row of head) pairs.set(keyOf(row), { ...pairs.get(keyOf(row)), head: row })
  return [...pairs.values()].map((pair) => {
    /** @type {any} */
    const row = { ...(pair.head ?? pair.base), sides: {} }
    for (const measure of measures) {
      const [baseUs, headUs] = [pair.base, pair.head].map((side) =>
        Number(/** @type {any} */ (side)?.[measure] ?? 0),
      )
      row[measure] = headUs - baseUs
      row.sides[measure] = formatSides(baseUs, headUs)
    }
    return row
  })
}

/**
 * Returns callers and callees of a function on both sides, the largest difference first.
 * @param {Recording} recording @param {Sides} sides @param {number} item
 */
function callsOfSides(recording, { base, head }, item) {
  const [before, after] = [callsOf(recording, base, item), callsOf(recording, head, item)]
  /** @param {'callers' | 'callees'} name */
  const join = (name) => {
    const us = new Map(before[name].map((call) => [call.item, { baseUs: call.us, headUs: 0 }]))
    for (const call of after[name]) {
      us.set(call.item, { baseUs: us.get(call.item)?.baseUs ?? 0, headUs: call.us })
    }
    return [...us]
      .map(([called, times]) => ({ item: called, ...times, us: times.headUs - times.baseUs }))
      .sort((a, b) => Math.abs(b.us) - Math.abs(a.us))
  }
  return { callers: join('callers'), callees: join('callees') }
}

/** Returns `+12 ms`. @param {number} us */
function formatDifference(us) {
  return `${us < 0 ? '−' : '+'}${formatTime(Math.abs(us) / 1000)}`
}

/** Returns `12 ms → 30 ms`. @param {number} baseUs @param {number} headUs */
function formatSides(baseUs, headUs) {
  return `${formatTime(baseUs / 1000)} → ${formatTime(headUs / 1000)}`
}

module.exports = { sidesOf, timesOf, joinRows, callsOfSides, formatDifference, formatSides }
