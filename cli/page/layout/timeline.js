'use strict'

// Lays out the time line: its rows, its scale, the selected time, and what threads did in each pixel.

const { IDLE, sampleAt } = require('../data/recording.js')
const { threadsOf, visibleOf } = require('../state.js')
const { formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('./boxes.js').Range} Range */
/** @typedef {import('./tracks.js').Row} Row */

/** Height of the time scale: pixels. */
const SCALE = 20
/** Least distance of two times on the scale: pixels. */
const TICK = 110
/** Room of a time on the scale: pixels. */
const LABEL = 52
/** Times from here on are minutes: microseconds. */
const MINUTES = 600e6

/** Values of a pixel: the states but idle, then the time with a marked function, then all time. */
const MARK = IDLE
const ALIVE = IDLE + 1
const VALUES = IDLE + 2

/**
 * Lays out everything but what threads did.
 * @param {Recording} recording @param {Row[]} rows @param {import('../state.js').State} state
 * @param {number} width pixels
 */
function layoutTimeline(recording, rows, state, width) {
  const visible = visibleOf(state, recording)
  const x = (/** @type {number} */ us) =>
    ((us - visible.from) / (visible.to - visible.from)) * width
  const selected = new Set(threadsOf(state, recording))
  let height = 0
  const placed = rows.map(({ threads, height: own }) => {
    const top = height
    height += own
    return {
      top,
      height: own,
      isSelected: threads.some((thread) => selected.has(thread)),
      isShown: threads.length === 1 && threads[0] === state.thread,
    }
  })
  return {
    height,
    visible,
    ticks: ticksOf(visible, width).map(({ us, label }) => ({ x: x(us), label })),
    rows: placed,
    /** The selected time as a part of the width, if it is not all. */
    span:
      state.from === undefined
        ? undefined
        : { from: x(state.from) / width, to: x(state.to ?? 0) / width },
  }
}

/** Returns the index of the row at a height, or -1. @param {Row[]} rows @param {number} y pixels */
function rowAt(rows, y) {
  let top = 0
  for (const [index, { height }] of rows.entries()) {
    if (y >= top && y < top + height) return index
    top += height
  }
  return -1
}

/**
 * Returns for each pixel the part of the time that threads spent in each state, in a marked function,
 * and alive: {@link VALUES} for each pixel.
 * @param {Recording} recording @param {number[]} threads @param {Range} visible
 * @param {number} width pixels @param {Uint8Array} [isMarked] whether a leaf has a marked function
 */
function sharesOf({ threads: all, leafState }, threads, visible, width, isMarked) {
  const shares = new Float32Array(width * VALUES)
  const scale = width / (visible.to - visible.from)
  for (const thread of threads) {
    const { times, leaves } = all[thread]
    addTime(shares, width, ALIVE, times[0], times[leaves.length], visible.from, scale)
    for (let index = sampleAt(times, visible.from); index < leaves.length; index++) {
      if (times[index] >= visible.to) break
      const leaf = leaves[index]
      if (leaf < 0 || leafState[leaf] === IDLE) continue
      const [from, to] = [times[index], times[index + 1]]
      addTime(shares, width, leafState[leaf], from, to, visible.from, scale)
      if (isMarked !== undefined && isMarked[leaf] === 1) {
        addTime(shares, width, MARK, from, to, visible.from, scale)
      }
    }
  }
  const part = 1 / Math.max(1, threads.length)
  for (let index = 0; index < shares.length; index++) shares[index] *= part
  return shares
}

/**
 * Adds a time to the pixels that it covers.
 * @param {Float32Array} shares @param {number} width pixels @param {number} value which of {@link VALUES}
 * @param {number} fromUs @param {number} toUs @param {number} startUs of the first pixel
 * @param {number} scale pixels of a microsecond
 */
function addTime(shares, width, value, fromUs, toUs, startUs, scale) {
  const from = Math.max(0, (fromUs - startUs) * scale)
  const to = Math.min(width, (toUs - startUs) * scale)
  if (!(to > from)) return
  const [first, last] = [Math.floor(from), Math.floor(to)]
  if (first === last) {
    shares[first * VALUES + value] += to - from
    return
  }
  shares[first * VALUES + value] += first + 1 - from
  for (let pixel = first + 1; pixel < last; pixel++) shares[pixel * VALUES + value] += 1
  if (last < width) shares[last * VALUES + value] += to - last
}

/** Returns the times on the scale: steps of 1, 2 or 5 times a power of ten, as far as their labels fit. @param {Range} visible @param {number} width pixels */
function ticksOf({ from, to }, width) {
  const least = (to - from) / Math.max(1, width / TICK)
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  const step = ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power
  const end = to - ((to - from) * LABEL) / width
  const ticks = []
  for (let us = Math.ceil(from / step) * step; us <= end; us += step) {
    ticks.push({ us, label: us === 0 ? '0' : labelOf(us, step, to) })
  }
  return ticks
}

/** Returns a time with as many digits as tell it from the next. @param {number} us @param {number} step @param {number} end */
function labelOf(us, step, end) {
  if (us >= MINUTES) return formatTime(us / 1000)
  const [unit, name] = end >= 1e6 ? [1e6, 's'] : [1e3, 'ms']
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9))
  return `${(us / unit).toFixed(digits)} ${name}`
}

module.exports = { SCALE, MARK, ALIVE, VALUES, layoutTimeline, rowAt, sharesOf }
