'use strict'

// Lays out the time line: a row for each thread, the time scale and the selected time.

const { WORK, PROGRAM, GC, IDLE, BLOCKED, WAITING } = require('../data/recording.js')
const { processLabel, threadLabel } = require('../data/names.js')
const { spanOf, threadsOf } = require('../state.js')
const { formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {{ label: string, threads: number[], isBelow: boolean }} Row threads are indices */

/** Height of a row, of the time scale: pixels. */
const ROW = 20
const SCALE = 18
/** Rows of threads: a canvas cannot be higher than some 32,000 pixels. */
const MAX_ROWS = 700
/** Least distance of two times on the scale: pixels. */
const TICK = 110

/** What a row shows, from its bottom. */
const STACK = /** @type {const} */ ([
  { name: 'javascript', state: WORK },
  { name: 'native', state: PROGRAM },
  { name: 'gc', state: GC },
  { name: 'waiting', state: WAITING },
  { name: 'blocked', state: BLOCKED },
])

/**
 * Lays out everything but what threads did.
 * @param {Recording} recording @param {Row[]} rows @param {import('../state.js').State} state
 * @param {number} width pixels
 */
function layoutTimeline(recording, rows, state, width) {
  const { durationUs } = recording
  const { fromUs, toUs } = spanOf(state, recording)
  const x = (/** @type {number} */ us) => (us / durationUs) * width
  const selected = new Set(threadsOf(state, recording))
  return {
    height: SCALE + rows.length * ROW,
    ticks: ticksOf(durationUs, width).map((us) => ({
      ...{ x: x(us), label: us === 0 ? '0' : formatTime(us / 1000) },
    })),
    rows: rows.map(({ threads }, index) => ({
      top: SCALE + index * ROW,
      isSelected: threads.some((thread) => selected.has(thread)),
      isShown: threads.includes(state.thread ?? -1),
    })),
    /** The selected time, if it is not all. */
    span: state.from === undefined ? undefined : { from: x(fromUs), to: x(toUs) },
  }
}

/**
 * Returns a row for each thread, below a row for its process if that has several. Many threads have
 * the row of their process only.
 * @param {Recording} recording @returns {Row[]}
 */
function rowsOf({ processes, threads: all }) {
  const isCrowded = all.length > MAX_ROWS
  return processes.flatMap((process) => {
    const { threads } = process
    const indices = threads.map(({ index }) => index)
    if (threads.length === 1) {
      const { name } = threads[0]
      const label = name === 'main' ? processLabel(process) : threadLabel(threads[0])
      return [{ label, threads: indices, isBelow: false }]
    }
    const row = { label: processLabel(process), threads: indices, isBelow: false }
    if (isCrowded) return [row]
    const below = threads.map(({ name, index }) => ({
      label: name,
      threads: [index],
      isBelow: true,
    }))
    return [row, ...below]
  })
}

/** Returns the row at a height. @param {Row[]} rows @param {number} y pixels @returns {Row | undefined} */
function rowAt(rows, y) {
  return rows[Math.floor((y - SCALE) / ROW)]
}

/**
 * Returns for each pixel the part of the time that threads spent in each state of {@link STACK}.
 * @param {Recording} recording @param {number[]} threads @param {number} width pixels
 */
function sharesOf({ threads: all, leafState, durationUs }, threads, width) {
  const shares = new Float64Array(width * STACK.length)
  const places = new Map(STACK.map(({ state }, index) => [Number(state), index]))
  const usPerPixel = durationUs / width
  for (const thread of threads) {
    const { times, leaves } = all[thread]
    for (let index = 0; index < leaves.length; index++) {
      const state = leaves[index] === -1 ? IDLE : leafState[leaves[index]]
      const place = places.get(state)
      if (place === undefined) continue
      const [from, to] = [times[index] / usPerPixel, times[index + 1] / usPerPixel]
      for (let pixel = Math.floor(from); pixel < Math.min(width, to); pixel++) {
        const part = Math.min(to, pixel + 1) - Math.max(from, pixel)
        shares[pixel * STACK.length + place] += part / threads.length
      }
    }
  }
  return shares
}

/** Returns the times on the scale: steps of 1, 2 or 5 times a power of ten. @param {number} durationUs @param {number} width pixels */
function ticksOf(durationUs, width) {
  const least = durationUs / Math.max(1, width / TICK)
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  const step = ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power
  const ticks = []
  for (let us = 0; us < durationUs; us += step) ticks.push(us)
  return ticks
}

module.exports = { ROW, SCALE, STACK, layoutTimeline, rowsOf, rowAt, sharesOf }
