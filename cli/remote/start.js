'use strict'

// `cpu-prof start`: starts recordings of processes that run.

const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { nameOf } = require('../control/choose.js')
const { askStart } = require('../control/client.js')
const { readStatus } = require('../control/status.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { formatPath, formatTime, workingDirectory } = require('../terminal/format.js')
const { fail, printStatus } = require('../terminal/output.js')
const { askAll } = require('./ask-all.js')
const { folderOf } = require('./state.js')
const { findTargets } = require('./targets.js')

/** @typedef {import('../control/processes.js').Armed} Armed */

/**
 * @param {string[]} words
 * @param {{ for?: number, dir?: string, settings: Record<string, string> } & import('./targets.js').Options} options
 */
async function start(words, { for: forMs, dir, settings: given, ...options }) {
  // The folder that this process means, not the other one.
  const settings = dir === undefined ? given : { ...given, dir: path.resolve(dir) }
  const problem = settingsProblem(settings)
  if (problem !== undefined) return fail(problem, WRONG_USAGE)
  const targets = await findTargets(words, options, true)
  const request = { by: `cpu-prof start (pid ${process.pid})`, settings, forMs }
  const started = await startAll(targets, () => request)
  for (const { target, status } of started) {
    const place = formatPath(folderOf(status), workingDirectory())
    const end = forMs === undefined ? '' : ` for ${formatTime(forMs)}`
    printStatus(`recording ${nameOf(target)}${end}, into ${place}`)
  }
}

/**
 * Starts recordings. Returns those that run, and says why others do not, which sets the exit code.
 * @param {Armed[]} targets @param {(target: Armed) => import('../control/client.js').StartRequest} requestFor
 */
function startAll(targets, requestFor) {
  const ask = async (/** @type {Armed} */ target) => ({
    target,
    status: readStatus(await askStart(target.socket, requestFor(target))),
  })
  return askAll(targets, ask, ' is not recorded')
}

/** Returns what is wrong with settings; undefined if nothing is. @param {Record<string, string>} settings */
function settingsProblem(settings) {
  return loadTools().cpuProfCheckSettings(settings) ?? undefined
}

module.exports = { start, startAll, settingsProblem }
