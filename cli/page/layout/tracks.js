'use strict'

// Chooses the rows of the time line: the busiest processes first, those with little work folded.

const { processLabel, threadLabel } = require('../data/names.js')
const { formatCount } = require('../../terminal/units.js')
const { lanesOf } = require('./lanes.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/recording.js').Process} Process */
/** @typedef {import('../data/recording.js').Thread} Thread */
/**
 * @typedef {object} Row
 * @property {string} id by which the row is opened and closed
 * @property {string} label
 * @property {number[]} threads indices
 * @property {number} level how far the row is set in
 * @property {number} height pixels
 * @property {boolean} [isOpen] whether the rows below are shown; undefined where there are none
 * @property {number} busyUs
 * @property {import('./lanes.js').Lane} [lane] what a row shows that is not of a thread
 */

/** Height of a row of threads: pixels. */
const ROW = 20
/** Height of the only thread of an open process. */
const TALL = 32
/** A process or a thread with a smaller part of the work is folded. */
const LITTLE = 0.01
/** Rows beside each other without a fold. */
const MOST = 40
/** Rows that a fold opens: a canvas cannot be higher than some 32,000 pixels. */
const MOST_FOLDED = 400
/** Fewer rows are not worth a fold. */
const FEW = 3

/**
 * Returns the rows. `opened` has the rows that the user opened or closed; else the busiest process is
 * open.
 * @param {Recording} recording @param {Map<string, boolean>} [opened] @returns {Row[]}
 */
function rowsOf({ processes }, opened = new Map()) {
  const order = [...processes].sort(
    (a, b) => Number(a.launcher) - Number(b.launcher) || b.busyUs - a.busyUs,
  )
  const busiest = order[0]
  return fold(order, {
    opened,
    id: 'p',
    level: 0,
    nouns: ['more process', 'more processes'],
    threadsOf: ({ threads }) => threads,
    rowsOf: (process) => processRows(process, opened, process === busiest),
  })
}

/**
 * Returns the rows of the first items, and one for those with little work.
 * @template {{ busyUs: number }} T @param {T[]} items the busiest first
 * @param {{ opened: Map<string, boolean>, id: string, level: number, nouns: [string, string], threadsOf: (item: T) => Thread[], rowsOf: (item: T) => Row[] }} options
 * @returns {Row[]}
 */
function fold(items, options) {
  const { opened, id, level, nouns, threadsOf, rowsOf: rows } = options
  const all = items.reduce((sum, { busyUs }) => sum + busyUs, 0)
  const busy = items.filter(({ busyUs }, index) => index === 0 || busyUs >= LITTLE * all)
  const count = Math.min(busy.length, MOST)
  if (items.length - count < FEW) return items.flatMap(rows)
  const [shown, rest] = [items.slice(0, count), items.slice(count)]
  const isOpen = opened.get(`${id}+`) ?? false
  const row = {
    id: `${id}+`,
    label: formatCount(rest.length, ...nouns),
    level,
    height: ROW,
    isOpen,
    threads: rest.flatMap((item) => threadsOf(item).map(({ index }) => index)),
    busyUs: rest.reduce((sum, { busyUs }) => sum + busyUs, 0),
  }
  const below = isOpen ? rest.slice(0, MOST_FOLDED).flatMap(rows) : []
  return [...shown.flatMap(rows), row, ...below]
}

/** @param {Process} process @param {Map<string, boolean>} opened @param {boolean} isBusiest @returns {Row[]} */
function processRows(process, opened, isBusiest) {
  const { threads, index, busyUs } = process
  const [first] = threads
  const id = `p${index}`
  const lanes = lanesOf(process).map((lane) => ({
    id: `${id}-${lane.name}`,
    label: lane.name,
    threads: [],
    level: 1,
    busyUs: 0,
    lane,
    height: lane.height,
  }))
  const hasBelow = threads.length > 1 || lanes.length > 0
  const isOpen = hasBelow ? (opened.get(id) ?? isBusiest) : undefined
  const isMain = threads.length > 1 || first?.name === 'main' || first === undefined
  /** @type {Row} */
  const row = {
    id,
    level: 0,
    height: isOpen && threads.length < 2 ? TALL : ROW,
    isOpen,
    busyUs,
    label: isMain ? processLabel(process) : threadLabel(first),
    threads: threads.map((thread) => thread.index),
  }
  if (!isOpen) return [row]
  return [row, ...threadRows(threads, opened, id), ...lanes]
}

/** @param {Thread[]} threads of one process @param {Map<string, boolean>} opened @param {string} id @returns {Row[]} */
function threadRows(threads, opened, id) {
  if (threads.length < 2) return []
  // The main thread is the first, whatever it did.
  const [main, ...others] = threads
  const order = [main, ...others.sort((a, b) => b.busyUs - a.busyUs)]
  return fold(order, {
    opened,
    id: `${id}t`,
    level: 1,
    nouns: ['more thread', 'more threads'],
    threadsOf: (thread) => [thread],
    rowsOf: ({ name, index, busyUs }) => [
      { id: `t${index}`, label: name, threads: [index], level: 1, height: ROW, busyUs },
    ],
  })
}

module.exports = { rowsOf }
