'use strict'

// Puts the two sides of a comparison beside each other.

const { callsOf } = require('./calls.js')
const { costsOf } = require('./costs.js')
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
 * Returns the times of a box on both sides, in microseconds. A box without a node has the times of its
 * function.
 * @param {Sides} sides @param {import('../layout/boxes.js').Box} box
 */
function timesOf({ base, head }, { item, node }) {
  if (node === -1) {
    return { baseUs: base.functionCosts.total[item], headUs: head.functionCosts.total[item] }
  }
  return { baseUs: base.total[node], headUs: head.total[node] }
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
      .map(([called, { baseUs, headUs }]) => ({
        item: called,
        us: headUs - baseUs,
        sides: formatSides(baseUs, headUs),
      }))
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

/** Returns `12 ms → 30 ms (+18 ms)`. @param {number} baseUs @param {number} headUs */
function formatChange(baseUs, headUs) {
  return `${formatSides(baseUs, headUs)} (${formatDifference(headUs - baseUs)})`
}

module.exports = { sidesOf, timesOf, callsOfSides, formatDifference, formatSides, formatChange }
