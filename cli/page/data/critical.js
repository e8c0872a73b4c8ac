'use strict'

// Shares the time of the run among the threads that work at the same time.

const { BLOCKED, WAITING } = require('./recording.js')

/** @typedef {import('./recording.js').Recording} Recording */
/** @typedef {import('./recording.js').Thread} Thread */

/** The parts of the samples of each thread, once they were asked for. @type {WeakMap<Recording, Float32Array[]>} */
const known = new WeakMap()

/**
 * Returns the critical part of each sample's time, for each thread: microseconds.
 * @param {Recording} recording
 */
function sharedTime(recording) {
  const found = known.get(recording) ?? shareTime(recording)
  known.set(recording, found)
  return found
}

/** @param {Recording} recording */
function shareTime({ threads, leafState, compared }) {
  // The sides of a comparison did not run at the same time.
  if (compared) return threads.map(({ leaves }) => new Float32Array(leaves.length))
  // A thread that waits for a core has its share too, but no function gets that.
  const shares = (/** @type {number} */ leaf) => leaf >= 0 && leafState[leaf] <= WAITING
  const works = (/** @type {number} */ leaf) => leaf >= 0 && leafState[leaf] < WAITING
  const isBlocked = (/** @type {number} */ leaf) => leaf >= 0 && leafState[leaf] === BLOCKED
  const clock = sharedClock(changesOf(threads, shares), changesOf(threads, isBlocked))
  return threads.map((thread) => {
    const parts = new Float32Array(thread.leaves.length)
    addParts(parts, thread, works, clock.work)
    addParts(parts, thread, isBlocked, clock.waits)
    return parts
  })
}

/**
 * Returns when threads begin (+1) and end (-1) to do something, in the order of time.
 * @param {Thread[]} threads @param {(leaf: number) => boolean} does
 */
function changesOf(threads, does) {
  /** @type {{ us: number, by: number }[]} */
  const changes = []
  for (const { times, leaves } of threads) {
    let did = false
    for (let index = 0; index < leaves.length; index++) {
      const doesNow = does(leaves[index])
      if (doesNow !== did) changes.push({ us: times[index], by: doesNow ? 1 : -1 })
      did = doesNow
    }
    if (did) changes.push({ us: times[leaves.length], by: -1 })
  }
  return changes.sort((a, b) => a.us - b.us)
}

/**
 * @typedef {object} Clock runs slower the more threads share the time
 * @property {number[]} us moments
 * @property {number[]} sum microseconds of each thread's part until then
 */

/**
 * Returns a clock of the threads at work, and one of those that wait while none is at work.
 * @param {{ us: number, by: number }[]} work @param {{ us: number, by: number }[]} waits
 */
function sharedClock(work, waits) {
  const clocks = {
    work: /** @type {Clock} */ ({ us: [0], sum: [0] }),
    waits: /** @type {Clock} */ ({ us: [0], sum: [0] }),
  }
  let [atWork, waiting, workSum, waitSum, last] = [0, 0, 0, 0, 0]
  for (let [i, j] = [0, 0]; i < work.length || j < waits.length; ) {
    const isOfWork = j === waits.length || (i < work.length && work[i].us <= waits[j].us)
    const { us, by } = isOfWork ? work[i++] : waits[j++]
    if (us > last) {
      if (atWork > 0) workSum += (us - last) / atWork
      else if (waiting > 0) waitSum += (us - last) / waiting
      clocks.work.us.push(us)
      clocks.work.sum.push(workSum)
      clocks.waits.us.push(us)
      clocks.waits.sum.push(waitSum)
      last = us
    }
    if (isOfWork) atWork += by
    else waiting += by
  }
  return clocks
}

/**
 * Adds what a clock tells of each sample in which a thread does something.
 * @param {Float32Array} parts @param {Thread} thread @param {(leaf: number) => boolean} does
 * @param {Clock} clock
 */
function addParts(parts, { times, leaves }, does, { us, sum }) {
  let at = 0
  /** @param {number} time */
  const read = (time) => {
    while (at < us.length - 1 && us[at + 1] <= time) at++
    if (at === us.length - 1) return sum[at]
    const part = (time - us[at]) / (us[at + 1] - us[at])
    return sum[at] + part * (sum[at + 1] - sum[at])
  }
  for (let index = 0; index < leaves.length; index++) {
    if (!does(leaves[index])) continue
    const start = read(times[index])
    parts[index] = read(times[index + 1]) - start
  }
}

module.exports = { sharedTime }
