'use strict'

// Draws what each thread did over time. A drag selects time, a name selects a process or thread.

const { SPAN } = require('../layout/lanes.js')
const { CLICK, ZOOM, inside, moved, scaled } = require('../layout/boxes.js')
const { calmed } = require('../layout/calm.js')
const { layoutMoment } = require('../layout/moment.js')
const { SCALE, layoutTimeline, rowAt, sharesOf } = require('../layout/timeline.js')
const { rowsOf } = require('../layout/tracks.js')
const { chooseThreads, visibleOf } = require('../state.js')
const { formatTime } = require('../../terminal/units.js')
const { byId, prepare, shade, showHover, variable } = require('./elements.js')
const { drawLane, textOfLane } = require('./lanes.js')
const { RowNames } = require('./row-names.js')
const { drawGrid, drawScale, hideMoment, showMoment } = require('./scale.js')
const { listenOnTimeline } = require('./timeline-keys.js')
const { paintTrack, paletteOf } = require('./tracks.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/tracks.js').Row} Row */
/** @typedef {import('../state.js').Shown} Shown */

/** The shortest visible time: microseconds. */
const LEAST = 10

class TimelineView {
  /** @type {HTMLCanvasElement} */
  #canvas = byId('timeline')
  #section = /** @type {HTMLElement} */ (document.querySelector('.timeline'))
  #recording
  #change
  /** Rows that the user opened or closed. @type {Map<string, boolean>} */
  #opened = new Map()
  #rows
  #names
  /** What threads did in each pixel, for the rows that were visible. @type {{ key: unknown[], rows: Map<string, Float32Array> }} */
  #shares = { key: [], rows: new Map() }
  /** What the last drawing shows. @type {unknown[]} */
  #drawn = []
  /** Where a drag began: pixels in the window. @type {number | undefined} */
  #dragFrom
  /** What is drawn, from the first drawing on. @type {Shown} */
  #shown = /** @type {any} */ (undefined)
  /** The colours of a theme. @type {{ isDark?: boolean, palette: import('./tracks.js').Palette }} */
  #theme = { palette: /** @type {any} */ (undefined) }

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    this.#change = change
    this.#rows = rowsOf(recording)
    this.#names = new RowNames({
      choose: (row, event) => this.#choose(row.threads, event),
      open: (row) => this.#open(row),
    })
    const canvas = this.#canvas
    canvas.addEventListener('pointerdown', (event) => this.#beginDrag(event))
    canvas.addEventListener('pointermove', (event) => this.#drag(event))
    canvas.addEventListener('pointerup', (event) => this.#endDrag(event))
    canvas.addEventListener('pointerleave', hideMoment)
    canvas.addEventListener('dblclick', () => change({ from: undefined, to: undefined }))
    canvas.addEventListener('wheel', (event) => this.#turn(event), { passive: false })
    this.#section.addEventListener('scroll', () => this.#drawTracks())
    listenOnTimeline(canvas, {
      visible: () => this.#visible(),
      count: () => this.#rows.length,
      show: (place) => this.#showByKey(place),
      hide: hideMoment,
      select: (from, to) => change({ from, to }),
      open: (index) => this.#openByTime(index),
    })
  }

  /** @param {Shown} shown */
  draw(shown) {
    this.#shown = shown
    const { isDark, marked, state } = shown
    if (this.#theme.isDark !== isDark) this.#theme = { isDark, palette: paletteOf(variable) }
    const width = byId('tracks').clientWidth
    const layout = layoutTimeline(this.#recording, this.#rows, state, width)
    this.#names.draw(this.#rows, layout.rows, marked)
    shade(this.#canvas, layout.span)
    const { threads, thread, left, right } = state
    const drawn = [this.#rows, threads, thread, left, right, marked?.leaves, isDark, width]
    const height = this.#section.clientHeight
    drawn.push(height, devicePixelRatio)
    if (drawn.every((value, index) => value === this.#drawn[index])) return
    this.#drawn = drawn
    byId('tracks').style.height = `${layout.height}px`
    drawScale(prepare(byId('scale'), width, SCALE), layout.ticks)
    this.#drawTracks()
  }

  /** Draws the rows that are not scrolled away. */
  #drawTracks() {
    const { state, marked } = this.#shown
    const width = byId('tracks').clientWidth
    const layout = layoutTimeline(this.#recording, this.#rows, state, width)
    const height = Math.max(1, Math.min(layout.height, this.#section.clientHeight - SCALE))
    const offset = Math.min(this.#section.scrollTop, layout.height - height)
    const context = prepare(this.#canvas, width, height)
    const isMarked = marked !== undefined
    const key = [layout.visible.from, layout.visible.to, this.#canvas.width, marked?.leaves]
    if (key.some((part, index) => part !== this.#shares.key[index])) {
      this.#shares = { key, rows: new Map() }
    }
    this.#paint(context, layout, offset, isMarked)
    drawGrid(context, layout.ticks, height)
    for (const [index, { lane }] of this.#rows.entries()) {
      const top = layout.rows[index].top - offset
      if (lane === undefined || top > height || top + lane.height < 0) continue
      drawLane(context, lane, { top, width, visible: layout.visible })
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {ReturnType<typeof layoutTimeline>} layout
   * @param {number} offset pixels that are scrolled away @param {boolean} isMarked
   */
  #paint(context, layout, offset, isMarked) {
    const { width, height } = this.#canvas
    const ratio = window.devicePixelRatio || 1
    const image = context.createImageData(width, height)
    const pixels = new Uint32Array(image.data.buffer)
    const { palette } = this.#theme
    for (const [index, row] of this.#rows.entries()) {
      const { isSelected, ...place } = layout.rows[index]
      const top = Math.round((place.top - offset) * ratio)
      const size = Math.round(place.height * ratio)
      if (row.lane !== undefined || top >= height || top + size <= 0) continue
      const look = { isFaint: !isSelected, isMarked }
      const shares = this.#sharesOf(row, layout.visible, width)
      paintTrack({ pixels, width, height }, shares, { top, height: size, ratio }, palette, look)
    }
    context.putImageData(image, 0, 0)
  }

  /** @param {Row} row @param {import('../layout/boxes.js').Range} visible @param {number} width */
  #sharesOf({ id, threads }, visible, width) {
    const leaves = this.#shown.marked?.leaves
    const { rows } = this.#shares
    const known = rows.get(id)
    if (known) return known
    const shares = sharesOf(this.#recording, threads, visible, width, leaves)
    const calm = calmed(shares, width, (visible.to - visible.from) / width)
    rows.set(id, calm)
    return calm
  }

  /** Shows more or less time. @param {number} factor @param {number} [centre] from 0 on the left to 1 */
  zoomBy(factor, centre) {
    this.showTime(scaled(this.#visible(), factor, centre))
  }

  /** @param {number} share of the visible time */
  pan(share) {
    const whole = { from: 0, to: this.#recording.durationUs }
    this.showTime(moved(this.#visible(), whole, share))
  }

  /** Makes a time visible, or all. @param {import('../layout/boxes.js').Range} [time] */
  showTime(time) {
    const whole = { from: 0, to: this.#recording.durationUs }
    const { from, to } = inside(time ?? whole, whole)
    if (from <= whole.from && to >= whole.to) {
      this.#change({ left: undefined, right: undefined })
    } else if (to - from >= LEAST) {
      this.#change({ left: from, right: to })
    }
  }

  /** Selects threads, with a key beside the others. @param {number[]} threads @param {MouseEvent} event */
  #choose(threads, { ctrlKey, metaKey, shiftKey }) {
    const isAdded = ctrlKey || metaKey || shiftKey
    this.#change(chooseThreads(this.#shown.state, this.#recording, threads, isAdded))
  }

  /** Shows the rows below a row, or hides them. @param {Row} row */
  #open({ id, isOpen }) {
    this.#opened.set(id, !isOpen)
    this.#rows = rowsOf(this.#recording, this.#opened)
    this.#change({})
  }

  /** @param {PointerEvent} event */
  #beginDrag({ clientX, pointerId, button }) {
    if (button !== 0) return
    this.#dragFrom = clientX
    this.#canvas.setPointerCapture(pointerId)
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const { clientX, clientY } = event
    const us = this.#usAt(clientX)
    this.#showMoment(us)
    if (this.#dragFrom === undefined || this.#isClick(clientX)) {
      const index = this.#rowAt(clientY)
      const level = Math.floor((this.#yOf(clientY) - this.#topOf(index)) / SPAN)
      showHover(event, this.#textOf(index, us, level))
      return
    }
    const start = this.#usAt(this.#dragFrom)
    showHover(event, [formatTime(Math.abs(us - start) / 1000)])
    if (start !== us) this.#change({ from: Math.min(start, us), to: Math.max(start, us) })
  }

  /** @param {PointerEvent} event */
  #endDrag({ clientX, clientY }) {
    const isClick = this.#isClick(clientX)
    this.#dragFrom = undefined
    if (isClick) this.#openByTime(this.#rowAt(clientY))
  }

  /** Shows the busiest thread of a row in the graph by time. @param {number} index */
  #openByTime(index) {
    const row = this.#rows[index]
    if (row?.threads.length > 0) this.#change({ thread: busiest(row, this.#recording) })
  }

  /** Shows what a row did at a time below that place. @param {import('./timeline-keys.js').Place} place */
  #showByKey({ us, index }) {
    const name = byId('threads').children[index]
    name.scrollIntoView({ block: 'nearest' })
    const { from, to } = this.#visible()
    const { left, width } = this.#canvas.getBoundingClientRect()
    const clientX = left + ((us - from) / (to - from)) * width
    const lines = this.#textOf(index, us)
    this.#showMoment(us)
    showHover({ clientX, clientY: name.getBoundingClientRect().bottom }, lines)
    this.#canvas.setAttribute('aria-valuenow', String(Math.round(us / 1000)))
    this.#canvas.setAttribute('aria-valuetext', lines.join(', '))
  }

  /** @param {number} us */
  #showMoment(us) {
    const { from, to } = this.#visible()
    showMoment((us - from) / (to - from), formatTime(us / 1000))
  }

  /** Describes a row at a time, on one of its levels or on any. @param {number} index @param {number} us @param {number} [level] */
  #textOf(index, us, level) {
    const time = formatTime(us / 1000)
    const row = this.#rows[index]
    if (row === undefined) return [time]
    if (row.lane === undefined) {
      return [`${time}  ${row.label}`, ...layoutMoment(this.#recording, row.threads, us)]
    }
    const { from, to } = this.#visible()
    const usPerPixel = (to - from) / byId('tracks').clientWidth
    return [`${time}  ${textOfLane(row.lane, us, usPerPixel, level)}`]
  }

  /** Zooms or moves. Without a key, the wheel scrolls. @param {WheelEvent} event */
  #turn(event) {
    const { ctrlKey, metaKey, deltaX, deltaY, clientX } = event
    if (!ctrlKey && !metaKey && deltaX === 0) return
    event.preventDefault()
    const { left, width } = this.#canvas.getBoundingClientRect()
    if (deltaX !== 0) this.pan(deltaX / width)
    else this.zoomBy(deltaY < 0 ? 1 / ZOOM : ZOOM, (clientX - left) / width)
  }

  /** Returns whether the pointer is where it was pressed. @param {number} clientX */
  #isClick(clientX) {
    return this.#dragFrom !== undefined && Math.abs(clientX - this.#dragFrom) < CLICK
  }

  /** @param {number} clientX */
  #usAt(clientX) {
    const { left, width } = this.#canvas.getBoundingClientRect()
    const { from, to } = this.#visible()
    return from + Math.max(0, Math.min(1, (clientX - left) / width)) * (to - from)
  }

  /** @param {number} clientY */
  #rowAt(clientY) {
    return rowAt(this.#rows, this.#yOf(clientY))
  }

  #visible() {
    return visibleOf(this.#shown.state, this.#recording)
  }

  /** Returns where a row begins below the first row: pixels. @param {number} index */
  #topOf(index) {
    return this.#rows.slice(0, index).reduce((sum, { height }) => sum + height, 0)
  }

  /** Returns the place below the first row. @param {number} clientY */
  #yOf(clientY) {
    return clientY - byId('tracks').getBoundingClientRect().top
  }
}

/** @param {Row} row @param {Recording} recording */
function busiest({ threads }, recording) {
  const busyUs = (/** @type {number} */ thread) => recording.threads[thread].busyUs
  return threads.reduce((best, thread) => (busyUs(thread) > busyUs(best) ? thread : best))
}

module.exports = { TimelineView }
