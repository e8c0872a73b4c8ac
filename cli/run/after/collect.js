'use strict'

// Collects the recordings of a run: merges them into one trace, and moves or removes their files.

const fs = require('node:fs')
const { merge } = require('../../../index.js')
const { TRACE } = require('../../../lib/settings.js')
const { withCleanup } = require('../../terminal/cleanup.js')
const { formatCount, formatPath, workingDirectory } = require('../../terminal/format.js')
const { printError, printStatus, writeStderr, printProblems } = require('../../terminal/output.js')
const { progress } = require('../../terminal/progress.js')
const { createFolder } = require('../prepare/output-dir.js')
const { moveFiles, removeFiles } = require('./recording-files.js')
const {
  describeRecordings,
  printLiving,
  printReport,
  printTrace,
  writePage,
} = require('./summary.js')
const { hiddenName, nameTrace } = require('./trace-name.js')

/** @typedef {import('../prepare/recordings-dir.js').Header} Header */
/**
 * How a run ended.
 * @typedef {object} End
 * @property {import('../watch/child.js').Ending} ending
 * @property {string} missing text about Node processes without a recording, empty if there are none
 */
/** @typedef {import('../prepare/plan.js').Options & import('../prepare/plan.js').Plan & End} Run */

/** Collects what a run recorded, and says what it was. @param {Header[]} all recordings @param {Run} run */
async function collectRun(all, run) {
  const { finalDir, merge, quiet, output } = run
  const cwd = workingDirectory()
  const chosen = oneForEachThread(all)
  const recordings = chosen.map(({ file }) => file)
  const living = chosen.filter(({ isGrowing }) => isGrowing)
  const complete = all.filter((header) => !living.includes(header)).map(({ file }) => file)
  // The segments of a recording count once.
  const count = new Set(chosen.map(({ recording, file }) => recording ?? file)).size
  if (!merge) {
    await writePage(recordings, cwd, run)
    await addToLake(recordings, run)
    const place = formatPath(moveToFinalDir(complete, run), cwd)
    if (!quiet) {
      printStatus(describeRecordings(count, place))
      writeStderr(run.missing)
      printLiving(living, cwd)
    }
    return
  }

  let merged
  try {
    if (output === undefined) createFolder(finalDir)
    const trace = output ?? hiddenName(finalDir)
    checkTrace(trace, recordings)
    const mergeAll = () => mergeRecordings(recordings, trace, run)
    const where = describeRecordings(count, formatPath(run.recordingsDir.path, cwd))
    merged = await withCleanup(mergeAll, `interrupted before the trace was written: ${where}`)
    if (output === undefined) merged.files = [nameTrace(trace)]
  } catch (error) {
    await addToLake(recordings, run)
    const place = formatPath(moveToFinalDir(complete, run), cwd)
    printError(error, { before: 'no trace: ', after: `; the recordings are in ${place}` })
    return
  }
  printProblems(merged)
  if (!quiet) {
    if (!run.brief) await printReport(recordings, cwd, run, merged.notes)
    writeStderr(run.missing)
    printLiving(living, cwd)
    if (!run.brief) printTrace(merged, cwd)
  }
  await writePage(recordings, cwd, run)
  await addToLake(recordings, run)
  removeMerged(recordings, complete, merged, run)
}

/** Adds the run to a lake, if one is named. Never throws. @param {string[]} recordings files @param {Run} run */
async function addToLake(recordings, run) {
  if (run.lake === undefined) return
  const { loadHook } = require('../../../lib/packages.js')
  // It was found before the command began.
  await loadHook('fleet').afterRun(recordings, run)
}

/** Returns the files to merge: with both formats, each thread has a file of either kind. @param {Header[]} all */
function oneForEachThread(all) {
  const traces = all.filter(({ file }) => file.endsWith(TRACE))
  return traces.length > 0 ? traces : all
}

/**
 * Moves complete files out of a temporary folder. Returns the folder where the recordings are afterwards.
 * @param {string[]} files @param {Run} run
 */
function moveToFinalDir(files, { finalDir, recordingsDir, isHidden }) {
  if (!isHidden || files.length === 0) return recordingsDir.path
  try {
    moveFiles(files, recordingsDir.path, finalDir)
    return finalDir
  } catch (error) {
    printError(error, { before: `the recordings cannot be moved into ${finalDir}: ` })
    return recordingsDir.path
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
    isWhole && !run.keepRecordings && file.endsWith(TRACE) && recordings.includes(file)
  removeFiles(complete.filter(isRedundant), run.recordingsDir.path)
  moveToFinalDir(
    complete.filter((file) => !isRedundant(file)),
    run,
  )
}

/** Throws if the trace would replace a recording. @param {string} trace @param {string[]} recordings */
function checkTrace(trace, recordings) {
  const place = identityOf(trace)
  if (place !== undefined && recordings.some((file) => identityOf(file) === place)) {
    throw new Error(`${trace} is one of the recordings`)
  }
}

/**
 * Returns what a file has in common with itself under other paths: links, and on some systems names in
 * another case, lead to the same file.
 * @param {string} file
 */
function identityOf(file) {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${stat.dev} ${stat.ino}`
}

/** Merges the recordings into a trace, with the command's ending. @param {string[]} recordings @param {string} output @param {Run} run */
async function mergeRecordings(recordings, output, { ending, sourceMaps, symbols }) {
  const { pid, code, signal } = ending
  const bar = progress(`merging ${formatCount(recordings.length, 'file')}`)
  try {
    const exit = pid === undefined ? undefined : { pid, code, signal }
    return await merge(recordings, output, { exit, sourceMaps, symbols, onProgress: bar.update })
  } finally {
    bar.end()
  }
}

module.exports = { collectRun }
