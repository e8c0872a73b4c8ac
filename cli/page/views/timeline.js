'use strict'

// Draws what each thread did over time. A drag selects time, a name selects a process or thread.

const { nameOf } = require('../data/names.js')
const { STATES, sampleAt } = require('../data/recording.js')
const { SPAN } = require('../layout/lanes.js')
const { inside, moved, scaled } = require('../layout/boxes.js')
const { SCALE, layoutTimeline, rowAt, sharesOf } = require('../layout/timeline.js')
const { rowsOf } = require('../layout/tracks.js')
const { chooseThreads, visibleOf } = require('../state.js')
const { formatTime } = require('../../terminal/units.js')
const { byId, hideHover, prepare, shade, showHover, variable } = require('./elements.js')
const { drawLane, textOfLane } = require('./lanes.js')
const { RowNames } = require('./row-names.js')
const { paintTrack, paletteOf } = require('./tracks.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/tracks.js').Row} Row */
/** @typedef {import('../state.js').Shown} Shown */

/** A drag that is shorter is a click: pixels. */
const CLICK = 3
/** Factor of one step of the wheel. */
const ZOOM = 1.3
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
    canvas.addEventListener('pointerleave', hideHover)
    canvas.addEventListener('dblclick', () => change({ from: undefined, to: undefined }))
    canvas.addEventListener('wheel', (event) => this.#turn(event), { passive: false })
    this.#section.addEventListener('scroll', () => this.#drawTracks())
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
    const shares = rows.get(id) ?? sharesOf(this.#recording, threads, visible, width, leaves)
    rows.set(id, shares)
    return shares
  }

  /** Shows more or less time. @param {number} factor @param {number} [centre] from 0 on the left to 1 */
  zoomBy(factor, centre) {
    this.showTime(scaled(visibleOf(this.#shown.state, this.#recording), factor, centre))
  }

  /** @param {number} share of the visible time */
  pan(share) {
    const whole = { from: 0, to: this.#recording.durationUs }
    this.showTime(moved(visibleOf(this.#shown.state, this.#recording), whole, share))
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
    const { clientX } = event
    const us = this.#usAt(clientX)
    if (this.#dragFrom === undefined || this.#isClick(clientX)) {
      showHover(event, this.#textAt(event, us))
      return
    }
    const start = this.#usAt(this.#dragFrom)
    showHover(event, [formatTime(Math.abs(us - start) / 1000)])
    if (start !== us) this.#change({ from: Math.min(start, us), to: Math.max(start, us) })
  }

  /** @param {PointerEvent} event */
  #endDrag({ clientX, clientY }) {
    const row = this.#rows[this.#rowAt(clientY)]
    const isClick = row && this.#isClick(clientX)
    this.#dragFrom = undefined
    if (isClick && row.threads.length > 0) this.#change({ thread: busiest(row, this.#recording) })
  }

  /** Describes what is under the pointer. @param {MouseEvent} event @param {number} us */
  #textAt({ clientY }, us) {
    const time = formatTime(us / 1000)
    const index = this.#rowAt(clientY)
    const row = this.#rows[index]
    if (row === undefined) return [time]
    if (row.lane !== undefined) {
      const { from, to } = visibleOf(this.#shown.state, this.#recording)
      const above = this.#rows.slice(0, index).reduce((sum, { height }) => sum + height, 0)
      const level = Math.floor((this.#yOf(clientY) - above) / SPAN)
      const { clientWidth } = byId('tracks')
      return [`${time}  ${textOfLane(row.lane, us, (to - from) / clientWidth, level)}`]
    }
    const lines = [`${time}  ${row.label}`]
    if (row.threads.length === 1) lines.push(...this.#sampleText(row.threads[0], us))
    return lines
  }

  /** Tells what a thread did at a time. @param {number} thread @param {number} us */
  #sampleText(thread, us) {
    const { times, leaves } = this.#recording.threads[thread]
    if (us < times[0] || us >= times[times.length - 1]) return ['not recorded']
    const leaf = leaves[sampleAt(times, us)]
    if (leaf === -1) return ['not recorded']
    const { functions, leafNode, leafState, files } = this.#recording
    const item = functions[leafNode[leaf]]
    const state = STATES[leafState[leaf]]
    return files[item] === -1 ? [state] : [`${state}  ${nameOf(this.#recording, item)}`]
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
    const { from, to } = visibleOf(this.#shown.state, this.#recording)
    return from + Math.max(0, Math.min(1, (clientX - left) / width)) * (to - from)
  }

  /** @param {number} clientY */
  #rowAt(clientY) {
    return rowAt(this.#rows, this.#yOf(clientY))
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

/** @param {CanvasRenderingContext2D} context @param {{ x: number, label: string }[]} ticks */
function drawScale(context, ticks) {
  const [line, text] = [variable('--line'), variable('--faint')]
  for (const { x, label } of ticks) {
    context.fillStyle = line
    context.fillRect(x, 4, 1, SCALE)
    context.fillStyle = text
    context.fillText(label, x + 4, SCALE / 2 + 1)
  }
}

/** @param {CanvasRenderingContext2D} context @param {{ x: number }[]} ticks @param {number} height */
function drawGrid(context, ticks, height) {
  context.fillStyle = variable('--grid')
  for (const { x } of ticks) context.fillRect(x, 0, 1, height)
}

module.exports = { TimelineView }
