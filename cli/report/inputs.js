'use strict'

// Chooses what a report reads: of the runs in a folder the last, unless all are wanted.

const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { runsIn } = require('../../lib/offline.js')
const { RUNS, variableOf } = require('../../lib/settings.js')
const { fail, printStatus } = require('../terminal/output.js')

/**
 * Returns the inputs of a report. Without any, they are in the folder where `cpu-prof run` puts its
 * runs; none are returned if nothing is there, which sets the exit code.
 * @param {string[]} given @param {boolean} [all] whether all runs of a folder are wanted
 */
function chooseInputs(given, all = false) {
  const folder = process.env[variableOf('dir')] || RUNS
  if (given.length === 0 && !loadTools().cpuProfHasRecordings(folder)) {
    fail(
      `there is no run in ${folder}: record one with cpu-prof run <command>, or name files or ` +
        'folders: cpu-prof report <input…>',
    )
    return []
  }
  const inputs = given.length > 0 ? given : [folder]
  return all ? inputs.flatMap(allRuns) : inputs.map((input) => lastRun(input, given.length > 0))
}

/** Returns the inputs that stand for everything in a folder. @param {string} folder @returns {string[]} */
function allRuns(folder) {
  const names = loadTools().cpuProfTracesOfRuns(folder)
  return [...names.map((/** @type {string} */ name) => path.join(folder, name)), folder]
}

/**
 * Returns the last run of a folder that has several, and says so: the sum of unrelated runs is rarely
 * what someone wants. Returns any other input unchanged. What nobody has named is always told.
 * @param {string} input @param {boolean} isNamed
 */
function lastRun(input, isNamed) {
  const { runs, hasOthers } = runsIn(input)
  if (isNamed && runs.length < 2) return input
  const last = runs.at(-1)
  if (last === undefined) {
    printStatus(`the recordings in ${input}`)
    return input
  }
  if (runs.length === 1) {
    printStatus(`the only run: ${last}${hasOthers ? ' (and the recordings beside it: --all)' : ''}`)
  } else {
    const rest = hasOthers ? 'all of them, and the recordings beside them' : 'all of them'
    printStatus(`the last of ${runs.length} runs: ${last} (${rest}: --all)`)
  }
  return last
}

module.exports = { chooseInputs }
