'use strict'

// Runs a command several times, each run in a folder of its own, so that runs can be compared.

const fs = require('node:fs')
const path = require('node:path')
const { RUNS, variableOf } = require('../../lib/settings.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { formatCount, formatPath, formatTime, workingDirectory } = require('../terminal/format.js')
const { printStatus, fail } = require('../terminal/output.js')
const { quoteAll, quotePath } = require('../terminal/shell.js')
const { endAs } = require('./watch/child.js')
const { newDirName } = require('./prepare/output-dir.js')
const { record } = require('./record.js')

/** @typedef {import('./prepare/plan.js').Options & Record<string, any>} Options */
/** @typedef {import('./watch/child.js').Ending} Ending */

/** The folder of a run that does not count, within the folder of the runs. */
const WARMUP = '.warmup'

/** @param {string[]} command @param {Options} options */
async function repeatRun(command, { repeat = 1, warmup = 0, dir, ...options }) {
  const folder = path.resolve(
    dir || process.env[variableOf('dir')] || path.join(RUNS, newDirName()),
  )
  const problem = problemOfFolder(folder)
  if (problem !== undefined) return fail(problem, WRONG_USAGE)
  /** @type {Ending | undefined} */
  let failed
  for (let number = 1 - warmup; number <= repeat; number++) {
    const ending = await recordRun(command, options, { folder, number, of: repeat })
    if (ending === undefined) return
    if (ending.signal !== null) return endAs(ending)
    if (ending.code !== 0) failed = ending
  }
  if (!options.quiet) printRuns(folder, repeat)
  if (failed !== undefined) endAs(failed)
}

/** Returns why runs cannot be written into a folder. @param {string} folder */
function problemOfFolder(folder) {
  if (!fs.existsSync(path.join(folder, runName(1)))) return undefined
  return (
    `${folder} has runs already, which would be mixed with the new ones; remove the folder, or ` +
    'choose another --dir'
  )
}

/**
 * Records one of several runs. Returns how the command ended; undefined if there is no recording, which
 * sets the exit code.
 * @param {string[]} command @param {Options} options
 * @param {{ folder: string, number: number, of: number, side?: string }} place a number below 1 is a
 *   run that does not count
 */
async function recordRun(command, options, { folder, number, of, side }) {
  const isWarmup = number < 1
  const finalDir = path.join(folder, isWarmup ? WARMUP : runName(number))
  const ending = await timed(
    `${side ? `${side}: ` : ''}${titleOf(number, of)}`,
    options.quiet,
    () => record(command, { ...options, finalDir, quiet: true }),
  )
  if (ending === undefined) return undefined
  const isRecorded = fs.existsSync(finalDir)
  if (isWarmup) fs.rmSync(finalDir, { recursive: true, force: true })
  if (!isRecorded && ending.signal === null) {
    const how = ending.code === 0 ? '' : ` and ended with ${ending.code}`
    fail(`the command left no recording${how}; see what cpu-prof run ${quoteAll(command)} says`)
    return undefined
  }
  return ending
}

/** @param {number} number @param {number} of */
function titleOf(number, of) {
  return number < 1 ? 'warm-up' : `run ${number} of ${of}`
}

/**
 * Says how long some work took.
 * @template T @param {string} title @param {boolean | undefined} quiet @param {() => Promise<T>} work
 */
async function timed(title, quiet, work) {
  const start = performance.now()
  const result = await work()
  if (!quiet) printStatus(`${title}: ${formatTime(performance.now() - start)}`)
  return result
}

/** Says where the runs are. @param {string} folder @param {number} count */
function printRuns(folder, count) {
  const place = formatPath(folder, workingDirectory())
  printStatus(
    `${formatCount(count, 'run')} in ${place} (to compare: cpu-prof compare ${quotePath(place)} <other runs>)`,
  )
}

/** @param {number} number from 1 */
const runName = (number) => `run-${number}`

module.exports = { repeatRun, recordRun, problemOfFolder }
