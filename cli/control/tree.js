'use strict'

// Finds the processes below a process, also those whose parents are no Node processes.

const { takeSnapshot } = require('../system/index.js')

/** @typedef {Map<number, number>} Parents the parent of each process, by process id */

/** Returns the parents of this machine's processes; none where the system does not tell. @returns {Parents} */
function readParents() {
  try {
    const { pids, readStat } = takeSnapshot()
    return new Map(pids.map((pid) => [pid, readStat(pid)?.parent ?? 0]))
  } catch {
    return new Map()
  }
}

/** Returns whether a process is below another one. @param {number} pid @param {number} root @param {Parents} parents */
function isBelow(pid, root, parents) {
  const seen = new Set([pid])
  for (let at = parents.get(pid); at; at = parents.get(at)) {
    if (at === root) return true
    // Ids that are used again can form a circle.
    if (seen.has(at)) return false
    seen.add(at)
  }
  return false
}

module.exports = { readParents, isBelow }
