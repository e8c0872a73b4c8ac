'use strict'

// Lays out a flame graph: the boxes of one drawing, each level from left to right.

const { WORK, GC, IDLE, BLOCKED, sampleAt } = require('../data/recording.js')
const { shownThread, spanOf } = require('../state.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {{ from: number, to: number }} Range microseconds */
/**
 * @typedef {object} Box
 * @property {number} item the function
 * @property {number} node of the call tree; -1 where the box stands for those of its function
 * @property {number} from microseconds
 * @property {number} to
 * @property {boolean} [isBlocked]
 *
 * @typedef {{ item: number, node: number, us: number }} Sibling a box that has no place yet
 * @typedef {{ node: number, us: number }} Part time of a function on the path to a node
 *
 * @typedef {Box[][]} Levels
 *
 * @typedef {object} Flame
 * @property {Levels} levels
 * @property {Range} whole all that can be visible
 * @property {Range} visible
 */

/** Height of a level: pixels. */
const LEVEL = 18
/** Boxes narrower than this are not drawn: pixels. */
const MIN_WIDTH = 0.5
/** Levels that are drawn. */
const MAX_LEVELS = 300

/**
 * Lays out the chosen graph.
 * @param {Recording} recording @param {import('../state.js').State} state @param {Costs} costs
 * @param {number} width pixels
 * @param {Range} [zoom] the visible part of a graph without time; all unless given
 * @returns {Flame}
 */
function layoutFlame(recording, state, costs, width, zoom) {
  if (state.view === 'time') {
    const thread = shownThread(state, recording)
    const { times } = recording.threads[thread]
    const whole = { from: times[0], to: times[times.length - 1] }
    const { fromUs, toUs } = spanOf(state, recording)
    const visible = state.from === undefined ? whole : { from: fromUs, to: toUs }
    return { levels: byTime(recording, thread, visible, width), whole, visible }
  }
  const whole = { from: 0, to: costs.workUs }
  const visible = zoom ?? whole
  const layout = state.view === 'heavy' ? leftHeavy : inverted
  return { levels: layout(recording, costs, visible, width), whole, visible }
}

/**
 * Returns the stacks of a thread in the order of time: for each pixel the sample in its middle.
 * Equal functions side by side are one box.
 * @param {Recording} recording @param {number} thread @param {Range} visible @param {number} width pixels
 */
function byTime(recording, thread, visible, width) {
  const { threads, parent, depth, functions, leafNode, leafState } = recording
  const { times, leaves } = threads[thread]
  /** @type {Levels} */
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
    const isBlocked = leafState[leaf] === BLOCKED
    /** @param {number} node @param {number} level */
    const add = (node, level) => {
      if (level >= MAX_LEVELS) return
      levels[level] ??= []
      const before = levels[level].at(-1)
      const touches = before !== undefined && from - before.to < usPerPixel / 2
      if (touches && before.node === node && before.isBlocked === isBlocked) before.to = to
      else levels[level].push({ item: functions[node], node, from, to, isBlocked })
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
function workBefore({ parent, leafNode, leafState }, leaves, sample) {
  if (parent[leafNode[leaves[sample]]] !== -1) return -1
  for (let before = sample - 1; before >= 0; before--) {
    const leaf = leaves[before]
    if (leaf === -1 || leafState[leaf] === IDLE) return -1
    if (leafState[leaf] === WORK) return leafNode[leaf]
  }
  return -1
}

/**
 * Returns the call tree with the longest calls on the left.
 * @param {Recording} recording @param {Costs} costs @param {Range} visible @param {number} width pixels
 */
function leftHeavy({ roots, firstChild, nextSibling, functions }, { total }, visible, width) {
  /** @param {number[]} nodes @returns {Sibling[]} */
  const siblings = (nodes) =>
    nodes
      .filter((node) => total[node] > 0)
      .map((node) => ({ item: functions[node], node, us: total[node] }))
  /** @param {Sibling} sibling */
  const below = ({ node }) => {
    const nodes = []
    for (let child = firstChild[node]; child !== -1; child = nextSibling[child]) nodes.push(child)
    return siblings(nodes)
  }
  return place(siblings(roots), below, visible, width)
}

/**
 * Returns the functions by their own time, with their callers below.
 * @param {Recording} recording @param {Costs} costs @param {Range} visible @param {number} width pixels
 */
function inverted({ parent, functions }, { self }, visible, width) {
  /** Joins the nodes of each function. @param {Part[]} parts */
  const groups = (parts) => {
    /** @type {Map<number, Sibling & { parts: Part[] }>} */
    const byFunction = new Map()
    for (const part of parts) {
      if (part.node === -1) continue
      const item = functions[part.node]
      const group = byFunction.get(item) ?? { item, node: -1, us: 0, parts: [] }
      group.us += part.us
      group.parts.push(part)
      byFunction.set(item, group)
    }
    return [...byFunction.values()]
  }
  /** @param {{ parts: Part[] }} group */
  const below = ({ parts }) => groups(parts.map(({ node, us }) => ({ node: parent[node], us })))
  const parts = []
  for (const [node, us] of self.entries()) if (us !== 0) parts.push({ node, us })
  return place(groups(parts), below, visible, width)
}

/**
 * Places boxes that are visible and not too narrow, the longest on the left.
 * @template {Sibling} S @param {S[]} roots @param {(sibling: S) => S[]} below
 * @param {Range} visible @param {number} width pixels
 */
function place(roots, below, visible, width) {
  const leastUs = ((visible.to - visible.from) / Math.max(width, 1)) * MIN_WIDTH || Number.MIN_VALUE
  /** @type {Levels} */
  const levels = []
  /** @param {S[]} siblings @param {number} start @param {number} level */
  const add = (siblings, start, level) => {
    if (level >= MAX_LEVELS) return
    let from = start
    for (const sibling of siblings.sort((a, b) => b.us - a.us)) {
      const { item, node, us } = sibling
      const to = from + us
      if (us < leastUs) return
      if (to > visible.from && from < visible.to) {
        levels[level] ??= []
        levels[level].push({ item, node, from, to })
        add(below(sibling), from, level + 1)
      }
      from = to
    }
  }
  add(roots, 0, 0)
  return levels
}

/** Returns where a box is, in pixels. @param {Box} box @param {Range} visible @param {number} width pixels */
function placeOfBox({ from, to }, visible, width) {
  const scale = width / Math.max(visible.to - visible.from, Number.MIN_VALUE)
  const left = Math.max(0, (from - visible.from) * scale)
  return { left, width: Math.min(width, (to - visible.from) * scale) - left }
}

/** Returns the box at a place, if there is one. @param {Flame} flame @param {number} share of the width @param {number} y pixels */
function boxAt({ levels, visible }, share, y) {
  const at = visible.from + share * (visible.to - visible.from)
  return levels[Math.floor(y / LEVEL)]?.find(({ from, to }) => from <= at && at < to)
}

/** Returns a larger or smaller part. @param {Range} part @param {number} factor @param {number} [centre] what stays in its place, from 0 on the left to 1 */
function scaled({ from, to }, factor, centre = 0.5) {
  const at = from + (to - from) * centre
  return { from: at - (at - from) * factor, to: at + (to - at) * factor }
}

/** Returns a part of the same length, to the end of the whole at most. @param {Range} part @param {Range} whole @param {number} share of the part */
function moved({ from, to }, whole, share) {
  const by = Math.max(whole.from - from, Math.min(whole.to - to, share * (to - from)))
  return { from: from + by, to: to + by }
}

/** Returns what a part and the whole share. @param {Range} part @param {Range} whole */
function inside({ from, to }, whole) {
  return { from: Math.max(whole.from, from), to: Math.min(whole.to, to) }
}

module.exports = { LEVEL, layoutFlame, placeOfBox, boxAt, scaled, moved, inside }
