'use strict'

// Makes the result of a recording of running processes: the trace, the report and the page.

const path = require('node:path')
const { merge } = require('../../index.js')
const { RUNS } = require('../../lib/settings.js')
const { hiddenName, nameTrace } = require('../run/after/trace-name.js')
const { printReport, printTrace, writePage } = require('../run/after/summary.js')
const {
  absolutePath,
  checkFolder,
  createFolder,
  newDirName,
} = require('../run/prepare/output-dir.js')
const { checkOutput } = require('../run/prepare/plan.js')
const { formatCount, workingDirectory } = require('../terminal/format.js')
const { STDOUT, fail, failWith, isStdout, printProblems } = require('../terminal/output.js')
const { progress } = require('../terminal/progress.js')

/**
 * @typedef {object} Wanted
 * @property {string} [output]
 * @property {string} [html]
 * @property {string} [dir]
 * @property {boolean} [keepRecordings]
 * @property {boolean} sourceMaps
 * @property {string[]} [symbols]
 * @property {boolean} [quiet]
 *
 * @typedef {ReturnType<typeof planResult>} Plan
 */

/** Decides where the result goes. Throws if it cannot go there. @param {Wanted} wanted */
function planResult({ output, html, dir }) {
  const toStdout = output !== undefined && isStdout(output)
  const finalDir = absolutePath(dir ?? path.join(RUNS, newDirName()), '--dir')
  if (output === undefined) checkFolder(finalDir)
  const recordings = { dir: finalDir }
  return {
    toStdout,
    finalDir,
    /** The folder that the user gave, absolute. */
    dir: dir === undefined ? undefined : finalDir,
    output: toStdout ? STDOUT : checkOutput('--output', output, recordings),
    html: checkOutput('--html', html, recordings),
  }
}

/**
 * Writes and prints the result. Returns whether it has all that the recordings have.
 * @param {string[]} recordings @param {Plan} plan @param {Wanted} options
 * @returns {Promise<boolean>}
 */
async function writeResult(recordings, { toStdout, finalDir, output, html }, options) {
  if (recordings.length === 0) {
    fail('nothing was recorded')
    return true
  }
  const { quiet, sourceMaps, symbols } = options
  const cwd = workingDirectory()
  const bar = progress(`merging ${formatCount(recordings.length, 'file')}`)
  let merged
  try {
    if (output === undefined) createFolder(finalDir)
    const trace = output ?? hiddenName(finalDir)
    const onProgress = quiet ? undefined : bar.update
    merged = await merge(recordings, trace, { sourceMaps, symbols, onProgress })
    if (output === undefined) merged.files = [nameTrace(trace)]
  } catch (error) {
    failWith(error, { before: 'no trace: ' })
    return false
  } finally {
    bar.end()
  }
  printProblems(merged)
  const view = { sourceMaps, symbols, html, quiet }
  if (!quiet) {
    await printReport(recordings, cwd, view, merged.notes)
    if (!toStdout) printTrace(merged, cwd)
  }
  await writePage(recordings, cwd, view)
  return merged.failed.length === 0
}

module.exports = { planResult, writeResult }
