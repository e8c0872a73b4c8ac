'use strict'

// What a recorded trace must show of work whose CPU time is known.

const assert = require('node:assert/strict')
const { SEEN_MS } = require('../fixtures/spin.js')

/** The shortest CPU time of which a share can be asserted. */
const SHARE_MS = 1000

/** @typedef {{ totalMs: (test: (frame: any) => boolean) => number, label?: string, file?: string }} Recorded a trace, as readTrace() returns it */

/** Checks that a function was on a stack. It works as spin() does, or for {@link SEEN_MS} of CPU time. @param {Recorded} trace @param {string} name */
function assertSeen(trace, name) {
  const { totalMs, label, file } = trace
  assert.ok(totalMs(isNamed(name)) > 0, `${name} is not in ${label ?? file}`)
}

/**
 * Checks that `work` has half of the time that it worked: a thread that stands still has more.
 * @param {Recorded} trace @param {number} workedMs CPU time of the thread
 */
function assertWorked(trace, workedMs) {
  assert.ok(workedMs >= SHARE_MS, `${workedMs} ms are too short for a share`)
  const ms = trace.totalMs(isNamed('work'))
  assert.ok(ms > workedMs / 2, `work has ${ms} of ${workedMs} ms in ${trace.label ?? trace.file}`)
}

/** Checks that both threads of the fixture two-threads.js are recorded. @param {any[]} traces */
function assertTwoThreads(traces) {
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1],
  )
  for (const trace of traces) {
    assert.ok(trace.ended)
    assertSeen(trace, 'spin')
  }
}

/** @param {string} name */
const isNamed = (name) => (/** @type {any} */ frame) => frame.functionName === name

module.exports = { assertSeen, assertTwoThreads, assertWorked, SEEN_MS, SHARE_MS }
