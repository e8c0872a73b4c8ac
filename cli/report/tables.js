'use strict'

// What a report's tables show, whichever way they are drawn.

const { cutStart, formatPath, formatPlace } = require('../terminal/format.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportProcess} Process */
/** @typedef {import('../../index.js').ReportThread} Thread */
/** @typedef {'function' | 'file' | 'package' | 'thread'} By */
/** @typedef {'functions' | 'files' | 'packages'} Kind */
/** @typedef {'selfMs' | 'totalMs'} Time */

/**
 * @typedef {object} ThreadRow
 * @property {Thread} thread
 * @property {string} label what may be cut
 * @property {string} end what may not: it tells processes of one command apart
 * @property {boolean} isBelow whether its process stands above it
 */

/**
 * @typedef {object} CostTable
 * @property {string} title
 * @property {Kind} kind
 * @property {Time} time what it is ordered by
 * @property {import('../../index.js').ReportCost[]} costs
 */

const LONGEST_PLACE = 24

/** @param {import('../../index.js').ReportTimes} times */
const activeMs = ({ busyMs, gcMs, programMs }) => busyMs + gcMs + programMs

/**
 * The busiest threads, in the order of their processes' starts.
 * @param {Report} report @param {number} count @param {string} cwd
 * @returns {{ rows: ThreadRow[], rest: number, restMs: number }}
 */
function threadRows({ processes }, count, cwd) {
  const all = processes.flatMap((process) => process.threads.map((thread) => ({ process, thread })))
  const busiest = [...all].sort((a, b) => activeMs(b.thread) - activeMs(a.thread))
  const chosen = new Set(busiest.slice(0, count))
  const isThere = (/** @type {Process} */ process) =>
    [...chosen].some((row) => row.process === process && isMain(row.thread))
  const rows = all
    .filter((row) => chosen.has(row))
    .map(({ process, thread }) => {
      const { command, pid } = process
      const end = `${place(process, cwd)} (${pid})`
      if (isMain(thread)) return { thread, label: command, end, isBelow: false }
      if (isThere(process)) return { thread, label: thread.name, end: '', isBelow: true }
      return { thread, label: `${command} ${thread.name}`, end, isBelow: false }
    })
  const rest = busiest.slice(count)
  const restMs = rest.reduce((sum, { thread }) => sum + activeMs(thread), 0)
  return { rows, rest: rest.length, restMs }
}

/** A monorepo's tasks may differ in nothing else. @param {Process} process @param {string} cwd */
function place(process, cwd) {
  if (process.cwd === undefined || process.cwd === cwd) return ''
  return ` · ${cutStart(formatPath(process.cwd, cwd), LONGEST_PLACE)}`
}

/** @param {Thread} thread */
function isMain(thread) {
  return thread.threadId === 0 || thread.name === 'main'
}

/** @param {Report} report @param {By} [by] only this @returns {CostTable[]} */
function costTables(report, by) {
  /** @param {Kind} kind @param {Time} time */
  const table = (kind, time) => ({
    title: `${kind}, by ${time === 'selfMs' ? 'self' : 'total'} time`,
    kind,
    time,
    costs: hottest(/** @type {import('../../index.js').ReportCost[]} */ (report[kind]), time),
  })
  if (by === 'thread') return []
  if (by !== undefined) {
    const kind = /** @type {Kind} */ (`${by}s`)
    return [table(kind, 'selfMs'), table(kind, 'totalMs')]
  }
  // By total time all that loads a module stands before what it loads.
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

/** Name and place. @param {any} cost @param {Kind} kind @param {string} cwd @returns {[string, string]} */
function nameOf(cost, kind, cwd) {
  if (kind === 'functions') return [cost.name, formatPlace(cost, cwd)]
  if (kind === 'files') return [formatPlace({ ...cost, line: 0 }, cwd), '']
  return [cost.name, '']
}

/** @param {Report} report */
function countThreads({ processes }) {
  return processes.reduce((sum, { threads }) => sum + threads.length, 0)
}

module.exports = { activeMs, threadRows, costTables, nameOf, countThreads }
