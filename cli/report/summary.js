'use strict'

// The facts about a whole report: times, collections, CPU time and memory.

const { formatTime, formatBytes, formatCounts, printable } = require('../terminal/format.js')
const { countThreads, isMain, processMs, workMs } = require('./tables.js')
const { chainParts } = require('../terminal/units.js')
const { cutEnd } = require('../terminal/width.js')

/** @typedef {import('../../index.js').Report} Report */

/** A part, a thread or a time below this share of the whole says little. */
const MINOR = 0.02
/** Names of launchers that are shown. */
const MAX_NAMES = 3
/** Columns of a command. */
const COMMAND = 30

/** Returns the facts as texts; the first is the duration. @param {Report} report */
function summary(report) {
  const without = withoutLaunchers(report)
  return [
    formatTime(report.durationMs),
    formatCounts(report.processes.length, countThreads(report)),
    statesOf(report.totals, countCollections(report)).join(', '),
    ...(without === undefined ? [] : [without]),
    ...cpuSummary(report),
    ...memorySummary(report),
  ]
}

/**
 * Returns the time in each state as texts, without the states that hardly had any.
 * @param {import('../../index.js').ReportTimes} times @param {string} [collections] in brackets
 */
function statesOf(times, collections = '') {
  const { javascriptMs, nativeMs, gcMs, waitingMs = 0, blockedMs = 0, idleMs } = times
  const state = (/** @type {string} */ name, /** @type {number} */ ms, end = '') =>
    ms >= 1 || end !== '' ? [`${name} ${formatTime(ms)}${end}`] : []
  return [
    `JavaScript ${formatTime(javascriptMs)}`,
    ...state('native code', nativeMs),
    ...state('gc', gcMs, collections),
    ...state('waiting for a core', waitingMs),
    ...state('blocked', blockedMs),
    `idle ${formatTime(idleMs)}`,
  ]
}

/** Returns `npm 0.3 s → eslint · packages/app 2.1 s → idle 0.4 s`; none where that says nothing.
 * @param {Report['chain']} chain */
function chainText(chain) {
  const texts = chainParts(chain).map(
    ({ name, time, idle }) => `${name} ${time}${idle === '' ? '' : ` ${idle}`}`,
  )
  return texts.length === 0 ? undefined : texts.join(' → ')
}

/** Returns how often the collector ran, in brackets. @param {Report} report */
function countCollections({ processes }) {
  const all = processes.flatMap(({ threads }) =>
    threads.flatMap((thread) => thread.collections ?? []),
  )
  const sum = (/** @type {'minor' | 'major'} */ kind) =>
    all.reduce((sum, collections) => sum + collections[kind], 0)
  const [minor, major] = [sum('minor'), sum('major')]
  if (minor + major === 0) return ''
  const longest = Math.max(...all.map(({ longestMs }) => longestMs))
  return ` (${minor} minor, ${major} major, longest ${formatTime(longest)})`
}

/** Returns the memory of the process that had the most. @param {Report} report */
function memorySummary({ processes }) {
  const rows = processes.flatMap(({ command, threads }) => {
    const { rssPeak, rssGrowth = 0 } = threads.find(isMain)?.memory ?? {}
    return rssPeak === undefined ? [] : [{ command, rssPeak, rssGrowth }]
  })
  if (rows.length === 0) return []
  const { command, rssPeak, rssGrowth } = rows.reduce((a, b) => (b.rssPeak > a.rssPeak ? b : a))
  const growth = rssGrowth > MINOR * rssPeak ? `, of which ${formatBytes(rssGrowth)} are new` : ''
  const of = rows.length > 1 ? ` of ${cutEnd(printable(command), COMMAND)}` : ''
  return [`memory ${formatBytes(rssPeak)}${of}${growth}`]
}

/** Returns the CPU time of the whole machine for the report's processes. @param {Report} report */
function cpuSummary({ processes }) {
  const all = processes.flatMap(({ cpu }) => (cpu ? [cpu] : []))
  if (all.length === 0) return []
  const sum = (/** @type {'javascriptMs' | 'nativeMs' | 'othersMs'} */ part) =>
    all.reduce((sum, cpu) => sum + (cpu[part] ?? 0), 0)
  const [javascript, native, others] = [sum('javascriptMs'), sum('nativeMs'), sum('othersMs')]
  const nodes = processes.reduce((sum, { unrecorded }) => sum + (unrecorded?.cpuMs ?? 0), 0)
  const whole = javascript + native + others
  const part = (/** @type {string} */ name, /** @type {number} */ ms) =>
    ms > MINOR * whole ? [`${name} ${formatTime(ms)}`] : []
  const parts = [
    `JavaScript threads ${formatTime(javascript)}`,
    `native threads ${formatTime(native)}`,
    ...part('Node processes without a recording', nodes),
    ...part('other programs', others - nodes),
  ]
  return [`CPU ${formatTime(whole)}: ${parts.join(', ')}`]
}

/**
 * Returns which work the tables leave out, as a text; undefined if launchers hardly worked.
 * @param {Report} report
 */
function withoutLaunchers(report) {
  const launchers = report.processes.filter(({ launcher }) => launcher)
  const ms = launchers.reduce((sum, process) => sum + processMs(process), 0)
  if (ms <= MINOR * (ms + workMs(report))) return undefined
  const names = [...new Set(launchers.map(({ name }) => cutEnd(printable(name), COMMAND)))]
  const more = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : []
  const shown = [...names.slice(0, MAX_NAMES), ...more]
  const last = shown.pop()
  const list = shown.length > 0 ? `${shown.join(', ')} and ${last}` : last
  return `tables without ${formatTime(ms)} of ${list}, which only started others`
}

module.exports = { MINOR, summary, statesOf, chainText, withoutLaunchers }
