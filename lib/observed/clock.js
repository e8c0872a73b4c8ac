'use strict'

// The clock of the program's times.

const { performance } = require('node:perf_hooks')

/**
 * Returns the time of the clock of `process.hrtime` at which `performance.now()` was 0, microseconds.
 * @param {typeof process.hrtime} hrtime
 */
function clockOffsetUs(hrtime) {
  let [offsetUs, narrowestUs] = [0, Infinity]
  // The thread can stand still between two readings, so the closest ones count.
  for (let i = 0; i < 5; i++) {
    const beforeUs = timeUs(hrtime)
    const nowUs = performance.now() * 1e3
    const afterUs = timeUs(hrtime)
    if (afterUs - beforeUs >= narrowestUs) continue
    narrowestUs = afterUs - beforeUs
    offsetUs = (beforeUs + afterUs) / 2 - nowUs
  }
  return offsetUs
}

/** @param {typeof process.hrtime} hrtime */
function timeUs(hrtime) {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e6 + nanoseconds / 1e3
}

module.exports = { clockOffsetUs }
