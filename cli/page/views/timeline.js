'use strict'

// Draws what each thread did over time. A drag selects time, a name selects a process or thread.

const {
  ROW,
  SCALE,
  STACK,
  layoutTimeline,
  rowAt,
  rowsOf,
  sharesOf,
} = require('../layout/timeline.js')
const { chooseThreads } = require('../state.js')
const { formatTime } = require('../../terminal/units.js')
const { STATES } = require('./colours.js')
const { button, byId, element, prepare, variable, widthFor } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

/** A drag that is shorter is a click: pixels. */
const CLICK = 3

class TimelineView {
  /** @type {HTMLCanvasElement} */
  #canvas = byId('timeline')
  #hover = byId('hover')
  #recording
  #change
  #rows
  #buttons
  /** What threads did, for one width. @type {{ width: number, rows: Float64Array[] }} */
  #shares = { width: -1, rows: [] }
  /** Where a drag began: pixels in the window. @type {number | undefined} */
  #dragFrom
  /** What is drawn, from the first drawing on. @type {Shown} */
  #shown = /** @type {any} */ (undefined)

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    this.#change = change
    this.#rows = rowsOf(recording)
    this.#buttons = this.#rows.map(({ label, threads, isBelow }) => {
      const made = button(label, (event) => this.#choose(threads, event), { title: label })
      made.classList.toggle('below', isBelow)
      return made
    })
    byId('threads').append(element('div', { className: 'scale' }), ...this.#buttons)
    this.#canvas.addEventListener('pointerdown', (event) => this.#beginDrag(event))
    this.#canvas.addEventListener('pointermove', (event) => this.#drag(event))
    this.#canvas.addEventListener('pointerup', (event) => this.#endDrag(event))
    this.#canvas.addEventListener('dblclick', () => change({ from: undefined, to: undefined }))
  }

  /** @param {Shown} shown */
  draw(shown) {
    this.#shown = shown
    const width = widthFor(this.#canvas)
    const recording = this.#recording
    if (this.#shares.width !== width) {
      const rows = this.#rows.map(({ threads }) => sharesOf(recording, threads, width))
      this.#shares = { width, rows }
    }
    const layout = layoutTimeline(recording, this.#rows, shown.state, width)
    const { height, ticks, rows, span } = layout
    const context = prepare(this.#canvas, width, height)
    drawScale(context, ticks, height)
    for (const [index, { top, isSelected, isShown }] of rows.entries()) {
      context.globalAlpha = isSelected ? 1 : 0.3
      drawRow(context, this.#shares.rows[index], top, shown.isDark)
      this.#buttons[index].setAttribute('aria-pressed', String(isSelected))
      this.#buttons[index].classList.toggle('shown', isShown)
    }
    context.globalAlpha = 1
    if (span) drawSpan(context, span, width, height)
  }

  /** Selects threads, with a key beside the others. @param {number[]} threads @param {MouseEvent} event */
  #choose(threads, { ctrlKey, metaKey, shiftKey }) {
    const isAdded = ctrlKey || metaKey || shiftKey
    this.#change(chooseThreads(this.#shown.state, this.#recording, threads, isAdded))
  }

  /** @param {PointerEvent} event */
  #beginDrag({ clientX, pointerId }) {
    this.#dragFrom = clientX
    this.#canvas.setPointerCapture(pointerId)
  }

  /** @param {PointerEvent} event */
  #drag({ clientX, clientY }) {
    const us = this.#usAt(clientX)
    const time = formatTime(us / 1000)
    const row = this.#rowAt(clientY)
    this.#hover.textContent = row ? `${time} · ${row.label}` : time
    if (this.#dragFrom === undefined || this.#isClick(clientX)) return
    const start = this.#usAt(this.#dragFrom)
    if (start !== us) this.#change({ from: Math.min(start, us), to: Math.max(start, us) })
  }

  /** @param {PointerEvent} event */
  #endDrag({ clientX, clientY }) {
    const row = this.#rowAt(clientY)
    if (row && this.#isClick(clientX)) this.#change({ thread: row.threads[0] })
    this.#dragFrom = undefined
  }

  /** Returns whether the pointer is where it was pressed. @param {number} clientX */
  #isClick(clientX) {
    return this.#dragFrom !== undefined && Math.abs(clientX - this.#dragFrom) < CLICK
  }

  /** @param {number} clientX */
  #usAt(clientX) {
    const { left, width } = this.#canvas.getBoundingClientRect()
    return Math.max(0, Math.min(1, (clientX - left) / width)) * this.#recording.durationUs
  }

  /** @param {number} clientY */
  #rowAt(clientY) {
    return rowAt(this.#rows, clientY - this.#canvas.getBoundingClientRect().top)
  }
}

/** @param {CanvasRenderingContext2D} context @param {{ x: number, label: string }[]} ticks @param {number} height */
function drawScale(context, ticks, height) {
  const [line, text] = [variable('--line'), variable('--faint')]
  for (const { x, label } of ticks) {
    context.fillStyle = line
    context.fillRect(x, 0, 1, height)
    context.fillStyle = text
    context.fillText(label, x + 3, SCALE / 2)
  }
}

/** @param {CanvasRenderingContext2D} context @param {Float64Array} shares @param {number} top @param {boolean} isDark */
function drawRow(context, shares, top, isDark) {
  const colours = STACK.map(({ name }) => STATES[name][isDark ? 1 : 0])
  for (let pixel = 0; pixel < shares.length / STACK.length; pixel++) {
    let bottom = top + ROW - 2
    for (const [index, colour] of colours.entries()) {
      const height = shares[pixel * STACK.length + index] * (ROW - 4)
      if (height < 0.05) continue
      context.fillStyle = colour
      context.fillRect(pixel, bottom - height, 1, height)
      bottom -= height
    }
  }
}

/**
 * Shades what is not selected.
 * @param {CanvasRenderingContext2D} context @param {import('../layout/flame.js').Range} span pixels
 * @param {number} width @param {number} height
 */
function drawSpan(context, { from, to }, width, height) {
  context.fillStyle = variable('--shade')
  context.fillRect(0, 0, from, height)
  context.fillRect(to, 0, width - to, height)
  context.fillStyle = variable('--text')
  context.fillRect(from, 0, 1, height)
  context.fillRect(to - 1, 0, 1, height)
}

module.exports = { TimelineView }
