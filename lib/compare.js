'use strict'

// Compares two sets of runs, and decides whether rules are broken.

const { load } = require('./addon.js')
const { check, checkOptions } = require('./check.js')
const { SELECTION, checkInputs, checkSelection, parseResult } = require('./offline.js')
const { parseRule, evaluate } = require('./compare-rules.js')
const { allRunsOf } = require('./runs.js')

/** @typedef {import('../index.js').Comparison} Comparison */

/**
 * @param {string | string[]} base @param {string | string[]} head
 * @param {import('../index.js').CompareOptions} [options] @returns {Promise<Comparison>}
 */
async function compare(base, head, options = {}) {
  const sides = [checkInputs(base, 'base'), checkInputs(head, 'head')]
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
  const [baseRuns, headRuns] = sides.map((inputs) => inputs.flatMap(allRunsOf).map((run) => [run]))
  const found = await parseResult(() =>
    load().cpuProfCompare(baseRuns, headRuns, wanted, shares, selection),
  )
  return { ...found, rules: rules.map((rule) => evaluate(rule, found.rows)) }
}

module.exports = { compare }
