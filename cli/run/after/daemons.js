'use strict'

// Waits for the recordings of processes that have started as the command ended.

// Their preload is ahead, and the run has to know them before it ends.

const { setTimeout } = require('node:timers/promises')
const { TRACE } = require('../../../lib/settings.js')
const { isAlive } = require('../../system/index.js')
const { runsNoProgram } = require('./missing.js')
const { recordedProcesses } = require('./recorded.js')

/** @typedef {import('../watch/watch.js').Seen} Seen */
/** @typedef {import('../prepare/recordings-dir.js').Header} Header */

/** A process that is older than this has its recording, or gets none. A new one is waited for as long. */
const LATE_MS = 1000
/** Time between two looks. */
const PAUSE_MS = 20

/**
 * Returns the recordings, with those of the new processes. A process that got none in that time is marked.
 * @param {Seen[]} nodes that were seen @param {Header[]} recordings @param {() => Header[]} list
 */
async function waitForDaemons(nodes, recordings, list) {
  let found = recordings
  // A `.cpuprofile` is written at the end.
  const isStreamed = recordings.every(({ file }) => file.endsWith(TRACE))
  let late = nodes.filter(
    ({ node, isRunning, lifeMs }) =>
      isStreamed &&
      isRunning &&
      lifeMs < LATE_MS &&
      node.run === 'this' &&
      !runsNoProgram(node.words),
  )
  const untilMs = performance.now() + LATE_MS
  for (;;) {
    const { find } = recordedProcesses(found)
    late = late.filter(
      ({ pid, node, startMs }) => find(node.namespacePid, startMs) === undefined && isAlive(pid),
    )
    if (late.length === 0 || performance.now() > untilMs) break
    await setTimeout(PAUSE_MS)
    found = list()
  }
  for (const one of late) one.hasNone = true
  return found
}

module.exports = { waitForDaemons }
