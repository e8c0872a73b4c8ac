'use strict'

// Lays out the tables that are no costs: stalls, timings, imports and scripts.

const {
  functionAt,
  inPackage,
  nameOf,
  shortPath,
  shortPlaceOf,
  threadLabel,
} = require('../data/names.js')
const { formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../../../index.js').ReportImport} Import */
/**
 * @typedef {object} ListRow
 * @property {string[]} cells
 * @property {number} ms what the bar shows
 * @property {string} name
 * @property {string} place
 * @property {number} [item] the function to select
 * @property {number} [level] how far the row is set in
 * @property {Partial<import('../state.js').State>} [choice] what a click on the times selects
 *
 * @typedef {{ heads: string[], rows: ListRow[], wholeMs: number, noun: string }} List
 */

/** Part of a stall or a span that is visible before and after it. */
const AROUND = 0.2
/** Time that is visible before and after a mark: microseconds. */
const AROUND_MARK = 10_000

/** @param {Recording} recording @param {import('../state.js').State} state @returns {List} */
function layoutList(recording, { table, query }) {
  const list = { stalls, timings, imports, scripts }[/** @type {'stalls'} */ (table)](recording)
  const text = query.toLowerCase()
  const rows = list.rows.filter(({ name, place }) =>
    `${name} ${place}`.toLowerCase().includes(text),
  )
  return { ...list, rows }
}

/** @param {Recording} recording @returns {List} */
function stalls(recording) {
  const rows = recording.stalls.map((stall) => {
    const { startMs, durationMs, gcMs, blockedMs } = stall
    const thread = recording.threads.find(
      ({ id, process }) => id === stall.threadId && process.pid === stall.pid,
    )
    const [from, to] = [startMs * 1000, (startMs + durationMs) * 1000]
    const inThread = thread && showing(recording, thread, from, to)
    return {
      ms: durationMs,
      choice: inThread,
      ...culprit(recording, stall),
      cells: [startMs, durationMs, gcMs, blockedMs].map(formatTime),
      ...(thread && recording.threads.length > 1 ? { end: threadLabel(thread) } : {}),
    }
  })
  const wholeMs = Math.max(0, ...rows.map(({ ms }) => ms))
  return {
    heads: ['at', 'for', 'gc', 'blocked'],
    rows: rows.map(withEnd),
    wholeMs,
    noun: 'function',
  }
}

/** Returns what shows a time of a thread, with some time around it. A mark has no time to select. @param {Recording} recording @param {import('../data/recording.js').Thread} thread @param {number} from @param {number} to */
function showing({ durationUs }, thread, from, to) {
  const isMark = to === from
  const around = isMark ? AROUND_MARK : AROUND * (to - from)
  const selected = isMark ? undefined : { from: Math.max(0, from), to: Math.min(to, durationUs) }
  return {
    threads: [thread.index],
    thread: thread.index,
    view: /** @type {const} */ ('time'),
    from: selected?.from,
    to: selected?.to,
    left: Math.max(0, from - around),
    right: Math.min(durationUs, to + around),
  }
}

/** Returns marks and spans, the longest first. @param {Recording} recording @returns {List} */
function timings(recording) {
  const isOne = recording.threads.length === 1
  const rows = [...recording.timings]
    .sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from)
    .map(({ name, track, from, to, thread }) => ({
      cells: [formatTime(from / 1000), to === from ? '–' : formatTime((to - from) / 1000)],
      ms: (to - from) / 1000,
      name,
      place: [track, ...(thread && !isOne ? [threadLabel(thread)] : [])].join(' · '),
      choice: thread && showing(recording, thread, from, to),
    }))
  return { heads: ['at', 'for'], rows, wholeMs: rows[0]?.ms ?? 0, noun: 'timing' }
}

/** @param {ListRow & { end?: string }} row @returns {ListRow} */
function withEnd({ end, ...row }) {
  return end === undefined ? row : { ...row, place: `${row.place} · ${end}` }
}

/** Names the last function that was on the stack for most of a stall. @param {Recording} recording @param {import('../../../index.js').ReportStall} stall */
function culprit(recording, { stack }) {
  const own = stack.filter(({ package: name }) => name !== 'node:' && name !== '(native)')
  const last = (own.length > 0 ? own : stack).at(-1)
  const item = last && functionAt(recording, last)
  return item === undefined
    ? { name: last?.name ?? 'several functions, none for most of the time', place: '' }
    : { name: nameOf(recording, item), place: shortPlaceOf(recording, item), item }
}

/** @param {Recording} recording @returns {List} */
function imports(recording) {
  const wholeMs = recording.imports.reduce((sum, { totalMs }) => sum + totalMs, 0)
  /** @param {Import[]} list @param {number} level @returns {ListRow[]} */
  const rowsOf = (list, level) =>
    list.flatMap(({ file, totalMs, loadMs, runMs, children }) => [
      {
        cells: [totalMs, loadMs, runMs].map(formatTime),
        ms: totalMs,
        level,
        name: file === '' ? '(loader of ES modules)' : inPackage(shortPath(recording, file)),
        place: '',
      },
      ...rowsOf(children, level + 1),
    ])
  const heads = ['total', 'load', 'run']
  return { heads, rows: rowsOf(recording.imports, 0), wholeMs, noun: 'module' }
}

/** @param {Recording} recording @returns {List} */
function scripts(recording) {
  const wholeMs = recording.scripts.reduce((sum, { totalMs }) => sum + totalMs, 0)
  const rows = recording.scripts.map(({ name, cwd, processes, totalMs }) => ({
    cells: [formatTime(totalMs), String(processes)],
    ms: totalMs,
    name,
    place: cwd ?? '',
  }))
  return { heads: ['total', 'processes'], rows, wholeMs, noun: 'script' }
}

module.exports = { layoutList }
