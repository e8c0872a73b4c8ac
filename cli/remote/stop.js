'use strict'

// `cpu-prof stop`: ends recordings, and prints their files.

const { nameOf } = require('../control/choose.js')
const { askStop } = require('../control/client.js')
const { readStopped } = require('../control/status.js')
const { formatCount, formatTime, jsonText } = require('../terminal/format.js')
const { printPaths, printResult, printStatus } = require('../terminal/output.js')
const { askAll } = require('./ask-all.js')
const { findTargets } = require('./targets.js')

/** @typedef {import('../control/processes.js').Armed} Armed */

/** @param {string[]} words @param {{ json?: boolean } & import('./targets.js').Options} options */
async function stop(words, { json, ...options }) {
  const targets = await findTargets(words, options)
  const ended = await stopAll(targets)
  if (json)
    return printResult(
      jsonText(ended.map(({ target, stopped }) => ({ pid: target.pid, ...stopped }))),
    )
  for (const { target, stopped } of ended) {
    printStatus(`stopped ${nameOf(target)} after ${formatTime(stopped.durationMs)}`)
    if (stopped.unreached > 0) printStatus(unreachedText(stopped.unreached))
    printPaths(stopped.files)
  }
}

/** Ends recordings. Returns what they left, and says why others go on, which sets the exit code. @param {Armed[]} targets */
function stopAll(targets) {
  return askAll(targets, async (target) => ({
    target,
    stopped: readStopped(await askStop(target.socket)),
  }))
}

/** @param {number} threads */
function unreachedText(threads) {
  const which =
    threads === 1
      ? 'is blocked in native code; its file ends'
      : 'are blocked in native code; their files end'
  return `${formatCount(threads, 'thread')} ${which} when ${threads === 1 ? 'it goes' : 'they go'} on`
}

module.exports = { stop, unreachedText }
