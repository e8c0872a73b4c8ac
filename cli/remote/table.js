'use strict'

// Lays out the list of armed processes in columns.

const { formatPath, formatTime, printable } = require('../terminal/format.js')
const { cutEnd, cutLines, cutStart, displayWidth, padEnd } = require('../terminal/width.js')
const { folderOf, stateOf } = require('./state.js')

/** @typedef {import('../control/processes.js').Armed} Armed */

const HEADS = ['pid', 'label', 'package', 'state', 'since', 'folder']
/** The columns that give way where the screen is narrow, and what is left to each. */
const FLEXIBLE = new Map([
  [5, 10],
  [2, 8],
  [1, 10],
  [3, 10],
])
const GAP = 2

/**
 * Lays out a list of processes.
 * @param {Armed[]} processes @param {{ columns: number, cwd: string, nowMs: number }} view
 */
function renderProcesses(processes, { columns, cwd, nowMs }) {
  const rows = processes.map((one) => cellsOf(one, cwd, nowMs).map(printable))
  const widths = widthsOf([HEADS, ...rows], columns)
  const line = (/** @type {string[]} */ cells) =>
    cells
      .map((cell, index) => {
        // The end of a path tells more than its beginning.
        const cut = index === HEADS.length - 1 ? cutStart : cutEnd
        const text = cut(cell, widths[index])
        return index === 0 ? text.padStart(widths[0]) : padEnd(text, widths[index])
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  return cutLines([HEADS, ...rows].map(line), columns)
}

/** @param {Armed} armed @param {string} cwd @param {number} nowMs */
function cellsOf(armed, cwd, nowMs) {
  const { pid, status, packageName = '' } = armed
  const since = status === undefined ? '' : formatTime(Math.max(0, nowMs - status.armedMs))
  const folder = status === undefined ? '' : formatPath(folderOf(status), cwd)
  return [String(pid), status?.label ?? '', packageName, stateOf(armed, nowMs), since, folder]
}

/** Returns the width of each column. @param {string[][]} rows @param {number} columns of the screen */
function widthsOf(rows, columns) {
  const widths = HEADS.map((_, index) =>
    Math.max(...rows.map((cells) => displayWidth(cells[index]))),
  )
  const total = widths.reduce((sum, width) => sum + width + GAP, -GAP)
  let excess = total - columns
  for (const [index, least] of FLEXIBLE) {
    const cut = Math.max(0, Math.min(excess, widths[index] - least))
    widths[index] -= cut
    excess -= cut
  }
  return widths
}

module.exports = { renderProcesses }
