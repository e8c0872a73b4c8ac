'use strict'

// Lays out the list of armed processes in columns.

const { formatPath, formatTime, printable } = require('../terminal/format.js')
const { cutEnd, cutLines, cutStart, displayWidth, padEnd } = require('../terminal/width.js')
const { folderOf, stateOf } = require('./state.js')

/** @typedef {import('../control/processes.js').Armed} Armed */

/** The columns that give way where the screen is narrow, and what is left to each. */
const FLEXIBLE = new Map([
  ['folder', 10],
  ['package', 8],
  ['label', 10],
  ['state', 10],
])
const GAP = 2

/**
 * Lays out a list of processes, with their users if there are others than the user who looks.
 * @param {Armed[]} processes @param {{ columns: number, cwd: string, nowMs: number, user?: number }} view
 */
function renderProcesses(processes, { columns, cwd, nowMs, user }) {
  const hasUsers = processes.some(({ socket }) => socket.user !== user)
  const users = hasUsers ? ['user'] : []
  const heads = ['pid', ...users, 'label', 'package', 'state', 'since', 'folder']
  const rows = processes.map((one) => cellsOf(one, cwd, nowMs, hasUsers).map(printable))
  const widths = widthsOf([heads, ...rows], columns)
  const line = (/** @type {string[]} */ cells) =>
    cells
      .map((cell, index) => {
        // The end of a path tells more than its beginning.
        const cut = index === heads.length - 1 ? cutStart : cutEnd
        const text = cut(cell, widths[index])
        return index === 0 ? text.padStart(widths[0]) : padEnd(text, widths[index])
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  return cutLines([heads, ...rows].map(line), columns)
}

/** @param {Armed} armed @param {string} cwd @param {number} nowMs @param {boolean} hasUsers */
function cellsOf(armed, cwd, nowMs, hasUsers) {
  const { pid, socket, status, packageName = '' } = armed
  const users = hasUsers ? [String(socket.user)] : []
  const since = status === undefined ? '' : formatTime(Math.max(0, nowMs - status.armedMs))
  const folder = status === undefined ? '' : formatPath(folderOf(status), cwd)
  const program = [status?.label ?? '', packageName]
  return [String(pid), ...users, ...program, stateOf(armed, nowMs), since, folder]
}

/** Returns the width of each column. @param {string[][]} rows the heads first @param {number} columns of the screen */
function widthsOf(rows, columns) {
  const [heads] = rows
  const widths = heads.map((_, index) =>
    Math.max(...rows.map((cells) => displayWidth(cells[index]))),
  )
  const total = widths.reduce((sum, width) => sum + width + GAP, -GAP)
  let excess = total - columns
  for (const [head, least] of FLEXIBLE) {
    const index = heads.indexOf(head)
    const cut = Math.max(0, Math.min(excess, widths[index] - least))
    widths[index] -= cut
    excess -= cut
  }
  return widths
}

module.exports = { renderProcesses }
