'use strict'

// The rows of a look: of functions, files, packages, labels or threads.

const { HOTTEST, hottestOf } = require('../report/labels.js')
const { activeMs } = require('../report/tables.js')
const { formatPath, formatPlace, printable } = require('../terminal/format.js')

/** @typedef {import('../live/follower.js').LiveView} LiveView */
/** @typedef {import('../live/follower.js').LiveThread} LiveThread */
/** @typedef {import('./choices.js').Choices} Choices */

/**
 * @typedef {object} Row
 * @property {number[]} times milliseconds, by the heads of the table
 * @property {string} name
 * @property {string} place empty for what its name tells apart
 *
 * @typedef {object} Table
 * @property {string[]} heads of the times
 * @property {string} what the head of the names
 * @property {string} places the head of the places; empty for rows without
 * @property {boolean} hasTotal whether the second time is that with all that was called
 * @property {Row[]} rows in their order
 */

/** Characters of a name that are looked at: names of anybody can be megabytes. */
const MAX_NAME = 300

/** Returns the rows that the user wants, the largest first. @param {LiveView} view @param {Choices} choices @param {string} cwd @returns {Table} */
function tableOf(view, { by, sort, filter }, cwd) {
  const table = tableBy(view, by, cwd)
  const wanted = filter.toLowerCase()
  const hasText = (/** @type {Row} */ { name, place }) =>
    `${name} ${place}`.toLowerCase().includes(wanted)
  const column = table.hasTotal && sort === 'total' ? 1 : 0
  const rows = table.rows.filter(hasText).sort((a, b) => b.times[column] - a.times[column])
  return { ...table, rows }
}

/** @param {LiveView} view @param {Choices['by']} by @param {string} cwd */
function tableBy(view, by, cwd) {
  if (by === 'thread') return threadTable(view)
  return by === 'function' || by === 'file' || by === 'package'
    ? costTable(view, by, cwd)
    : labelTable(view, by, cwd)
}

/** @param {LiveView} view @param {'function' | 'file' | 'package'} by @param {string} cwd @returns {Table} */
function costTable(view, by, cwd) {
  /** @type {(cost: import('../live/follower.js').LiveCost, name: string, place?: string) => Row} */
  const row = ({ selfMs, totalMs, blockedMs, waitingMs }, name, place = '') => ({
    times: [selfMs, totalMs, blockedMs, waitingMs],
    name: printable(name.slice(0, MAX_NAME)),
    // The end of a path tells it apart.
    place: printable(place.slice(-MAX_NAME)),
  })
  const rows = {
    function: () => view.functions.map((cost) => row(cost, cost.name, formatPlace(cost, cwd))),
    file: () =>
      view.files.map((cost) => row(cost, formatPath(cost.file, cwd) || '(native)', cost.package)),
    package: () => view.packages.map((cost) => row(cost, cost.name)),
  }
  const heads = ['self', 'total', 'blocked', 'waiting']
  const places = { function: 'place', file: 'package', package: '' }[by]
  return { heads, what: by, places, hasTotal: true, rows: rows[by]() }
}

/** @param {LiveView} view @param {import('../live/follower.js').LabelKind} by @param {string} cwd @returns {Table} */
function labelTable({ labels }, by, cwd) {
  const rows = labels.map(({ name, hottest, selfMs, blockedMs, waitingMs }) => ({
    times: [selfMs, blockedMs, waitingMs],
    name: printable(name.slice(0, MAX_NAME)),
    place: printable(hottestOf({ hottest }, cwd).slice(0, MAX_NAME)),
  }))
  const what = printable(by.replace('label:', ''))
  return { heads: ['self', 'blocked', 'waiting'], what, places: HOTTEST, hasTotal: false, rows }
}

/** @param {LiveView} view @returns {Table} */
function threadTable({ processes }) {
  const rows = processes.flatMap((process) =>
    process.threads.map((thread) => ({
      times: [
        activeMs(thread),
        thread.javascriptMs,
        thread.nativeMs,
        thread.gcMs,
        thread.waitingMs ?? 0,
        thread.blockedMs ?? 0,
      ],
      name: threadName(process, thread),
      place: '',
    })),
  )
  const heads = ['work', 'js', 'native', 'gc', 'waiting', 'blocked']
  return { heads, what: 'thread', places: '', hasTotal: false, rows }
}

/** Returns the name of a thread: that of a main thread is the command. @param {LiveView['processes'][number]} process @param {LiveThread} thread */
function threadName({ command, pid }, { threadId, name }) {
  const shown = threadId === 0 ? command : name
  return printable(`${pid || '(pid unknown)'} ${shown.slice(0, MAX_NAME)}`)
}

module.exports = { tableOf, threadTable }
