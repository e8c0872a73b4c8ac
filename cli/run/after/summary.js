'use strict'

// Prints what a run recorded: the report, the places of the files, and the page for a browser.

const path = require('node:path')
const { report } = require('../../../index.js')
const { headersOf } = require('../prepare/recordings-dir.js')
const { MAX_ROWS } = require('../../report/tables.js')
const { renderText } = require('../../report/text.js')
const {
  formatBytes,
  formatCount,
  formatCounts,
  formatPath,
  printable,
} = require('../../terminal/format.js')
const { printError, printStatus, writeStderr } = require('../../terminal/output.js')
const { screen } = require('../../terminal/width.js')
const { quotePath } = require('../../terminal/shell.js')

/** @typedef {{ sourceMaps: boolean, symbols?: string[] }} Reading */

/** Lines of the report, so that the end of the command's own output stays on the screen. */
const MAX_LINES = 44

/** Says how many recordings are in a place. @param {number} count of recordings, which can have several files @param {string} place */
function describeRecordings(count, place) {
  return `${formatCount(count, 'recording')} in ${place} (to merge: cpu-prof merge ${quotePath(place)} -o trace.json)`
}

/**
 * Prints the report.
 * @param {string[]} recordings @param {string} cwd @param {Reading} options
 * @param {string[]} printedNotes the notes that the user has seen
 */
async function printReport(recordings, cwd, { sourceMaps, symbols }, printedNotes) {
  try {
    const { columns, rows = MAX_LINES, colours } = screen(process.stderr)
    const lines = Math.min(MAX_LINES, rows - 4)
    const result = await report(recordings, { top: MAX_ROWS, sourceMaps, symbols })
    for (const note of result.notes) if (!printedNotes.includes(note)) printStatus(note)
    writeStderr(`\n${renderText(result, { columns, lines, colours, cwd })}\n`)
  } catch (error) {
    printError(error, { before: 'no report: ' })
  }
}

/**
 * Writes the page for a browser, if one is wanted.
 * @param {string[]} recordings @param {string} cwd
 * @param {Reading & { html?: string, quiet?: boolean }} options
 */
async function writePage(recordings, cwd, { html, quiet, sourceMaps, symbols }) {
  if (html === undefined) return
  const { pageData } = require('../../../lib/offline.js')
  const { writeHtml } = require('../../report/html.js')
  try {
    await writeHtml(html, () => pageData(recordings, { sourceMaps, symbols }))
    if (!quiet) writeStderr(`page: ${printable(formatPath(html, cwd))}\n`)
  } catch (error) {
    printError(error, { before: 'no page: ' })
  }
}

/** Says where the trace is. @param {import('../../../index.js').MergeResult} merged @param {string} cwd */
function printTrace({ files, bytes, processes, threads }, cwd) {
  const what = `${formatBytes(bytes)}, ${formatCounts(processes, threads)}`
  for (const file of files) writeStderr(`trace: ${printable(formatPath(file, cwd))} (${what})\n`)
  writeStderr('  open it in Chrome: F12, Performance, "Load trace" (the arrow up)\n')
  writeStderr(`  more of the report: cpu-prof report ${quotePath(formatPath(files[0], cwd))}\n`)
}

/**
 * Names the processes that outlive the command, such as a daemon. They are recorded until they end,
 * and the trace has only what was written so far.
 * @param {import('../prepare/recordings-dir.js').Header[]} living what grew before the merge @param {string} cwd
 */
function printLiving(living, cwd) {
  if (living.length === 0) return
  const growing = headersOf(living.map(({ file }) => file)).filter(({ isGrowing }) => isGrowing)
  const pids = [...new Set(growing.map(({ pid }) => pid))]
  if (pids.length === 0) return
  const who =
    pids.length === 1
      ? 'a process outlives the command and is'
      : `${pids.length} processes outlive the command and are`
  const where = formatPath(path.dirname(living[0].file), cwd)
  printStatus(`${who} still recorded in ${where}; the trace ends here: pid ${pids.join(', ')}`)
}

module.exports = { describeRecordings, printReport, printTrace, printLiving, writePage }
