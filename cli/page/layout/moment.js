'use strict'

// Tells what threads did at a moment, as lines of text.

const { nameOf, shortPlaceOf } = require('../data/names.js')
const { STATE_NAMES, sampleAt } = require('../data/recording.js')
const { formatCount } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */

/** Functions of a stack that are named. */
const NAMED = 8

/**
 * Returns the state of a thread and its stack, the function on top first; of several threads, how many
 * were in each state.
 * @param {Recording} recording @param {number[]} threads indices @param {number} us
 */
function layoutMoment(recording, threads, us) {
  const leaves = threads.map((thread) => leafAt(recording, thread, us))
  if (threads.length === 1) return stackOf(recording, leaves[0])
  const counts = STATE_NAMES.map((name, state) => {
    const count = leaves.filter((leaf) => recording.leafState[leaf] === state).length
    return count > 0 ? [`${formatCount(count, 'thread')} ${name}`] : []
  })
  return counts.flat()
}

/** Returns the leaf of a thread, or -1. @param {Recording} recording @param {number} thread @param {number} us */
function leafAt({ threads }, thread, us) {
  const { times, leaves } = threads[thread]
  const isRecorded = us >= times[0] && us < times[times.length - 1]
  return isRecorded ? leaves[sampleAt(times, us)] : -1
}

/** @param {Recording} recording @param {number} leaf */
function stackOf(recording, leaf) {
  if (leaf === -1) return ['not recorded']
  const { functions, leafNode, leafState, files, parent, depth } = recording
  const state = STATE_NAMES[leafState[leaf]]
  const top = leafNode[leaf]
  // A function that stands for a state has the name of the state.
  if (files[functions[top]] === -1) return [state]
  /** @type {string[]} */
  const lines = [state]
  for (let node = top; node !== -1 && lines.length <= NAMED; node = parent[node]) {
    lines.push(`${nameOf(recording, functions[node])}  ${shortPlaceOf(recording, functions[node])}`)
  }
  const others = depth[top] + 1 - NAMED
  return others > 0 ? [...lines, `and ${formatCount(others, 'more caller')}`] : lines
}

module.exports = { layoutMoment }
