'use strict'

// Sums up the samples of a selection: times of states, nodes, functions, files, packages and owners.

const { WORK, PROGRAM, GC, IDLE, BLOCKED, WAITING, sampleAt } = require('./recording.js')

/** @typedef {import('./recording.js').Recording} Recording */
/**
 * @typedef {object} Span microseconds
 * @property {number} fromUs
 * @property {number} toUs
 *
 * @typedef {object} Items the times of the items of one sort, in microseconds
 * @property {Float64Array} self
 * @property {Float64Array} total
 * @property {Float64Array} blocked
 *
 * @typedef {ReturnType<typeof costsOf>} Costs
 */

/**
 * Returns the time of each leaf.
 * @param {Recording} recording @param {number[]} threads indices @param {Span} span
 */
function leafTimes({ leafNode, threads: all }, threads, { fromUs, toUs }) {
  const leafUs = new Float64Array(leafNode.length)
  for (const thread of threads) {
    const { times, leaves } = all[thread]
    for (let index = sampleAt(times, fromUs); index < leaves.length; index++) {
      if (times[index] >= toUs) break
      const us = Math.min(times[index + 1], toUs) - Math.max(times[index], fromUs)
      if (us > 0 && leaves[index] >= 0) leafUs[leaves[index]] += us
    }
  }
  return leafUs
}

/** @param {Recording} recording @param {number[]} threads indices @param {Span} span */
function costsOf(recording, threads, span) {
  const leafUs = leafTimes(recording, threads, span)
  const states = new Float64Array(6)
  for (const [leaf, state] of recording.leafState.entries()) states[state] += leafUs[leaf]
  const nodes = nodeTimes(recording, leafUs)
  return {
    ...{ leafUs, self: nodes.self, total: nodes.total },
    states: {
      javascript: states[WORK],
      native: states[PROGRAM],
      gc: states[GC],
      idle: states[IDLE],
      waiting: states[WAITING],
      blocked: states[BLOCKED],
    },
    /** The time that tables share out. */
    workUs: states[WORK] + states[PROGRAM] + states[GC],
    ...itemCosts(recording, nodes),
  }
}

/** Returns the times of the nodes. @param {Recording} recording @param {Float64Array} leafUs */
function nodeTimes({ parent, leafNode, leafState }, leafUs) {
  const self = new Float64Array(parent.length)
  const blocked = new Float64Array(parent.length)
  for (let leaf = 0; leaf < leafUs.length; leaf++) {
    if (leafState[leaf] === BLOCKED) blocked[leafNode[leaf]] += leafUs[leaf]
    else if (leafState[leaf] < IDLE) self[leafNode[leaf]] += leafUs[leaf]
  }
  const total = self.slice()
  const hasTime = self.map((us, node) => us + blocked[node])
  // Parents come before their children.
  for (let node = parent.length - 1; node >= 0; node--) {
    const above = parent[node]
    if (above === -1) continue
    total[above] += total[node]
    hasTime[above] += hasTime[node]
  }
  return { self, total, blocked, hasTime }
}

/**
 * Walks over the tree. An item that is on the stack already counts once.
 * @param {Recording} recording
 * @param {Items & { hasTime: Float64Array }} times of the nodes
 */
function itemCosts(recording, { self, total, blocked, hasTime }) {
  const { itemsOfNodes, firstChild, nextSibling, roots } = recording
  const { names, filePaths, packages, ownerNames } = recording
  const sorts = [names, filePaths, packages, ownerNames].map(({ length }, sort) => ({
    items: itemsOfNodes[sort],
    self: new Float64Array(length),
    total: new Float64Array(length),
    blocked: new Float64Array(length),
    onStack: new Int32Array(length),
  }))
  /** @param {number} node */
  const enter = (node) => {
    for (const costs of sorts) {
      const item = costs.items[node]
      if (item === -1) continue
      costs.self[item] += self[node]
      costs.blocked[item] += blocked[node]
      if (costs.onStack[item]++ === 0) costs.total[item] += total[node]
    }
  }
  /** @param {number} node */
  const leave = (node) => {
    for (const { items, onStack } of sorts) {
      if (items[node] !== -1) onStack[items[node]]--
    }
  }
  /** Nodes to enter; a node to leave has its bits turned. */
  const steps = [...roots]
  while (steps.length > 0) {
    const step = /** @type {number} */ (steps.pop())
    if (step < 0) {
      leave(~step)
    } else if (hasTime[step] > 0) {
      enter(step)
      steps.push(~step)
      for (let child = firstChild[step]; child !== -1; child = nextSibling[child]) steps.push(child)
    }
  }
  const [functionCosts, fileCosts, packageCosts, ownerCosts] = sorts
  return { functionCosts, fileCosts, packageCosts, ownerCosts }
}

/**
 * Returns the self times of lines, the longest first.
 * @param {Recording} recording @param {Costs} costs @param {number} [only] a function
 */
function lineCosts({ leafNode, leafLine, leafState, functions, lines }, { leafUs }, only) {
  /** @type {Map<string, { item: number, line: number, us: number }>} */
  const sums = new Map()
  for (let leaf = 0; leaf < leafUs.length; leaf++) {
    const item = functions[leafNode[leaf]]
    const isWanted = leafState[leaf] === WORK && (only === undefined || item === only)
    if (leafUs[leaf] === 0 || !isWanted || lines[item] === 0) continue
    const line = leafLine[leaf]
    const key = `${item}:${line}`
    const sum = sums.get(key) ?? { item, line, us: 0 }
    sum.us += leafUs[leaf]
    sums.set(key, sum)
  }
  return [...sums.values()].sort((a, b) => b.us - a.us)
}

/**
 * Returns callers and callees of a function with the times of the calls. A caller of -1 is the event
 * loop.
 * @param {Recording} recording @param {Costs} costs @param {number} item
 */
function callsOf({ functions, files, parent }, { total }, item) {
  /** @type {Map<number, number>} */
  const callers = new Map()
  /** @type {Map<number, number>} */
  const callees = new Map()
  /** @param {Map<number, number>} sums @param {number} key @param {number} us */
  const add = (sums, key, us) => sums.set(key, (sums.get(key) ?? 0) + us)
  for (let node = 0; node < parent.length; node++) {
    if (total[node] === 0) continue
    const above = parent[node]
    const own = functions[node]
    const caller = above === -1 ? -1 : functions[above]
    // Recursion counts once.
    if (own === item) {
      if (!isBelow(node, item)) add(callers, caller, total[node])
    } else if (caller === item && files[own] !== -1 && !isBelow(node, own)) {
      add(callees, own, total[node])
    }
  }
  const sorted = (/** @type {Map<number, number>} */ sums) =>
    [...sums].map(([item, us]) => ({ item, us })).sort((a, b) => b.us - a.us)
  return { callers: sorted(callers), callees: sorted(callees) }

  /** Returns whether the function is on the stack above a node. @param {number} node @param {number} item */
  function isBelow(node, item) {
    for (let above = parent[node]; above !== -1; above = parent[above]) {
      if (functions[above] === item) return true
    }
    return false
  }
}

module.exports = { costsOf, lineCosts, callsOf }
