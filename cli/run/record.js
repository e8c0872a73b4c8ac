'use strict'

// Records one run of a command, from its plan to what is said at the end.

const { WRONG_USAGE } = require('../exit-codes.js')
const { failToStart, runToEnd } = require('./watch/child.js')
const { planRun } = require('./prepare/plan.js')
const { createWatcher } = require('./watch/watch.js')
const { workingDirectory } = require('../terminal/format.js')
const { printStatus, writeStderr, fail, messageOf } = require('../terminal/output.js')

/** @typedef {import('./prepare/plan.js').Options} Options */
/** @typedef {import('./prepare/plan.js').Plan} Plan */
/** @typedef {import('./watch/descendants.js').Descendant} Descendant */

/**
 * Runs a command to its end, and records it. Returns how the command ended; undefined if it could not be
 * started, which sets the exit code.
 * @param {string[]} command @param {Options & Record<string, any>} options
 * @returns {Promise<import('./watch/child.js').Ending | undefined>}
 */
async function record(command, options) {
  let plan
  try {
    plan = planRun(command, options, process.env)
  } catch (error) {
    fail(messageOf(error), WRONG_USAGE)
    return undefined
  }
  // An outer run watches the processes of this one too.
  const watcher = options.quiet || plan.isNested ? undefined : createWatcher(plan.runDirs)
  let ending
  try {
    ending = await runToEnd(command, plan.env, (pid) => watcher?.begin(pid))
  } catch (error) {
    endRun(plan)
    failToStart(command[0], /** @type {NodeJS.ErrnoException} */ (error))
    return undefined
  }
  const nodes = watcher?.end() ?? []
  await collect(command[0], plan, ending, nodes, options)
  endRun(plan)
  if (!plan.isNested) offerRemains(options)
  return ending
}

/** Ends the run, and removes the folders that it leaves empty. @param {Plan} plan */
function endRun({ recordingsDir, end }) {
  recordingsDir.removeIfEmpty()
  end()
}

/** Offers what an earlier run left. Never throws. @param {Options} options */
function offerRemains({ quiet }) {
  if (quiet) return
  try {
    require('./after/remains.js').printRemains()
  } catch {
    // For example, the command removed this package.
  }
}

/**
 * Collects the recordings, and says what they are. Never throws, because the exit code is the command's.
 * @param {string} file the command's program @param {Plan} plan
 * @param {import('./watch/child.js').Ending} ending
 * @param {Descendant[]} nodes Node processes that were seen @param {Options} options
 */
async function collect(file, plan, ending, nodes, options) {
  const { finalDir, output, html, isHidden, isNested } = plan
  const { path: recordingsDir, listRecordings } = plan.recordingsDir
  try {
    const files = listRecordings()
    if (files.length === 0) {
      if (!options.quiet) printNothing(file, plan, nodes)
      return
    }
    if (isNested) return
    const missing = describeMissing(nodes, oneForEachThread(files))
    const { collectRun } = require('./after/collect.js')
    const dirs = { finalDir, recordingsDir, isHidden }
    const run = { ...options, ...dirs, files, output, html, ending, missing }
    await collectRun(oneForEachThread(files), run)
  } catch (error) {
    printStatus(`no trace: ${whyNone(error)}; the recordings are in ${recordingsDir}`)
  }
}

/** @param {unknown} error */
function whyNone(error) {
  const { code } = /** @type {NodeJS.ErrnoException} */ (error)
  return code === 'MODULE_NOT_FOUND' ? 'the command removed this package' : messageOf(error)
}

/** Returns the files to merge: with both formats, each thread has a file of either kind. @param {string[]} files */
function oneForEachThread(files) {
  const traces = files.filter((file) => file.endsWith('.trace.json'))
  return traces.length > 0 ? traces : files
}

/**
 * Says why there is no recording.
 * @param {string} file the command's program @param {Plan} plan @param {Descendant[]} nodes
 */
function printNothing(file, { finalDir, recordingsDir }, nodes) {
  if (recordingsDir.isGone()) {
    return printStatus(`the recordings' folder is gone: ${finalDir}`)
  }
  const nothing = 'no Node process was recorded'
  const missing = describeMissing(nodes, [])
  if (missing === '') {
    printStatus(`${nothing}: ${file} started none, or changed their NODE_OPTIONS`)
  } else {
    printStatus(nothing)
    writeStderr(missing)
  }
}

/**
 * Returns the text that names the Node processes without a recording. Never throws.
 * @param {Descendant[]} nodes that were seen @param {string[]} recordings files
 */
function describeMissing(nodes, recordings) {
  // Nothing more is loaded for a short command.
  if (nodes.length === 0) return ''
  try {
    const { missingText } = require('./after/missing-lines.js')
    return missingText(nodes, recordings, workingDirectory())
  } catch {
    // For example, the command removed this package.
    return ''
  }
}

module.exports = { record }
