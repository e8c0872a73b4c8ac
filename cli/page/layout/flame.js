'use strict'

// Lays out a flame graph: the boxes of one drawing, each level from left to right.

const { JAVASCRIPT, NATIVE, IDLE, WAITING, BLOCKED, sampleAt } = require('../data/recording.js')
const { shownThread, visibleOf } = require('../state.js')
const { MAX_LEVELS, inverted, leftHeavy, sandwich } = require('./merged.js')

/** The functions of native code outside of all stacks, and of collections. */
const [PROGRAM, COLLECTOR] = [0, 1]
/** A call with this part of the time is not yet divided. */
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
    const levels = byTime(recording, thread, visible, width, state.colours)
    return withDivision({ levels, whole, visible }, visible)
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
  return withDivision({ levels, whole, visible }, whole)
}

/** Adds the level where the work divides, which few drawings need. @param {Flame} flame @param {Range} all @returns {Flame} */
function withDivision(flame, all) {
  return {
    ...flame,
    get middle() {
      return dividingLevel(flame.levels, all)
    },
  }
}

/**
 * Returns the first level on which no call has nearly all: the calls above load the program.
 * @param {import('./boxes.js').Levels} levels @param {Range} whole
 */
function dividingLevel(levels, { from, to }) {
  const most = NEARLY_ALL * (to - from)
  const level = levels.findIndex((boxes) => {
    const times = new Map()
    for (const box of boxes) times.set(box.node, (times.get(box.node) ?? 0) + box.to - box.from)
    return [...times.values()].every((us) => us < most)
  })
  return Math.max(0, level)
}

/**
 * Returns the stacks of a thread in the order of time: for each pixel the sample in its middle.
 * Equal functions side by side are one box.
 * @param {Recording} recording @param {number} thread @param {Range} visible @param {number} width pixels
 * @param {string} [key] of the labels that tell boxes apart
 */
function byTime(recording, thread, visible, width, key) {
  const { threads, parent, depth, functions, leafNode, leafState, labels } = recording
  const labelOf = labels?.ofLeaves[labels.keys.indexOf(key ?? '')]
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
    const label = labelOf?.[leaf]
    const waits = leafState[leaf] === BLOCKED || leafState[leaf] === WAITING
    /** @param {number} node @param {number} level @param {number} [state] */
    const add = (node, level, state) => {
      if (level >= MAX_LEVELS) return
      levels[level] ??= []
      const before = levels[level].at(-1)
      const touches = before !== undefined && from - before.to < usPerPixel / 2
      const isSame = before?.node === node && before.state === state && before.label === label
      if (touches && isSame) before.to = to
      else levels[level].push({ item: functions[node], node, from, to, state, label })
    }
    // A collection can wait for a core too.
    const isCollection = functions[leafNode[leaf]] === COLLECTOR
    const interrupted = isCollection ? workBefore(recording, leaves, sample) : -1
    // Callers stay one box while the function on top waits.
    const state = waits ? leafState[leaf] : undefined
    const callers = interrupted === -1 ? parent[leafNode[leaf]] : interrupted
    add(leafNode[leaf], callers === -1 ? 0 : depth[callers] + 1, state)
    for (let node = callers; node !== -1; node = parent[node]) add(node, depth[node])
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
