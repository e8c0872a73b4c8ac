'use strict'

// Lays out a flame graph: the boxes of one drawing, each level from left to right.

const { WORK, GC, IDLE, BLOCKED, sampleAt } = require('../data/recording.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/**
 * @typedef {object} Box
 * @property {number} item the function
 * @property {number} node of the call tree; -1 where the box stands for many
 * @property {number} from in the unit of the view
 * @property {number} to
 * @property {boolean} [isBlocked]
 *
 * @typedef {object} View the visible part
 * @property {number} from microseconds
 * @property {number} to
 * @property {number} width pixels
 *
 * @typedef {object} Flame
 * @property {Box[][]} levels
 * @property {number} from the whole, microseconds
 * @property {number} to
 */

/** Boxes narrower than this are not drawn: pixels. */
const MIN_WIDTH = 0.5
/** Levels that are drawn. */
const MAX_LEVELS = 300

/**
 * Returns the stacks of a thread in the order of time: for each pixel the sample in its middle.
 * Equal functions side by side are one box.
 * @param {Recording} recording @param {number} thread @param {View} view @returns {Flame}
 */
function byTime({ threads, parent, depth, functions, leafNode, leafState }, thread, view) {
  const { times, leaves } = threads[thread]
  /** @type {Box[][]} */
  const levels = []
  const usPerPixel = (view.to - view.from) / view.width
  const end = times[times.length - 1]
  for (let pixel = 0; pixel < view.width; pixel++) {
    const us = view.from + (pixel + 0.5) * usPerPixel
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
    const interrupted = leafState[leaf] === GC ? workBefore(sample) : -1
    if (interrupted !== -1) add(leafNode[leaf], depth[interrupted] + 1)
    let node = interrupted === -1 ? leafNode[leaf] : interrupted
    for (; node !== -1; node = parent[node]) add(node, depth[node])
  }
  return { levels: Array.from(levels, (level) => level ?? []), from: view.from, to: view.to }

  /** Returns the node that a collection interrupted, or -1: V8 puts collections beside all stacks. @param {number} sample */
  function workBefore(sample) {
    if (parent[leafNode[leaves[sample]]] !== -1) return -1
    for (let before = sample - 1; before >= 0; before--) {
      const leaf = leaves[before]
      if (leaf === -1 || leafState[leaf] === IDLE) return -1
      if (leafState[leaf] === WORK) return leafNode[leaf]
    }
    return -1
  }
}

/**
 * Returns the call tree with the longest calls on the left.
 * @param {Recording} recording @param {Costs} costs @param {View} [view] all unless given
 * @param {number} [width] pixels, if no view is given @returns {Flame}
 */
function leftHeavy({ roots, firstChild, nextSibling, functions }, { total }, view, width = 1) {
  const whole = roots.reduce((us, root) => us + total[root], 0)
  const visible = view ?? { from: 0, to: whole, width }
  const least = leastUs(visible)
  /** @type {Box[][]} */
  const levels = []
  /** @param {number[]} nodes @param {number} from @param {number} level */
  const place = (nodes, from, level) => {
    if (level >= MAX_LEVELS) return
    nodes.sort((a, b) => total[b] - total[a])
    for (const node of nodes) {
      const to = from + total[node]
      if (total[node] < least) return
      if (to > visible.from && from < visible.to) {
        levels[level] ??= []
        levels[level].push({ item: functions[node], node, from, to })
        place(childrenOf(node), from, level + 1)
      }
      from = to
    }
  }
  const childrenOf = (/** @type {number} */ node) => {
    const list = []
    for (let child = firstChild[node]; child !== -1; child = nextSibling[child]) {
      if (total[child] > 0) list.push(child)
    }
    return list
  }
  place(
    roots.filter((root) => total[root] > 0),
    0,
    0,
  )
  return { levels, from: 0, to: whole }
}

/**
 * Returns the functions by their own time, with their callers below.
 * @param {Recording} recording @param {Costs} costs @param {View} [view] all unless given
 * @param {number} [width] pixels, if no view is given @returns {Flame}
 */
function inverted({ parent, functions }, { self }, view, width = 1) {
  const whole = self.reduce((sum, us) => sum + us, 0)
  const visible = view ?? { from: 0, to: whole, width }
  const least = leastUs(visible)
  /** @type {Box[][]} */
  const levels = []
  /**
   * @param {Map<number, { us: number, nodes: number[], times: number[] }>} groups by function
   * @param {number} from @param {number} level
   */
  const place = (groups, from, level) => {
    if (level >= MAX_LEVELS) return
    const sorted = [...groups].sort(([, a], [, b]) => b.us - a.us)
    for (const [item, { us, nodes, times }] of sorted) {
      const to = from + us
      if (us < least) return
      if (to > visible.from && from < visible.to) {
        levels[level] ??= []
        levels[level].push({ item, node: nodes.length === 1 ? nodes[0] : -1, from, to })
        place(
          group(
            nodes.map((node) => parent[node]),
            times,
          ),
          from,
          level + 1,
        )
      }
      from = to
    }
  }
  /** @param {number[]} nodes @param {number[]} times */
  const group = (nodes, times) => {
    /** @type {Map<number, { us: number, nodes: number[], times: number[] }>} */
    const groups = new Map()
    for (const [index, node] of nodes.entries()) {
      if (node === -1) continue
      const known = groups.get(functions[node])
      if (known === undefined) {
        groups.set(functions[node], { us: times[index], nodes: [node], times: [times[index]] })
      } else {
        known.us += times[index]
        known.nodes.push(node)
        known.times.push(times[index])
      }
    }
    return groups
  }
  const nodes = []
  const times = []
  for (let node = 0; node < self.length; node++) {
    if (self[node] === 0) continue
    nodes.push(node)
    times.push(self[node])
  }
  place(group(nodes, times), 0, 0)
  return { levels, from: 0, to: whole }
}

/** Returns the least time that is drawn. @param {View} view */
function leastUs({ from, to, width }) {
  return ((to - from) / Math.max(width, 1)) * MIN_WIDTH || Number.MIN_VALUE
}

/** Returns the box at a place, if there is one. @param {Flame} flame @param {number} level @param {number} at */
function boxAt({ levels }, level, at) {
  return levels[level]?.find(({ from, to }) => from <= at && at < to)
}

module.exports = { byTime, leftHeavy, inverted, boxAt }
