'use strict'

// Draws what a process used and named: CPU, memory, collections, marks and spans.

const { sampleAt } = require('../data/recording.js')
const { SPAN } = require('../layout/lanes.js')
const { cutText, variable } = require('./elements.js')

/** @typedef {import('../layout/lanes.js').Lane} Lane */
/** @typedef {import('../layout/lanes.js').Curve} Curve */
/** @typedef {import('../layout/lanes.js').Timing} Timing */
/** @typedef {{ top: number, width: number, visible: import('../layout/boxes.js').Range }} Place pixels */

/** DevTools' colours of custom tracks, in both themes. @type {Record<import('../../../index.js').EventColor, string>} */
const COLOURS = {
  primary: '#7aa7e8',
  'primary-light': '#a9c8f5',
  'primary-dark': '#5584cc',
  secondary: '#b39ae0',
  'secondary-light': '#cfbdf0',
  'secondary-dark': '#8f73c4',
  tertiary: '#6fc2b0',
  'tertiary-light': '#a2dccf',
  'tertiary-dark': '#469b88',
  warning: '#f0b429',
  error: '#e8695a',
}
/** Narrower spans have no name: pixels. */
const MIN_TEXT = 24

/** @param {CanvasRenderingContext2D} context @param {Lane} lane @param {Place} place */
function drawLane(context, lane, place) {
  if (lane.kind === 'curve') drawCurve(context, lane, place)
  else if (lane.kind === 'collections') drawCollections(context, lane.timings, place)
  else drawTimings(context, lane.timings, place)
}

/** @param {CanvasRenderingContext2D} context @param {Curve} lane @param {Place} place */
function drawCurve(context, { timeUs, series, most, height, isStacked }, place) {
  const room = height - 4
  const bottom = place.top + height - 1
  const x = xIn(place)
  const first = Math.max(0, sampleAt(Float64Array.from(timeUs), place.visible.from))
  const base = new Float64Array(timeUs.length)
  for (const { values, role } of series) {
    context.fillStyle = variable(`--${role}`)
    for (let index = first; index < values.length; index++) {
      const value = values[index]
      if (timeUs[index] > place.visible.to) break
      if (value === null) continue
      const [from, to] = [x(timeUs[index]), x(timeUs[index + 1] ?? timeUs[index])]
      const [low, high] = [base[index], base[index] + value].map((each) => (each / most) * room)
      context.fillRect(from, bottom - high, Math.max(1, to - from), high - low)
      if (isStacked) base[index] += value
    }
  }
}

/** @param {CanvasRenderingContext2D} context @param {Timing[]} timings @param {Place} place */
function drawCollections(context, timings, place) {
  const x = xIn(place)
  context.fillStyle = variable('--gc')
  for (const { from, to, isMajor } of timings) {
    if (to < place.visible.from || from > place.visible.to) continue
    const height = isMajor ? 12 : 7
    context.fillRect(x(from), place.top + 14 - height, Math.max(1, x(to) - x(from)), height)
  }
}

/** @param {CanvasRenderingContext2D} context @param {Timing[]} timings @param {Place} place */
function drawTimings(context, timings, place) {
  const x = xIn(place)
  const [text, onBox, accent] = ['--text', '--on-box', '--span'].map(variable)
  for (const { name, from, to, level, color } of timings) {
    if (to < place.visible.from || from > place.visible.to) continue
    const top = place.top + level * SPAN + 1
    const isMark = to === from
    const left = Math.max(0, x(from))
    const width = isMark ? 2 : Math.max(1, Math.min(place.width, x(to)) - left)
    const colour = /** @type {Record<string, string>} */ (COLOURS)[color ?? '']
    context.fillStyle = isMark ? text : (colour ?? accent)
    context.fillRect(left, top, isMark ? 2 : Math.max(1, width - 0.5), SPAN - 1)
    const label = width >= MIN_TEXT ? cutText(name, width) : ''
    if (label === '') continue
    context.fillStyle = onBox
    context.fillText(label, left + 3, top + SPAN / 2)
  }
  drawNamesOfMarks(context, timings, place)
}

/** Names marks as far as nothing stands beside them. @param {CanvasRenderingContext2D} context @param {Timing[]} timings @param {Place} place */
function drawNamesOfMarks(context, timings, place) {
  const x = xIn(place)
  context.fillStyle = variable('--faint')
  for (const { name, from, to, level } of timings) {
    if (to !== from || from < place.visible.from || from > place.visible.to) continue
    const next = timings.find((other) => other.level === level && other.from > from)
    const room = Math.min(place.width, x(next?.from ?? place.visible.to)) - x(from) - 4
    const label = cutText(name, room)
    if (label !== '') context.fillText(label, x(from) + 4, place.top + level * SPAN + SPAN / 2 + 1)
  }
}

/** @param {Place} place */
function xIn({ width, visible: { from, to } }) {
  return (/** @type {number} */ us) => ((us - from) / (to - from)) * width
}

/** Describes a lane at a time, on one of its levels or on any. @param {Lane} lane @param {number} us @param {number} usPerPixel @param {number} [level] @returns {string} */
function textOfLane(lane, us, usPerPixel, level) {
  if (lane.kind === 'curve') {
    const index = lane.timeUs.findLastIndex((time) => time <= us)
    const isKnown = index >= 0 && index < lane.series[0].values.length
    return isKnown ? lane.textAt(index) : lane.name
  }
  const near = 3 * usPerPixel
  const found = lane.timings.find(
    (each) =>
      (lane.kind === 'collections' || level === undefined || each.level === level) &&
      each.from - near <= us &&
      us <= each.to + near,
  )
  if (found === undefined) return lane.name
  const ms = (found.to - found.from) / 1000
  return ms === 0 ? found.name : `${found.name} ${ms.toFixed(1)} ms`
}

module.exports = { drawLane, textOfLane }
