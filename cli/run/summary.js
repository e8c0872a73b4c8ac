'use strict'

// Merges the recordings of a run into one trace, and prints a short report.

const fs = require('node:fs')
const path = require('node:path')
const { merge, report } = require('../../index.js')
const { load } = require('../../lib/addon.js')
const { MAX_ROWS } = require('../report/tables.js')
const { renderText } = require('../report/text.js')
const { withCleanup } = require('../terminal/cleanup.js')
const {
  formatBytes,
  formatCount,
  formatCounts,
  formatPath,
  workingDirectory,
} = require('../terminal/format.js')
const { printStatus, writeStderr, messageOf, printProblems } = require('../terminal/output.js')
const { progress } = require('../terminal/progress.js')
const { screen } = require('../terminal/screen.js')

/** Lines of the report, so that the end of the command's own output stays on the screen. */
const MAX_LINES = 44

/**
 * @typedef {object} Run
 * @property {string} dir absolute; the trace goes here
 * @property {string} recordingsDir absolute
 * @property {import('./child.js').Ending} ending
 * @property {string} [output] absolute
 * @property {boolean} merge
 * @property {boolean} [quiet]
 */

/** @param {string[]} recordings their files @param {Run} run */
async function summarizeRun(recordings, { dir, recordingsDir, ending, output, merge, quiet }) {
  const cwd = workingDirectory()
  const shownDir = formatPath(recordingsDir, cwd)
  // A recording can have several files.
  const count = load().cpuProfCountRecordings(recordings)
  const where = `${formatCount(count, 'recording')} in ${shownDir} (to merge: cpu-prof merge ${shownDir} -o trace.json)`
  if (!merge) {
    if (!quiet) printStatus(where)
    return
  }

  let merged
  try {
    const trace = chooseTrace(recordings, dir, output)
    const mergeAll = () => mergeRecordings(recordings, trace, ending)
    merged = await withCleanup(mergeAll, `interrupted before the trace was written: ${where}`)
  } catch (error) {
    printStatus(`no trace: ${messageOf(error)}; the recordings are in ${shownDir}`)
    return
  }
  printProblems(merged)
  if (quiet) return
  await printReport(recordings, cwd)
  printLiving(recordings)
  printTrace(merged, cwd)
}

/** @param {string[]} recordings @param {string} dir @param {string} [output] */
function chooseTrace(recordings, dir, output) {
  const trace = output ?? freeName(dir)
  const place = realPath(trace)
  if (recordings.some((file) => realPath(file) === place)) {
    throw new Error(`${trace} is one of the recordings`)
  }
  return trace
}

/** Returns a name that no trace of an earlier run has. @param {string} dir */
function freeName(dir) {
  for (let number = 1; ; number++) {
    const file = path.join(dir, number === 1 ? 'trace.json' : `trace.${number}.json`)
    if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return file
  }
}

/** Resolves the links in a file's folder; the file itself may be missing. @param {string} file */
function realPath(file) {
  try {
    return path.join(fs.realpathSync(path.dirname(file)), path.basename(file))
  } catch {
    // The folder does not exist yet.
    return file
  }
}

/** @param {string[]} recordings @param {string} output @param {import('./child.js').Ending} ending */
async function mergeRecordings(recordings, output, { pid, code, signal }) {
  const bar = progress(`merging ${formatCount(recordings.length, 'file')}`)
  try {
    const exit = pid === undefined ? undefined : { pid, code, signal }
    return await merge(recordings, output, { exit, onProgress: bar.update })
  } finally {
    bar.end()
  }
}

/** @param {string[]} recordings @param {string} cwd */
async function printReport(recordings, cwd) {
  try {
    const { columns, rows = MAX_LINES, colours } = screen(process.stderr)
    const lines = Math.min(MAX_LINES, rows - 4)
    const result = await report(recordings, { top: MAX_ROWS })
    writeStderr(`\n${renderText(result, { columns, lines, colours, cwd })}\n`)
  } catch (error) {
    printStatus(`no report: ${messageOf(error)}`)
  }
}

/** @param {import('../../index.js').MergeResult} merged @param {string} cwd */
function printTrace({ files, bytes, processes, threads }, cwd) {
  const what = `${formatBytes(bytes)}, ${formatCounts(processes, threads)}`
  for (const file of files) writeStderr(`trace: ${formatPath(file, cwd)} (${what})\n`)
  writeStderr('  open it in Chrome: F12, Performance, "Load trace" (the arrow up)\n')
  writeStderr(`  more of the report: cpu-prof report ${formatPath(files[0], cwd)}\n`)
}

/**
 * Names the processes that outlive the command, such as a daemon. They are recorded until they end,
 * and the trace has only what was written so far.
 * @param {string[]} recordings
 */
function printLiving(recordings) {
  /** @type {number[]} */
  const pids = load().cpuProfLivingRecorders(recordings)
  if (pids.length === 0) return
  const who =
    pids.length === 1
      ? 'a process outlives the command and is'
      : `${pids.length} processes outlive the command and are`
  printStatus(`${who} still recorded; the trace ends here: pid ${pids.join(', ')}`)
}

module.exports = { summarizeRun }
