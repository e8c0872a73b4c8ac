'use strict'

// The times of functions in reports, as formats have them that join functions of one name, file and line.

/** @typedef {{ self: number[], total: number }} FunctionTimes CPU and wall time, and total CPU time: microseconds */

/**
 * Returns the times of a report by `name file:line`, with the id of a text behind the file as in converted files.
 * @param {import('../../index.js').Report['functions']} functions
 */
function timesOf(functions) {
  /** @type {Record<string, FunctionTimes>} */
  const times = {}
  for (const each of functions) {
    const text = each.scriptId === undefined ? '' : ` VM${each.scriptId}`
    const key = `${each.name} ${each.file}${text}:${each.line}`
    times[key] ??= { self: [0, 0], total: 0 }
    const of = times[key]
    const us = (/** @type {number} */ ms) => Math.round(ms * 1000)
    of.self[0] += us(each.selfMs)
    of.self[1] += us(each.selfMs) + us(each.blockedMs) + us(each.waitingMs)
    of.total += us(each.totalMs)
  }
  return times
}

/** Returns whether a key is that of a state, which is no function in reports. @param {string} key */
const isState = (key) => /^\((program|idle|garbage collector)\) :0$/.test(key)

module.exports = { timesOf, isState }
