'use strict'

// What the traces of the fixture labelled.js must show.

/** @typedef {ReturnType<typeof import('./trace.js').readProfile>} Profile */

/**
 * Returns the name of the innermost function of a sample that matches.
 * @param {Profile} profile @param {any} node @param {RegExp} pattern @returns {string | undefined}
 */
function innermost({ nodes }, node, pattern) {
  for (let at = node; at !== undefined; at = nodes.get(at.parent)) {
    if (pattern.test(at.callFrame.functionName)) return at.callFrame.functionName
  }
  return undefined
}

/**
 * Counts the samples of functions with a number by their labels, from an index on: those with the label of
 * this number, without a label, and with the label of another.
 * @param {Profile} profile @param {number} [from]
 */
function countLabels(profile, from = 0) {
  const counts = { right: 0, none: 0, wrong: 0 }
  for (const { node, labels } of profile.samples.slice(from)) {
    const name = innermost(profile, node, /^f_\d+$/)
    if (name === undefined) continue
    if (labels === undefined) counts.none++
    else counts[labels.n === name.slice(2) ? 'right' : 'wrong']++
  }
  return counts
}

module.exports = { countLabels, innermost }
