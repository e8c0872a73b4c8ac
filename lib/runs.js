'use strict'

// Which runs a folder has: what `cpu-prof run` wrote there, one run after the other.

const path = require('node:path')
const { loadTools } = require('./addon.js')

/**
 * The last run in a folder.
 * @typedef {object} LastRun
 * @property {string} path of its folder or trace
 * @property {number} count of all runs
 * @property {boolean} hasOthers whether the folder also has other recordings
 */

/** @param {string} folder @returns {{ runs: string[], hasOthers: boolean }} */
function runsIn(folder) {
  const { runs, hasOthers } = JSON.parse(loadTools().cpuProfRunsIn(folder))
  return { runs: below(folder, runs), hasOthers }
}

/** @param {string} folder @param {string[]} names */
const below = (folder, names) => names.map((name) => path.join(folder, name))

/** Returns the last of the runs in a folder; undefined if there is none. @param {string} input a path @returns {LastRun | undefined} */
function lastRun(input) {
  const { runs, hasOthers } = runsIn(input)
  const last = runs.at(-1)
  return last === undefined ? undefined : { path: last, count: runs.length, hasOthers }
}

/** Returns the runs of an input, the oldest first: those in a folder of runs, or the input itself. @param {string} input a path */
function allRunsOf(input) {
  const { runs } = runsIn(input)
  return runs.length > 0 ? runs : [input]
}

/** Returns the inputs that stand for everything in a folder. @param {string} input a path */
function allRuns(input) {
  return [...below(input, loadTools().cpuProfTracesOfRuns(input)), input]
}

/** Returns whether a folder has a recording, also in folders below. @param {string} folder */
function hasRecordings(folder) {
  return loadTools().cpuProfHasRecordings(folder)
}

module.exports = { lastRun, allRuns, allRunsOf, hasRecordings }
