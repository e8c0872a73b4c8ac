'use strict'

// Bounds the values of the label that requests get: anyone can ask a server for any path.

/** The most different values of a thread. */
const MAX_VALUES = 1000

/** What stands for the values that come later. */
const OTHER = '(other)'

/** @type {Set<string>} */
const values = new Set()

/** Returns a value, or what stands for the values that are too many. @param {string} value */
function bounded(value) {
  if (values.has(value)) return value
  if (values.size >= MAX_VALUES) return OTHER
  values.add(value)
  return value
}

module.exports = { bounded }
