'use strict'

// Chooses the rows of a report's tables, for text and for Markdown.

const { formatPath, formatPlace, formatTime } = require('../terminal/format.js')
const { cutStart } = require('./width.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportProcess} Process */
/** @typedef {import('../../index.js').ReportThread} Thread */
/** @typedef {'function' | 'line' | 'file' | 'package' | 'thread'} By */
/** @typedef {'functions' | 'lines' | 'files' | 'packages'} Kind */
/** @typedef {'selfMs' | 'totalMs'} Time */

/**
 * @typedef {object} ThreadRow
 * @property {Thread} thread
 * @property {string} label can be cut
 * @property {string} end is never cut: it distinguishes processes of the same command
 * @property {boolean} isBelow whether the main thread of the same process is a row above
 */

/**
 * @typedef {object} CostTable
 * @property {string} title
 * @property {Kind} kind
 * @property {Time} time the order of the rows
 * @property {Cost[]} costs
 */

/** @typedef {import('../../index.js').ReportCost & { samples?: number }} Cost */

/** How many functions, lines, files or packages a report needs for any table. */
const MAX_ROWS = 200

/** Longest path shown after a process, in columns. */
const MAX_PLACE = 24

/** @param {import('../../index.js').ReportTimes} times */
const activeMs = ({ busyMs, gcMs, programMs }) => busyMs + gcMs + programMs

/**
 * Returns the busiest threads, in the order of their processes' starts.
 * @param {Report} report @param {number} count @param {string} cwd
 * @returns {{ rows: ThreadRow[], rest: number, restMs: number }}
 */
function threadRows({ processes }, count, cwd) {
  const all = processes.flatMap((process) => process.threads.map((thread) => ({ process, thread })))
  const busiest = [...all].sort((a, b) => activeMs(b.thread) - activeMs(a.thread))
  const chosen = new Set(busiest.slice(0, count))
  const hasMainRow = (/** @type {Process} */ process) =>
    [...chosen].some((row) => row.process === process && isMain(row.thread))
  const rows = all
    .filter((row) => chosen.has(row))
    .map(({ process, thread }) => {
      const { command, pid } = process
      const end = `${place(process, cwd)} (${pid})`
      if (isMain(thread)) return { thread, label: command, end, isBelow: false }
      if (hasMainRow(process)) return { thread, label: thread.name, end: '', isBelow: true }
      return { thread, label: `${command} ${thread.name}`, end, isBelow: false }
    })
  const rest = busiest.slice(count)
  const restMs = rest.reduce((sum, { thread }) => sum + activeMs(thread), 0)
  return { rows, rest: rest.length, restMs }
}

/** Returns the working directory, which can be all that distinguishes a monorepo's tasks. @param {Process} process @param {string} cwd */
function place(process, cwd) {
  if (process.cwd === undefined || process.cwd === cwd) return ''
  return ` · ${cutStart(formatPath(process.cwd, cwd), MAX_PLACE)}`
}

/** @param {Thread} thread */
function isMain(thread) {
  return thread.threadId === 0 || thread.name === 'main'
}

/** @param {Report} report @param {By} [by] the only table wanted @returns {CostTable[]} */
function costTables(report, by) {
  /** @param {Kind} kind @param {Time} time */
  const table = (kind, time) => ({
    title: `${kind}, by ${time === 'selfMs' ? 'self' : 'total'} time`,
    kind,
    time,
    costs: hottest(/** @type {import('../../index.js').ReportCost[]} */ (report[kind]), time),
  })
  if (by === 'thread') return []
  // A line has no total time: V8 tells the line on top of the stack only.
  if (by === 'line') return [table('lines', 'selfMs')]
  if (by !== undefined) {
    const kind = /** @type {Kind} */ (`${by}s`)
    return [table(kind, 'selfMs'), table(kind, 'totalMs')]
  }
  // Node's module loader would take the first rows: it is on the stack of everything it loads.
  const ownFunctions = report.functions.filter((cost) => cost.package !== 'node:')
  return [
    table('functions', 'selfMs'),
    {
      ...table('functions', 'totalMs'),
      title: "functions, by total time, without Node's own",
      costs: hottest(ownFunctions, 'totalMs'),
    },
    table('packages', 'selfMs'),
  ]
}

/** @template {import('../../index.js').ReportCost} T @param {T[]} costs @param {Time} time */
function hottest(costs, time) {
  const other = time === 'selfMs' ? 'totalMs' : 'selfMs'
  return costs
    .filter((cost) => cost[time] > 0)
    .sort((a, b) => b[time] - a[time] || b[other] - a[other])
}

/** Returns the head of a table's second number. @param {Kind} kind @param {Time} time */
function secondHead(kind, time) {
  if (kind === 'lines') return 'samples'
  return time === 'selfMs' ? 'total' : 'self'
}

/** Returns the second number of a row. @param {Cost} cost @param {Kind} kind @param {Time} time */
function secondOf(cost, kind, time) {
  if (kind === 'lines') return String(cost.samples)
  return formatTime(time === 'selfMs' ? cost.totalMs : cost.selfMs)
}

/** Returns a row's name and place. @param {any} cost @param {Kind} kind @param {string} cwd @returns {[string, string]} */
function nameOf(cost, kind, cwd) {
  if (kind === 'functions') return [cost.name, formatPlace(cost, cwd)]
  if (kind === 'lines') {
    const end = cost.file === '' || cost.line > 0 ? '' : ' (unknown line)'
    return [cost.name, `${formatPlace(cost, cwd)}${end}`]
  }
  if (kind === 'files') return [formatPlace({ ...cost, line: 0 }, cwd), '']
  return [cost.name, '']
}

/** @param {Report} report */
function countThreads({ processes }) {
  return processes.reduce((sum, { threads }) => sum + threads.length, 0)
}

module.exports = {
  MAX_ROWS,
  activeMs,
  threadRows,
  costTables,
  secondHead,
  secondOf,
  nameOf,
  countThreads,
}
