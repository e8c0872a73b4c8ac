'use strict'

// Reads a report for a tool, and puts what all answers begin with into words.

const { report } = require('@org/cpu-prof/own-packages').offline
const { formatShare, formatTime, openingOf } = require('@org/cpu-prof/own-packages').format
const { HOTTEST, inFlightTexts } = require('@org/cpu-prof/own-packages').labels
const { chainText, statesOf, summary } = require('@org/cpu-prof/own-packages').summary
const { costTables, countThreads, isMain, threadRows } =
  require('@org/cpu-prof/own-packages').tables
const { selectionOf } = require('./inputs.js')

/** @typedef {import('@org/cpu-prof').Report} Report */
/** @typedef {import('@org/cpu-prof').ReportOptions} ReportOptions */
/** @typedef {ReturnType<typeof import('./root.js').openRoot>} Root */
/**
 * @typedef {object} Overview
 * @property {Report} report
 * @property {Record<string, unknown>} facts
 * @property {string[]} head
 * @property {string} chain what the end of the run waited for; empty where that says nothing
 * @property {string[]} notes
 */

/**
 * Reads the recordings that an agent names.
 * @param {Root} root @param {Record<string, any>} args @param {ReportOptions} [options]
 * @returns {Promise<Overview>}
 */
async function readRun(root, args, options) {
  const { file, note } = root.findOne(args.run)
  const result = await report(file, {
    ...selectionOf(args),
    sourcesIn: root.folder,
    ...options,
  })
  const { conditions, sentence, durationMs, totals, wall, processes } = result
  const run = root.nameOf(file)
  return {
    report: result,
    facts: {
      run,
      conditions,
      sentence,
      durationMs,
      totals,
      wall,
      counts: { processes: processes.length, threads: countThreads(result) },
    },
    head: [openingOf(result), `${run}: ${summary(result).join(' · ')}`, ...inFlightTexts(result)],
    chain: chainLine(result),
    notes: [...(note === undefined ? [] : [note]), ...problemsOf(result)],
  }
}

/** @param {Report} report */
function chainLine({ chain }) {
  const text = chainText(chain)
  return text === undefined ? '' : `the end waited for: ${text}`
}

/** Returns what went wrong with inputs, a sentence each. @param {Pick<Report, 'failed' | 'repaired' | 'notes'>} result */
function problemsOf({ failed, repaired, notes }) {
  return [
    ...failed.map(({ file, reason }) => `left out ${file}: ${reason}`),
    ...repaired.map((file) => `${file} was cut off, or has damaged events; the rest counts`),
    ...notes,
  ]
}

/**
 * Returns tables of costs as lists.
 * @param {Report} report @param {import('@org/cpu-prof/own-packages').By | undefined} by @param {Root} root @param {number} top
 * @returns {import('./answer.js').List[]}
 */
function costLists(report, by, root, top) {
  return costTables(report, by, root.folder).map((table) => ({
    key: keyOf(table),
    title: titleOf(table),
    rows: rowsOf(table).slice(0, top),
  }))
}

/** @param {import('@org/cpu-prof/own-packages').CostTable} table */
function titleOf({ title, heads: [, ...others], whole }) {
  return `${title} (% of ${formatTime(whole.ms)} of ${whole.name}; in brackets: ${others.join(', ')})`
}

/** @param {import('@org/cpu-prof/own-packages').CostTable} table */
function rowsOf({ heads: [first, ...heads], whole, rows }) {
  return rows.map(({ name, place, ms, others }) => {
    const share = formatShare(ms, whole.ms)
    const beside = Object.fromEntries(heads.map((head, at) => [head, others[at]]))
    return {
      text: `${formatTime(ms)} ${share} (${others.join(', ')})  ${name}  ${place}`.trimEnd(),
      data: { name, place, [`${first}Ms`]: ms, share: ms / whole.ms, ...beside },
    }
  })
}

/** Returns the name of a table in structured content: `functionsBySelf`. @param {import('@org/cpu-prof/own-packages').CostTable} table */
function keyOf({ names: [kind, place], heads: [time] }) {
  // A program names the keys of its labels.
  if (place === HOTTEST) return 'labels'
  return `${kind}sBy${time[0].toUpperCase()}${time.slice(1)}`
}

/** Returns the busiest threads as a list. @param {Report} report @param {Root} root @param {number} top @returns {import('./answer.js').List} */
function threadList(report, root, top) {
  const { rows, rest } = threadRows(report, top, root.folder)
  return {
    key: 'threads',
    title: `threads, the busiest first${rest > 0 ? ` (${rest} more)` : ''}`,
    rows: rows.map(({ process, thread, label, place, end, isBelow }) => {
      const words = statesOf(thread)
      const nativeThreadsMs = isMain(thread) ? process.cpu?.nativeMs : undefined
      if (Number(nativeThreadsMs) >= 1) {
        words.push(`native threads ${formatTime(Number(nativeThreadsMs))}`)
      }
      const times = Object.keys(report.totals).map((state) => [state, Reflect.get(thread, state)])
      return {
        text: `${isBelow ? '  ' : ''}${label}${place}${end}: ${words.join(', ')}`,
        data: {
          process: process.command,
          pid: process.pid,
          thread: thread.name,
          ...Object.fromEntries(times),
          nativeThreadsMs,
        },
      }
    }),
  }
}

module.exports = { readRun, problemsOf, costLists, threadList }
