'use strict'

// `cpu-prof run`: records every Node process and thread under a command, once or several times.

const fs = require('node:fs')
const path = require('node:path')
const { RUNS, variableOf } = require('../../lib/settings.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { formatCount, formatPath, formatTime, workingDirectory } = require('../terminal/format.js')
const { printStatus, fail, failWith } = require('../terminal/output.js')
const { quoteAll, quotePath } = require('../terminal/shell.js')
const { endAs, isInterrupted } = require('./watch/child.js')
const { lakeOf } = require('./prepare/lake.js')
const { newDirName } = require('./prepare/output-dir.js')
const { record } = require('./record.js')

/** @typedef {import('./prepare/plan.js').Options & Record<string, any>} Options */
/** @typedef {import('./watch/child.js').Ending} Ending */
/** @typedef {{ command: string[], folder: string, name?: string }} Side a command with the folder of its runs */

/** The folder of a run that does not count, within the folder of the runs. */
const WARMUP = '.warmup'

/** @param {string[]} command @param {Options} options */
async function run(command, { repeat, warmup, lake: given, ...others }) {
  let options
  try {
    // `compare --runs` and other callers of `record` try things out, which are no runs of the fleet.
    options = { ...others, lake: lakeOf(given), isLakeGiven: given !== undefined }
  } catch (error) {
    return failWith(error)
  }
  if (repeat !== undefined || warmup !== undefined) {
    return repeatRun(command, { ...options, repeat, warmup })
  }
  const ending = await record(command, options)
  if (ending !== undefined) endAs(ending)
}

/** @param {string[]} command @param {Options} options */
async function repeatRun(command, { repeat = 1, warmup = 0, dir, ...options }) {
  const folder = path.resolve(
    dir || process.env[variableOf('dir')] || path.join(RUNS, newDirName()),
  )
  const endings = await recordRuns([{ command, folder }], repeat, warmup, options)
  if (endings === undefined) return
  if (!options.quiet) {
    const place = formatPath(folder, workingDirectory())
    const hint = `to compare: cpu-prof compare ${quotePath(place)} <other runs>`
    printStatus(`${formatCount(repeat, 'run')} in ${place} (${hint})`)
  }
  const failed = endings.filter(({ code }) => code !== 0).at(-1)
  if (failed !== undefined) endAs(failed)
}

/**
 * Records runs of commands in turn. Returns how they ended; undefined if a run left no recording or was
 * ended by a signal or Ctrl-C, which sets the exit code.
 * @param {Side[]} sides @param {number} runs @param {number} warmup runs before that do not count
 * @param {Options} options
 */
async function recordRuns(sides, runs, warmup, options) {
  const taken = sides.find(({ folder }) => fs.existsSync(path.join(folder, runName(1))))
  if (taken !== undefined) {
    fail(
      `${taken.folder} has runs already, which would be mixed with the new ones; remove the ` +
        'folder, or choose another --dir',
      WRONG_USAGE,
    )
    return undefined
  }
  /** @type {Ending[]} */
  const endings = []
  for (let number = 1 - warmup; number <= runs; number++) {
    const title = number < 1 ? 'warm-up' : `run ${number} of ${runs}`
    // A B B A: a steady drift of the machine is the same for both.
    for (const side of number % 2 === 0 ? [...sides].reverse() : sides) {
      const ending = await recordRun(side, number, title, options)
      if (ending === undefined) return undefined
      if (isInterrupted(ending) || options.stop?.aborted) {
        endAs(ending)
        return undefined
      }
      endings.push(ending)
    }
  }
  return endings
}

/**
 * Records one of several runs. Returns how the command ended; undefined if there is no recording, which
 * sets the exit code.
 * @param {Side} side @param {number} number below 1 for a run that does not count
 * @param {string} title @param {Options} options
 */
async function recordRun({ command, folder, name }, number, title, options) {
  const finalDir = path.join(folder, number < 1 ? WARMUP : runName(number))
  const start = performance.now()
  const lake = number < 1 ? undefined : options.lake
  const tellsLake = !options.quiet
  const ending = await record(command, { ...options, finalDir, quiet: true, lake, tellsLake })
  if (ending === undefined) return undefined
  const time = formatTime(performance.now() - start)
  if (!options.quiet) printStatus(`${name ? `${name}: ` : ''}${title}: ${time}`)
  const isRecorded = fs.existsSync(finalDir)
  if (number < 1) fs.rmSync(finalDir, { recursive: true, force: true, maxRetries: 3 })
  if (isInterrupted(ending) || options.stop?.aborted) return ending
  if (!isRecorded) {
    const how = ending.code === 0 ? '' : ` and ended with ${ending.code}`
    fail(`the command left no recording${how}; see what cpu-prof run ${quoteAll(command)} says`)
    return undefined
  }
  if (name && ending.code !== 0) {
    printStatus(`${name}: the command ended with ${ending.code}`)
  }
  return ending
}

/** @param {number} number from 1 */
const runName = (number) => `run-${number}`

module.exports = { run, recordRuns }
