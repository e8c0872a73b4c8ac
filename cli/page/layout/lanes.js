'use strict'

// Lays out what a process used and named over time: CPU, memory, collections, marks and spans.

const { formatBytes, formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Process} Process */
/**
 * @typedef {object} Curve values at times; the value lasts until the next time
 * @property {string} name
 * @property {'curve'} kind
 * @property {number} height pixels
 * @property {number[]} timeUs
 * @property {{ values: (number | null)[], role: 'javascript' | 'native' | 'heap' | 'rss' }[]} series
 * @property {number} most the largest value
 * @property {boolean} isStacked
 * @property {string} unit of the largest value, as text
 * @property {(index: number) => string} textAt
 *
 * @typedef {object} Timing a box, or a moment without a length
 * @property {string} name
 * @property {number} from microseconds
 * @property {number} to
 * @property {number} level
 * @property {string} [color] of DevTools
 * @property {boolean} [isMajor] of a collection
 *
 * @typedef {object} Timings
 * @property {string} name
 * @property {'timings' | 'collections'} kind
 * @property {number} height pixels
 * @property {string} unit
 * @property {Timing[]} timings
 *
 * @typedef {Curve | Timings} Lane
 */

const CURVE = 26
/** Height of a span: pixels. */
const SPAN = 15
/** Spans inside each other that are shown. */
const MAX_LEVELS = 5
const COLLECTIONS = 12

/** @type {WeakMap<Process, Lane[]>} */
const known = new WeakMap()

/** Returns the lanes of a process. @param {Process} process */
function lanesOf(process) {
  const lanes = known.get(process) ?? [
    ...timingLanes(process),
    ...cpuLane(process),
    ...memoryLane(process),
    ...collectionLane(process),
  ]
  known.set(process, lanes)
  return lanes
}

/** @param {Process} process @returns {Curve[]} */
function cpuLane({ cpu }) {
  if (cpu === undefined) return []
  const { timeUs, javascript, native } = cpu
  const sums = javascript.map((share, index) => (share ?? 0) + (native[index] ?? 0))
  const most = Math.max(1, largest(sums))
  return [
    {
      name: 'CPU',
      kind: 'curve',
      height: CURVE,
      timeUs,
      most,
      isStacked: true,
      series: [
        { values: javascript, role: 'javascript' },
        { values: native, role: 'native' },
      ],
      unit: `${most < 1.05 ? '1 core' : `${most.toFixed(1)} cores`}`,
      textAt: (index) =>
        javascript[index] === null
          ? 'CPU not known'
          : `CPU ${sums[index].toFixed(2)} cores, of which ${(native[index] ?? 0).toFixed(2)} native threads`,
    },
  ]
}

/** @param {Process} process @returns {Curve[]} */
function memoryLane({ memory }) {
  if (memory === undefined) return []
  const { timeUs, heap, rss } = memory
  const most = Math.max(1, largest(heap), largest(rss.map((bytes) => bytes ?? 0)))
  const text = (/** @type {number | null} */ bytes) =>
    bytes === null ? 'not known' : formatBytes(bytes)
  return [
    {
      name: 'memory',
      kind: 'curve',
      height: CURVE,
      timeUs,
      most,
      isStacked: false,
      series: [
        { values: rss, role: 'rss' },
        { values: heap, role: 'heap' },
      ],
      unit: formatBytes(most),
      textAt: (index) => `memory ${text(rss[index])}, heap ${text(heap[index])}`,
    },
  ]
}

/** @param {Process} process @returns {Timings[]} */
function collectionLane({ collections }) {
  if (collections === undefined) return []
  const { startUs, lengthUs, major } = collections
  const timings = startUs.map((from, index) => ({
    name: `${major[index] === 1 ? 'major' : 'minor'} collection`,
    from,
    to: from + lengthUs[index],
    level: 0,
    isMajor: major[index] === 1,
  }))
  const us = lengthUs.reduce((sum, each) => sum + each, 0)
  return [
    {
      name: 'collections',
      kind: 'collections',
      height: COLLECTIONS + 4,
      timings,
      unit: formatTime(us / 1000),
    },
  ]
}

/** Returns a lane for each track of marks and spans. @param {Process} process @returns {Timings[]} */
function timingLanes(process) {
  /** @type {Map<string, Timing[]>} */
  const tracks = new Map()
  for (const { name, track, from, to, color } of process.timings) {
    const timings = tracks.get(track) ?? []
    timings.push({ name, from, to, level: 0, color })
    tracks.set(track, timings)
  }
  return Array.from(tracks, ([name, all]) => {
    const timings = stack(all)
    const levels = 1 + Math.max(...timings.map(({ level }) => level))
    const count = `${all.length}`
    return { name, kind: 'timings', height: levels * SPAN + 3, timings, unit: count }
  })
}

/** Puts what overlaps on different levels; what finds no level is left out. @param {Timing[]} timings */
function stack(timings) {
  const order = [...timings].sort((a, b) => a.from - b.from || b.to - a.to)
  /** @type {number[]} */
  const ends = []
  return order.filter((timing) => {
    let level = ends.findIndex((end) => end <= timing.from)
    if (level === -1) level = ends.length
    if (level >= MAX_LEVELS) return false
    ends[level] = timing.to
    timing.level = level
    return true
  })
}

/** @param {number[]} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, value), 0)
}

module.exports = { SPAN, lanesOf }
