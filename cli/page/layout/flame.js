'use strict'

// Lays out a flame graph: the boxes of one drawing, each level from left to right.

const { JAVASCRIPT, NATIVE, GC, IDLE, WAITING, BLOCKED, sampleAt } = require('../data/recording.js')
const { shownThread, visibleOf } = require('../state.js')
const { MAX_LEVELS, inverted, leftHeavy, sandwich } = require('./merged.js')

/** The function of native code outside of all stacks. */
const PROGRAM = 0
/** A box with this part of the work is not yet divided. */
const NEARLY_ALL = 0.8

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('./boxes.js').Flame} Flame */
/** @typedef {import('./boxes.js').Range} Range */

/**
 * Lays out the chosen graph.
 * @param {Recording} recording
 * @param {Pick<import('../state.js').Shown, 'state' | 'costs' | 'function'>} shown
 * @param {number} width pixels
 * @param {Range} [zoom] the visible part of a graph without time; all unless given
 * @returns {Flame}
 */
function layoutFlame(recording, shown, width, zoom) {
  const { state, costs } = shown
  if (state.view === 'time') {
    const thread = shownThread(state, recording)
    const whole = { from: 0, to: recording.durationUs }
    const visible = visibleOf(state, recording)
    return { levels: byTime(recording, thread, visible, width), whole, visible }
  }
  if (state.view === 'sandwich') {
    const { function: item } = shown
    const whole = { from: 0, to: item === -1 ? 0 : costs.functionCosts.total[item] }
    const visible = zoom ?? whole
    return { ...sandwich(recording, costs, item, visible, width), whole, visible }
  }
  const whole = { from: 0, to: costs.workUs }
  const visible = zoom ?? whole
  if (state.view === 'inverted') {
    return { levels: inverted(recording, costs, visible, width), whole, visible }
  }
  const levels = leftHeavy(recording, costs, visible, width)
  return { levels, whole, visible, middle: dividingLevel(levels, whole) }
}

/**
 * Returns the first level without a box that has nearly all: those above it load the program.
 * @param {import('./boxes.js').Levels} levels @param {Range} whole
 */
function dividingLevel(levels, { from, to }) {
  const most = NEARLY_ALL * (to - from)
  const level = levels.findIndex((boxes) => boxes.every((box) => box.to - box.from < most))
  return Math.max(0, level)
}

/**
 * Returns the stacks of a thread in the order of time: for each pixel the sample in its middle.
 * Equal functions side by side are one box.
 * @param {Recording} recording @param {number} thread @param {Range} visible @param {number} width pixels
 */
function byTime(recording, thread, visible, width) {
  const { threads, parent, depth, functions, leafNode, leafState } = recording
  const { times, leaves } = threads[thread]
  /** @type {import('./boxes.js').Levels} */
  const levels = []
  const usPerPixel = (visible.to - visible.from) / width
  const end = times[times.length - 1]
  for (let pixel = 0; pixel < width; pixel++) {
    const us = visible.from + (pixel + 0.5) * usPerPixel
    if (us < times[0] || us >= end) continue
    const sample = sampleAt(times, us)
    const leaf = leaves[sample]
    if (leaf === -1 || leafState[leaf] === IDLE) continue
    const [from, to] = [us - usPerPixel / 2, us + usPerPixel / 2]
    const waits = leafState[leaf] === BLOCKED || leafState[leaf] === WAITING
    const state = waits ? leafState[leaf] : undefined
    /** @param {number} node @param {number} level */
    const add = (node, level) => {
      if (level >= MAX_LEVELS) return
      levels[level] ??= []
      const before = levels[level].at(-1)
      const touches = before !== undefined && from - before.to < usPerPixel / 2
      if (touches && before.node === node && before.state === state) before.to = to
      else levels[level].push({ item: functions[node], node, from, to, state })
    }
    const interrupted = leafState[leaf] === GC ? workBefore(recording, leaves, sample) : -1
    if (interrupted !== -1) add(leafNode[leaf], depth[interrupted] + 1)
    let node = interrupted === -1 ? leafNode[leaf] : interrupted
    for (; node !== -1; node = parent[node]) add(node, depth[node])
  }
  return Array.from(levels, (level) => level ?? [])
}

/**
 * Returns the node that a collection interrupted, or -1: V8 puts collections beside all stacks.
 * @param {Recording} recording @param {Int32Array} leaves of a thread @param {number} sample of the
 *   collection
 */
function workBefore({ parent, leafNode, leafState, functions }, leaves, sample) {
  if (parent[leafNode[leaves[sample]]] !== -1) return -1
  for (let before = sample - 1; before >= 0; before--) {
    const leaf = leaves[before]
    if (leaf === -1 || leafState[leaf] === IDLE) return -1
    const isNative = leafState[leaf] === NATIVE && functions[leafNode[leaf]] !== PROGRAM
    if (leafState[leaf] === JAVASCRIPT || isNative) return leafNode[leaf]
  }
  return -1
}

module.exports = { layoutFlame }
