'use strict'

// Chooses what a report reads: of the runs in a folder the last, unless all are wanted.

const { RUNS, variableOf } = require('../../lib/settings.js')
const { allRuns, hasRecordings, lastRun } = require('../../lib/runs.js')
const { fail, printStatus } = require('../terminal/output.js')

/**
 * Returns the inputs of a report. Without any, they are in the folder where `cpu-prof run` puts its
 * runs; none are returned if nothing is there, which sets the exit code.
 * @param {string[]} given @param {boolean} [all] whether all runs of a folder are wanted
 */
function chooseInputs(given, all = false) {
  if (given.length > 0) return all ? given.flatMap(allRuns) : given.map(chooseRun)
  const folder = process.env[variableOf('dir')] || RUNS
  if (!hasRecordings(folder)) {
    fail(
      `there is no run in ${folder}: record one with cpu-prof run <command>, or name files or ` +
        'folders: cpu-prof report <input…>',
    )
    return []
  }
  return all ? allRuns(folder) : [chooseFound(folder)]
}

/**
 * Returns the last run of a folder that has several, and says so: the sum of unrelated runs is rarely
 * what someone wants. Returns any other input unchanged.
 * @param {string} input
 */
function chooseRun(input) {
  const last = lastRun(input)
  if (last === undefined || last.count === 1) return input
  printStatus(describe(last))
  return last.path
}

/** Returns what to read of a folder that nobody has named, and says so. @param {string} folder */
function chooseFound(folder) {
  const last = lastRun(folder)
  printStatus(last === undefined ? `the recordings in ${folder}` : describe(last))
  return last?.path ?? folder
}

/** @param {import('../../lib/runs.js').LastRun} last */
function describe({ path, count, hasOthers }) {
  if (count === 1) {
    return `the only run: ${path}${hasOthers ? ' (and the recordings beside it: --all)' : ''}`
  }
  const rest = hasOthers ? 'all of them, and the recordings beside them' : 'all of them'
  return `the last of ${count} runs: ${path} (${rest}: --all)`
}

module.exports = { chooseInputs }
