'use strict'

// Finds the calls and the lines of functions, and where functions ran.

const { JAVASCRIPT, IDLE, sampleAt } = require('./recording.js')

/** @typedef {import('./recording.js').Recording} Recording */
/** @typedef {import('./costs.js').Costs} Costs */

/** More lines than any file has. */
const MAX_LINE = 2 ** 24

/**
 * Returns the self times of lines, the longest first.
 * @param {Recording} recording @param {Costs} costs @param {number} [only] a function
 */
function lineCosts({ leafNode, leafLine, leafState, functions, lines }, { leafUs }, only) {
  /** @type {Map<number, { item: number, line: number, us: number }>} */
  const sums = new Map()
  for (let leaf = 0; leaf < leafUs.length; leaf++) {
    if (leafUs[leaf] === 0 || leafState[leaf] !== JAVASCRIPT) continue
    const item = functions[leafNode[leaf]]
    if ((only !== undefined && item !== only) || lines[item] === 0) continue
    const line = leafLine[leaf]
    const key = item * MAX_LINE + line
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
function callsOf({ functions, itemsOfNodes, outermost, parent }, { total }, item) {
  /** @type {Map<number, number>} */
  const callers = new Map()
  /** @type {Map<number, number>} */
  const callees = new Map()
  /** @param {Map<number, number>} sums @param {number} key @param {number} us */
  const add = (sums, key, us) => sums.set(key, (sums.get(key) ?? 0) + us)
  const [isOutermost] = outermost
  const files = itemsOfNodes[1]
  for (let node = 0; node < parent.length; node++) {
    // Recursion counts once.
    if (total[node] === 0 || isOutermost[node] === 0) continue
    const own = functions[node]
    const caller = parent[node] === -1 ? -1 : functions[parent[node]]
    if (own === item) add(callers, caller, total[node])
    else if (caller === item && files[node] !== -1) add(callees, own, total[node])
  }
  const sorted = (/** @type {Map<number, number>} */ sums) =>
    [...sums].map(([item, us]) => ({ item, us })).sort((a, b) => b.us - a.us)
  return { callers: sorted(callers), callees: sorted(callees) }
}

/**
 * Returns for each leaf whether a wanted function is on its stack.
 * @param {Recording} recording @param {(item: number) => boolean} isWanted
 */
function leavesWith({ functions, parent, leafNode }, isWanted) {
  const isInside = new Uint8Array(parent.length)
  for (let node = 0; node < parent.length; node++) {
    const above = parent[node]
    const isBelow = above !== -1 && isInside[above] === 1
    isInside[node] = isBelow || isWanted(functions[node]) ? 1 : 0
  }
  return Uint8Array.from(leafNode, (node) => isInside[node])
}

/**
 * Returns the time that each thread spent in leaves, microseconds. Idle time does not count.
 * @param {Recording} recording @param {Uint8Array} isMarked whether a leaf counts
 * @param {import('./costs.js').Span} span
 */
function threadTimes({ threads, leafState }, isMarked, { fromUs, toUs }) {
  return threads.map(({ times, leaves }) => {
    let us = 0
    for (let index = sampleAt(times, fromUs); index < leaves.length; index++) {
      if (times[index] >= toUs) break
      const leaf = leaves[index]
      if (leaf < 0 || isMarked[leaf] === 0 || leafState[leaf] === IDLE) continue
      us += Math.max(0, Math.min(times[index + 1], toUs) - Math.max(times[index], fromUs))
    }
    return us
  })
}

module.exports = { lineCosts, callsOf, leavesWith, threadTimes }
