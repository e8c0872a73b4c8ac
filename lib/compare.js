'use strict'

// Compares two sets of runs, and decides whether rules are broken.

const { load } = require('./addon.js')
const { check, checkOptions, isPath } = require('./check.js')
const { SELECTION, checkSelection, parseResult } = require('./offline.js')
const { parseRule, evaluate } = require('./compare-rules.js')
const { allRunsOf } = require('./runs.js')

/** @typedef {import('../index.js').Comparison} Comparison */

/**
 * @param {string | string[]} base @param {string | string[]} head
 * @param {import('../index.js').CompareOptions} [options] @returns {Promise<Comparison>}
 */
async function compare(base, head, options = {}) {
  const sides = [checkRuns('base', base), checkRuns('head', head)]
  const given = checkOptions(options, ['failOn', 'shares', ...SELECTION], 'compare()')
  const { failOn = [], shares = false } = given
  check(typeof shares === 'boolean', 'shares', 'a boolean', shares)
  const texts = Array.isArray(failOn) ? failOn : [failOn]
  check(
    texts.every((text) => typeof text === 'string'),
    'failOn',
    'a rule, or an array of rules',
    failOn,
  )
  const rules = texts.map((text) => parseRule(text, shares))
  const wanted = rules.flatMap(({ kind, name }) => (name === undefined ? [] : [{ kind, name }]))
  const selection = checkSelection(given)
  const [baseRuns, headRuns] = sides.map((inputs) => runs(inputs).map((run) => [run]))
  const found = await parseResult(() =>
    load().cpuProfCompare(baseRuns, headRuns, wanted, shares, selection),
  )
  return { ...found, rules: rules.map((rule) => evaluate(rule, found.rows)) }
}

/** Returns the runs of a side, each a path: those of a folder of runs, or each input. @param {string[]} inputs */
function runs(inputs) {
  return inputs.flatMap(allRunsOf)
}

/** @param {string} argument @param {unknown} inputs @returns {string[]} */
function checkRuns(argument, inputs) {
  const paths = Array.isArray(inputs) ? inputs : [inputs]
  const allowed = 'a path, or an array of at least one path'
  check(paths.length > 0 && paths.every(isPath), argument, allowed, inputs)
  return paths
}

module.exports = { compare }
