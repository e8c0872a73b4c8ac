'use strict'

// Waits while processes are recorded, and shows what is hot meanwhile.

const { nameOf } = require('../control/choose.js')
const { askStatus } = require('../control/client.js')
const { readStatus } = require('../control/status.js')
const { Follower } = require('../live/follower.js')
const { printStatus } = require('../terminal/output.js')
const { showProgress } = require('./progress.js')

/** @typedef {import('./record.js').Started} Started */
/**
 * @typedef {object} Wait
 * @property {number} forMs
 * @property {() => string[]} files returns those of the recordings
 * @property {boolean} [quiet]
 * @property {ReturnType<typeof import('./interruption.js').watchInterruption>} interruption
 */

/** Time between two looks at the processes and their files. */
const LOOK_MS = 1000
/** What the functions shown are of. */
const SECONDS = 10
const FUNCTIONS = 3

/**
 * Waits until the time is over, a signal comes, or all processes have ended. Returns the recordings
 * that still run.
 * @param {Started[]} started @param {Wait} wait
 */
async function waitForEnd(started, { forMs, files, quiet, interruption }) {
  const beganMs = performance.now()
  const display = showProgress(
    started.map(({ target }) => nameOf(target)),
    forMs,
    quiet,
  )
  const follower = new Follower(async () => files())
  let running = started
  let isInterrupted = false
  const interrupted = interruption.happened.then(() => {
    isInterrupted = true
  })
  while (!isInterrupted && running.length > 0) {
    const leftMs = forMs - (performance.now() - beganMs)
    if (leftMs <= 0) break
    await Promise.race([interrupted, sleep(Math.min(LOOK_MS, leftMs))])
    if (isInterrupted) break
    running = (await Promise.all(running.map((one) => goesOn(one, display.end)))).flat()
    const elapsedMs = performance.now() - beganMs
    if (elapsedMs < forMs && !quiet) display.update(elapsedMs, await look(follower))
  }
  display.end()
  return running
}

/** Returns a recording unless it has ended, which is said. @param {Started} started @param {() => void} beforeLine */
async function goesOn(started, beforeLine) {
  const { target, status } = started
  const ended = (/** @type {string} */ how) => {
    beforeLine()
    printStatus(`${nameOf(target)} ${how}; what was recorded is kept`)
    return []
  }
  try {
    const { recording } = readStatus(await askStatus(target.socket))
    if (recording?.sinceMs === status.recording?.sinceMs) return [started]
    return ended('is no longer recorded: somebody else ended the recording')
  } catch (error) {
    // One that does not answer in time can still be recorded.
    return /** @type {any} */ (error).code === 'gone' ? ended('has ended') : [started]
  }
}

/** Returns what the files show of the last seconds; undefined if they show nothing. @param {Follower} follower */
async function look(follower) {
  try {
    return await follower.look({ seconds: SECONDS, by: 'function', limit: FUNCTIONS })
  } catch {
    return undefined
  }
}

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

module.exports = { waitForEnd }
