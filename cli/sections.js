'use strict'

// What a report's tables show, whichever way they are drawn.

/** @typedef {import('../index.js').Report} Report */
/** @typedef {import('../index.js').ReportProcess} Process */
/** @typedef {import('../index.js').ReportThread} Thread */

/** @typedef {{ process: Process, thread: Thread, label: string }} ThreadRow */

/** @param {import('../index.js').ReportTimes} times */
const activeMs = ({ busyMs, gcMs, programMs }) => busyMs + gcMs + programMs

/**
 * The busiest threads, in the order of their processes' starts. A process goes by its command, its
 * workers stand below it.
 * @param {Report} report @param {number} count
 */
function threadRows({ processes }, count) {
  const all = processes.flatMap((process) => process.threads.map((thread) => ({ process, thread })))
  const busiest = [...all].sort((a, b) => activeMs(b.thread) - activeMs(a.thread))
  const chosen = new Set(busiest.slice(0, count))
  const withMain = new Set(
    [...chosen].filter(({ thread }) => isMain(thread)).map((row) => row.process),
  )
  const rows = all
    .filter((row) => chosen.has(row))
    .map(({ process, thread }) => {
      const name = `${process.command} (${process.pid})`
      if (isMain(thread)) return { process, thread, label: name }
      const label = withMain.has(process) ? `  ${thread.name}` : `${name} ${thread.name}`
      return { process, thread, label }
    })
  const rest = busiest.slice(count)
  const restMs = rest.reduce((sum, { thread }) => sum + activeMs(thread), 0)
  return { rows, rest: rest.length, restMs }
}

/** @param {Thread} thread */
function isMain(thread) {
  return thread.threadId === 0 || thread.name === 'main'
}

/**
 * @template {import('../index.js').ReportCost} T
 * @param {T[]} costs @param {'selfMs' | 'totalMs'} time @param {number} count
 */
function hottest(costs, time, count) {
  const other = time === 'selfMs' ? 'totalMs' : 'selfMs'
  return costs
    .filter((cost) => cost[time] > 0)
    .sort((a, b) => b[time] - a[time] || b[other] - a[other])
    .slice(0, count)
}

/** @param {Report} report */
function countThreads({ processes }) {
  return processes.reduce((sum, { threads }) => sum + threads.length, 0)
}

module.exports = { activeMs, threadRows, hottest, countThreads }
