'use strict'

// What the traces of labelled programs must show, the fixture labelled.js among them.

const assert = require('node:assert/strict')

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
 * Counts the samples of the fixture's functions, which have a number, by their labels, from an index on: those
 * with the label of this number, without a label, and with the label of another.
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

/**
 * Checks that nearly all samples of a function have these labels, and none has others. V8 takes a few
 * samples by itself, which have none.
 * @param {any} trace @param {string} name @param {Record<string, string> | undefined} expected
 */
function assertLabels(trace, name, expected) {
  const pattern = new RegExp(`^${name}$`)
  const samples = trace.samples.filter((/** @type {any} */ { node }) =>
    innermost(trace, node, pattern),
  )
  const labelled = samples.filter((/** @type {any} */ { labels }) => labels !== undefined)
  for (const { labels } of labelled) assert.deepEqual(labels, expected, name)
  assert.ok(samples.length >= 20, `${name} has ${samples.length} samples`)
  if (expected === undefined) assert.equal(labelled.length, 0, name)
  else assert.ok(labelled.length > samples.length * 0.8, `${labelled.length} of ${samples.length}`)
}

module.exports = { assertLabels, countLabels, innermost }
