'use strict'

// Lays out the graphs that are summed over time: left heavy, inverted, and of one function.

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {import('./boxes.js').Range} Range */
/** @typedef {import('./boxes.js').Levels} Levels */
/**
 * @typedef {{ item: number, node: number, us: number }} Sibling a box that has no place yet
 * @typedef {{ node: number, us: number }} Part time of a function on the path to a node
 * @typedef {Sibling & { parts: Part[], next?: Group[] }} Group the nodes of one function, with the groups on
 *   the next level once they were asked for
 * @typedef {{ inverted?: Group[], item?: number, above?: Group[], below?: Group[] }} Known
 */

/** Boxes narrower than this are not drawn: pixels. */
const MIN_WIDTH = 0.5
/** Levels that are drawn. */
const MAX_LEVELS = 300

/** Returns the first calls, and what each calls. @param {Recording} recording @param {Costs} costs */
function callTree({ roots, firstChild, nextSibling, functions }, { total }) {
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
  return { roots: siblings(roots), below }
}

/** Returns the functions by their own time, and the callers of each. @param {Recording} recording @param {Costs} costs */
function invertedTree(recording, costs) {
  const known = knownOf(costs)
  if (known.inverted === undefined) {
    const parts = []
    for (const [node, us] of costs.self.entries()) if (us !== 0) parts.push({ node, us })
    known.inverted = groups(recording, parts)
  }
  return { roots: known.inverted, below: callersIn(recording) }
}

/**
 * Returns the call tree with the longest calls on the left.
 * @param {Recording} recording @param {Costs} costs @param {Range} visible @param {number} width pixels
 */
function leftHeavy(recording, costs, visible, width) {
  const { roots, below } = callTree(recording, costs)
  return place(roots, below, visible, width)
}

/**
 * Returns the functions by their own time, with their callers below.
 * @param {Recording} recording @param {Costs} costs @param {Range} visible @param {number} width pixels
 */
function inverted(recording, costs, visible, width) {
  const { roots, below } = invertedTree(recording, costs)
  return place(roots, below, visible, width)
}

/**
 * Returns a function with its callers above and its callees below, over all its calls.
 * @param {Recording} recording @param {Costs} costs @param {number} item
 * @param {Range} visible @param {number} width pixels
 * @returns {{ levels: Levels, middle: number }}
 */
function sandwich(recording, costs, item, visible, width) {
  const known = knownOf(costs)
  if (known.item !== item) {
    const parts = callsTo(recording, costs, item)
    Object.assign(known, { item, above: groups(recording, parts), below: groups(recording, parts) })
  }
  const { above = [], below = [] } = known
  const [own, ...callers] = place(above, callersIn(recording), visible, width)
  const callees = place(below, calleesIn(recording, costs.total), visible, width).slice(1)
  return { levels: own ? [...callers.reverse(), own, ...callees] : [], middle: callers.length }
}

/** Returns the calls to a function, those inside each other once. @param {Recording} recording @param {Costs} costs @param {number} item */
function callsTo({ functions, outermost }, { total }, item) {
  /** @type {Part[]} */
  const parts = []
  for (let node = 0; node < functions.length; node++) {
    if (functions[node] !== item || outermost[0][node] === 0 || total[node] === 0) continue
    parts.push({ node, us: total[node] })
  }
  return parts
}

/** Groups that were asked for, by their costs: to zoom and to move needs no others. @type {WeakMap<Costs, Known>} */
const all = new WeakMap()

/** @param {Costs} costs */
function knownOf(costs) {
  const known = all.get(costs) ?? {}
  all.set(costs, known)
  return known
}

/** @param {Recording} recording */
function callersIn(recording) {
  const { parent } = recording
  const above = (/** @type {Part} */ { node, us }) => ({ node: parent[node], us })
  return (/** @type {Group} */ group) => {
    group.next ??= groups(recording, group.parts.map(above))
    return group.next
  }
}

/** @param {Recording} recording @param {Float64Array} total */
function calleesIn(recording, total) {
  return (/** @type {Group} */ group) => {
    group.next ??= groups(recording, callees(recording, total, group))
    return group.next
  }
}

/** @param {Recording} recording @param {Float64Array} total @param {Group} group */
function callees({ firstChild, nextSibling }, total, { parts }) {
  /** @type {Part[]} */
  const below = []
  for (const { node } of parts) {
    for (let child = firstChild[node]; child !== -1; child = nextSibling[child]) {
      if (total[child] > 0) below.push({ node: child, us: total[child] })
    }
  }
  return below
}

/** Joins the nodes of each function. @param {Recording} recording @param {Part[]} parts @returns {Group[]} */
function groups({ functions }, parts) {
  /** @type {Map<number, Group>} */
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

module.exports = { MAX_LEVELS, callTree, invertedTree, leftHeavy, inverted, sandwich }
