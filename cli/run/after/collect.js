'use strict'

// Merges the recordings of a run into one trace, and prints a short report.

const fs = require('node:fs')
const path = require('node:path')
const { merge, report } = require('../../../index.js')
const { loadTools } = require('../../../lib/addon.js')
const { createFolder, moveFiles, removeFiles } = require('../prepare/output-dir.js')
const { hiddenName, nameTrace } = require('./trace-name.js')
const { MAX_ROWS } = require('../../report/tables.js')
const { renderText } = require('../../report/text.js')
const { withCleanup } = require('../../terminal/cleanup.js')
const {
  formatBytes,
  formatCount,
  formatCounts,
  formatPath,
  printable,
  workingDirectory,
} = require('../../terminal/format.js')
const { printStatus, writeStderr, messageOf, printProblems } = require('../../terminal/output.js')
const { progress } = require('../../terminal/progress.js')
const { screen } = require('../../terminal/screen.js')
const { quotePath } = require('../../terminal/shell.js')

/** Lines of the report, so that the end of the command's own output stays on the screen. */
const MAX_LINES = 44

/**
 * @typedef {object} Run
 * @property {string} dir absolute; the trace goes here, and recordings that stay
 * @property {string} recordingsDir absolute; the recordings are here
 * @property {string[]} files of the recordings, in all formats
 * @property {boolean} isHidden whether `recordingsDir` is a temporary folder
 * @property {import('../watch/child.js').Ending} ending
 * @property {string} [output] absolute
 * @property {string} [html] absolute
 * @property {string} missing text about Node processes without a recording, empty if there are none
 * @property {boolean} merge
 * @property {boolean} [keepRecordings]
 * @property {boolean} sourceMaps
 * @property {boolean} [quiet]
 */

/** @param {string[]} recordings their files @param {Run} run */
async function summarizeRun(recordings, run) {
  const { dir, merge, quiet, output } = run
  const cwd = workingDirectory()
  const living = recordings.filter(isLiving)
  const complete = run.files.filter((file) => !living.includes(file))
  const count = loadTools().cpuProfCountRecordings(recordings)
  if (!merge) {
    await writePage(recordings, cwd, run)
    const place = formatPath(bringHome(complete, run), cwd)
    if (!quiet) {
      printStatus(describe(count, place))
      writeStderr(run.missing)
      printLiving(living, cwd)
    }
    return
  }

  let merged
  try {
    if (output === undefined) createFolder(dir)
    const trace = output ?? hiddenName(dir)
    checkTrace(trace, recordings)
    const mergeAll = () => mergeRecordings(recordings, trace, run)
    const where = describe(count, formatPath(run.recordingsDir, cwd))
    merged = await withCleanup(mergeAll, `interrupted before the trace was written: ${where}`)
    if (output === undefined) merged.files = [nameTrace(trace)]
  } catch (error) {
    const place = formatPath(bringHome(complete, run), cwd)
    printStatus(`no trace: ${messageOf(error)}; the recordings are in ${place}`)
    return
  }
  printProblems(merged)
  if (!quiet) {
    await printReport(recordings, cwd, run, merged.notes)
    writeStderr(run.missing)
    printLiving(living, cwd)
    printTrace(merged, cwd)
  }
  await writePage(recordings, cwd, run)
  removeMerged(recordings, complete, merged, run)
}

/** @param {number} count of recordings, which can have several files @param {string} place */
function describe(count, place) {
  return `${formatCount(count, 'recording')} in ${place} (to merge: cpu-prof merge ${quotePath(place)} -o trace.json)`
}

/** Returns whether a process still records into a file. @param {string} file */
function isLiving(file) {
  return loadTools().cpuProfLivingRecorders([file]).length > 0
}

/**
 * Takes complete files out of a temporary folder. Returns the folder where the recordings are now.
 * @param {string[]} files @param {Run} run
 */
function bringHome(files, { dir, recordingsDir, isHidden }) {
  if (!isHidden || files.length === 0) return recordingsDir
  try {
    moveFiles(files, recordingsDir, dir)
    return dir
  } catch (error) {
    printStatus(`the recordings cannot be moved into ${dir}: ${messageOf(error)}`)
    return recordingsDir
  }
}

