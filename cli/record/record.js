'use strict'

// `cpu-prof record`: records running processes for a while, and reports where the time went.

const { nameOf } = require('../control/choose.js')
const { askStop } = require('../control/client.js')
const { readStopped } = require('../control/status.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { startAll, settingsProblem } = require('../remote/start.js')
const { unreachedText } = require('../remote/stop.js')
const { findTargets } = require('../remote/targets.js')
const { fail, failWith, printError, printStatus } = require('../terminal/output.js')
const { openFolder } = require('./folder.js')
const { watchInterruption } = require('./interruption.js')
const { printRemains } = require('./remains.js')
const { planResult, writeResult } = require('./result.js')
const { waitForEnd } = require('./wait.js')

/** The settings of the recordings' files, which no variable of a process may change. */
const FILES = { format: 'trace', name: 'CPU.%D.%H.%P.%T.%N' }
/** A recording ends by itself this long after its time, if this process is killed. */
const MARGIN_MS = 10_000

/**
 * @typedef {import('../remote/targets.js').Options & import('./result.js').Wanted & {
 *   for: number, settings: Record<string, string>
 * }} Options
 */

/** @param {string[]} words @param {Options} options */
async function record(words, { for: forMs, settings, ...options }) {
  let plan
  try {
    const problem = settingsProblem(settings)
    if (problem !== undefined) throw new Error(problem)
    plan = planResult(options)
  } catch (error) {
    return failWith(error, { exitCode: WRONG_USAGE })
  }
  const targets = await findTargets(words, options, true)
  if (targets.length === 0) return
  let folder
  try {
    folder = openFolder(targets, plan.dir, options.keepRecordings)
  } catch (error) {
    return failWith(error)
  }
  const interruption = watchInterruption(folder.keep)
  try {
    const { pathFor } = folder
    const started = await startAll(targets, (target) => ({
      by: `cpu-prof record (pid ${process.pid})`,
      settings: { ...settings, ...FILES, dir: pathFor(target) },
      forMs: forMs + MARGIN_MS,
    }))
    const running = started.filter(
      (one) => folder.hasFilesOf(one) || refuseFolder(one, folder.path),
    )
    if (running.length === 0) return
    const still = await waitForEnd(running, {
      ...options,
      forMs,
      interruption,
      files: folder.files,
    })
    interruption.endRecording()
    const areComplete = await stopAll(still)
    const isWhole = await writeResult(folder.recordings(running), plan, options)
    // A file that still grows would be written again if it was removed.
    if (!areComplete || !isWhole) folder.keep()
    if (!options.quiet) printRemains()
  } finally {
    folder.close()
    interruption.close()
  }
}

/** @typedef {Awaited<ReturnType<typeof startAll>>[number]} Started */

/** Ends the recordings. Returns whether all files are complete. @param {Started[]} running */
async function stopAll(running) {
  const areComplete = await Promise.all(
    running.map(async ({ target }) => {
      try {
        const { unreached } = readStopped(await askStop(target.socket))
        if (unreached > 0) printStatus(`${nameOf(target)}: ${unreachedText(unreached)}`)
        return unreached === 0
      } catch (error) {
        printError(error, { before: `${nameOf(target)}: `, after: '; what it has written is kept' })
        return /** @type {any} */ (error).code === 'gone'
      }
    }),
  )
  return areComplete.every(Boolean)
}

/** Ends a recording whose files are not where this process looks for them. @param {Started} started @param {string} folder */
function refuseFolder({ target }, folder) {
  askStop(target.socket).catch(() => {})
  fail(
    `${nameOf(target)} writes into ${folder}, but nothing appears there: the process has other files ` +
      '(a container?); use a --dir that both have, or run cpu-prof in the container',
  )
  return false
}

module.exports = { record }
