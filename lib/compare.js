'use strict'

// Compares two sets of runs, and decides whether rules are broken.

const path = require('node:path')
const { loadTools } = require('./addon.js')
const { assertArgument, checkBoolean, checkOptions } = require('./check.js')
const { SELECTION, checkInputs, checkSelection, callAddon, parseResult } = require('./offline.js')
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
  checkBoolean('shares', shares)
  const texts = Array.isArray(failOn) ? failOn : [failOn]
  assertArgument(
    texts.every((text) => typeof text === 'string'),
    'failOn',
    'a rule, or an array of rules',
    failOn,
  )
  const rules = texts.map((text) => parseRule(text, shares))
  const wanted = rules.flatMap(({ kind, name }) => (name === undefined ? [] : [[kind, name]]))
  const selection = checkSelection(given)
  const [baseRuns, headRuns] = sides.map(runsOf)
  const found = await parseResult(() =>
    loadTools().cpuProfCompare(baseRuns, headRuns, wanted, shares, selection),
  )
  return { ...found, rules: rules.map((rule) => evaluate(rule, found.rows)) }
}

/**
 * Returns the data of a page that compares two inputs, as JSON.
 * @param {[string, string]} sides @param {import('../index.js').Selection} selection
 */
function comparePageData(sides, selection) {
  const checked = checkSelection(checkOptions(selection, SELECTION, 'compare()'))
  const [base, head] = sides.map((side) => runsOf([side]))
  const names = sides.map((side) => path.basename(path.resolve(side)))
  const isClear = names[0] !== names[1]
  const [baseName, headName] = [base, head].map(
    (runs, side) =>
      `${isClear ? names[side] : sides[side]} (${runs.length} ${runs.length === 1 ? 'run' : 'runs'})`,
  )
  return callAddon(() => loadTools().cpuProfComparePage(base, head, baseName, headName, checked))
}

/** Returns the runs of a side, each a list of inputs. @param {string[]} inputs */
function runsOf(inputs) {
  return inputs.flatMap(allRunsOf).map((run) => [run])
}

module.exports = { compare, comparePageData }