/**
 * Removes the recordings that the trace contains whole, so that a run is not stored twice.
 * @param {string[]} recordings @param {string[]} complete files
 * @param {import('../../../index.js').MergeResult} merged @param {Run} run
 */
function removeMerged(recordings, complete, merged, run) {
  const isWhole = merged.failed.length === 0
  // Someone who chose the format `.cpuprofile` wants these files.
  const isRedundant = (/** @type {string} */ file) =>
    isWhole && !run.keepRecordings && file.endsWith('.trace.json') && recordings.includes(file)
  removeFiles(complete.filter(isRedundant), run.recordingsDir)
  bringHome(
    complete.filter((file) => !isRedundant(file)),
    run,
  )
}

/** Throws if the trace would replace a recording. @param {string} trace @param {string[]} recordings */
function checkTrace(trace, recordings) {
  const place = realPath(trace)
  if (recordings.some((file) => realPath(file) === place)) {
    throw new Error(`${trace} is one of the recordings`)
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

/** @param {string[]} recordings @param {string} output @param {Run} run */
async function mergeRecordings(recordings, output, { ending, sourceMaps }) {
  const { pid, code, signal } = ending
  const bar = progress(`merging ${formatCount(recordings.length, 'file')}`)
  try {
    const exit = pid === undefined ? undefined : { pid, code, signal }
    return await merge(recordings, output, { exit, sourceMaps, onProgress: bar.update })
  } finally {
    bar.end()
  }
}

/**
 * @param {string[]} recordings @param {string} cwd @param {Run} run
 * @param {string[]} told the remarks that the user has seen
 */
async function printReport(recordings, cwd, { sourceMaps }, told) {
  try {
    const { columns, rows = MAX_LINES, colours } = screen(process.stderr)
    const lines = Math.min(MAX_LINES, rows - 4)
    const result = await report(recordings, { top: MAX_ROWS, sourceMaps })
    for (const note of result.notes) if (!told.includes(note)) printStatus(note)
    writeStderr(`\n${renderText(result, { columns, lines, colours, cwd })}\n`)
  } catch (error) {
    printStatus(`no report: ${messageOf(error)}`)
  }
}

/** Writes the page for a browser, if one is wanted. @param {string[]} recordings @param {string} cwd @param {Run} run */
async function writePage(recordings, cwd, { html, quiet, sourceMaps }) {
  if (html === undefined) return
  const { pageData } = require('../../../lib/offline.js')
  const { writeHtml } = require('../../report/html.js')
  try {
    await writeHtml(html, () => pageData(recordings, { sourceMaps }))
    if (!quiet) writeStderr(`page: ${printable(formatPath(html, cwd))}\n`)
  } catch (error) {
    printStatus(`no page: ${messageOf(error)}`)
  }
}

/** @param {import('../../../index.js').MergeResult} merged @param {string} cwd */
function printTrace({ files, bytes, processes, threads }, cwd) {
  const what = `${formatBytes(bytes)}, ${formatCounts(processes, threads)}`
  for (const file of files) writeStderr(`trace: ${printable(formatPath(file, cwd))} (${what})\n`)
  writeStderr('  open it in Chrome: F12, Performance, "Load trace" (the arrow up)\n')
  writeStderr(`  more of the report: cpu-prof report ${quotePath(formatPath(files[0], cwd))}\n`)
}

/**
 * Names the processes that outlive the command, such as a daemon. They are recorded until they end,
 * and the trace has only what was written so far.
 * @param {string[]} living the files that grow @param {string} cwd
 */
function printLiving(living, cwd) {
  /** @type {number[]} */
  const pids = loadTools().cpuProfLivingRecorders(living)
  if (pids.length === 0) return
  const who =
    pids.length === 1
      ? 'a process outlives the command and is'
      : `${pids.length} processes outlive the command and are`
  const where = formatPath(path.dirname(living[0]), cwd)
  printStatus(`${who} still recorded in ${where}; the trace ends here: pid ${pids.join(', ')}`)
}

module.exports = { summarizeRun }
