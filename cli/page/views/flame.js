'use strict'

// Draws the flame graph, and answers the pointer.

const { nameOf, placeOf, threadLabel } = require('../data/names.js')
const { formatChange, timesOf } = require('../data/sides.js')
const {
  LEVEL,
  boxAt,
  inside,
  layoutFlame,
  moved,
  placeOfBox,
  scaled,
} = require('../layout/flame.js')
const { VIEWS, shownThread, threadsOf } = require('../state.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { coloursOf, differenceColour } = require('./colours.js')
const { byId, cutText, prepare, variable, widthFor } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/flame.js').Box} Box */
/** @typedef {import('../layout/flame.js').Range} Range */
/** @typedef {import('../state.js').Shown} Shown */

/** Narrower boxes have no name: pixels. */
const MIN_TEXT = 18
/** Factor of one step of the wheel. */
const ZOOM = 1.3

class FlameView {
  /** @type {HTMLCanvasElement} */
  #canvas = byId('flame')
  #hover = byId('hover')
  #recording
  #change
  /** Colours of the functions, in the light and in the dark theme. @type {Map<boolean, string[]>} */
  #colours = new Map()
  /** The visible part of the graphs without time; all if undefined. @type {Range | undefined} */
  #zoom
  /** What is drawn, from the first drawing on. @type {Shown} */
  #shown = /** @type {any} */ (undefined)
  /** @type {import('../layout/flame.js').Flame} */
  #flame = { levels: [], whole: { from: 0, to: 0 }, visible: { from: 0, to: 0 } }

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    this.#change = change
    const canvas = this.#canvas
    canvas.addEventListener('pointermove', (event) => this.#describe(event))
    canvas.addEventListener('pointerleave', () => {
      this.#hover.textContent = ''
    })
    canvas.addEventListener('click', (event) => this.#select(event))
    canvas.addEventListener('dblclick', (event) => this.#show(this.#boxUnder(event)))
    canvas.addEventListener('wheel', (event) => this.#turn(event), { passive: false })
    for (const view of VIEWS) byId(`view-${view}`).addEventListener('click', () => change({ view }))
  }

  /** @param {Shown} shown */
  draw(shown) {
    const { costs, state } = shown
    const isAnother = costs !== this.#shown?.costs || state.view !== this.#shown.state.view
    if (isAnother) this.#zoom = undefined
    this.#shown = shown
    for (const view of VIEWS) {
      byId(`view-${view}`).setAttribute('aria-pressed', String(view === state.view))
    }
    this.#drawAgain()
  }

  /** Shows more or less. @param {number} factor @param {number} [centre] from 0 on the left to 1 */
  zoomBy(factor, centre) {
    this.#showInside(scaled(this.#flame.visible, factor, centre))
  }

  /** @param {number} share of the visible part */
  pan(share) {
    this.#showInside(moved(this.#flame.visible, this.#flame.whole, share))
  }

  reset() {
    this.#show(undefined)
  }

  #drawAgain() {
    const { state, costs } = this.#shown
    const width = widthFor(this.#canvas)
    this.#flame = layoutFlame(this.#recording, state, costs, width, this.#zoom)
    const { levels, visible } = this.#flame
    const [text, onBox] = [variable('--text'), variable('--on-box')]
    const context = prepare(this.#canvas, width, Math.max(levels.length, 3) * LEVEL)
    for (const [level, boxes] of levels.entries()) {
      for (const box of boxes) {
        const place = { ...placeOfBox(box, visible, width), top: level * LEVEL }
        this.#drawBox(context, box, place, { text, onBox })
      }
    }
    if (levels.length === 0) {
      context.fillStyle = text
      context.fillText('Nothing ran here.', 8, LEVEL)
    }
    byId('flame-title').textContent = this.#title()
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {Box} box
   * @param {{ left: number, width: number, top: number }} place
   * @param {{ text: string, onBox: string }} colours
   */
  #drawBox(context, box, { left, width, top }, { text, onBox }) {
    const { state, isWanted } = this.#shown
    const isFaint = state.query !== '' && !isWanted(box.item)
    context.globalAlpha = isFaint ? 0.25 : box.isBlocked ? 0.55 : 1
    context.fillStyle = this.#colourOf(box)
    context.fillRect(left, top, Math.max(width - 0.5, 0.5), LEVEL - 1)
    context.globalAlpha = isFaint ? 0.5 : 1
    if (box.item === state.function && width > 2) {
      context.strokeStyle = text
      context.lineWidth = 2
      context.strokeRect(left + 1, top + 1, width - 2.5, LEVEL - 3)
    }
    const name = width < MIN_TEXT ? '' : cutText(nameOf(this.#recording, box.item), width)
    if (name !== '') {
      context.fillStyle = onBox
      context.fillText(name, left + 3, top + LEVEL / 2)
    }
    context.globalAlpha = 1
  }

  /** @param {Box} box */
  #colourOf(box) {
    const { sides, isDark } = this.#shown
    if (sides) {
      const { baseUs, headUs } = timesOf(sides, box)
      return differenceColour(headUs - baseUs, sides.base.workUs, isDark)
    }
    const colours = this.#colours.get(isDark) ?? coloursOf(this.#recording, isDark)
    this.#colours.set(isDark, colours)
    return colours[box.item]
  }

  #title() {
    const { state, sides } = this.#shown
    if (sides) return 'orange: slower, blue: faster; the width is the time of both sides'
    if (state.view !== 'time') return ''
    const thread = this.#recording.threads[shownThread(state, this.#recording)]
    const isOnly = threadsOf(state, this.#recording).length === 1
    return `${threadLabel(thread)}${isOnly ? '' : ' (click a row above for another thread)'}`
  }

  /** @param {MouseEvent} event */
  #boxUnder({ clientX, clientY }) {
    const { left, top } = this.#canvas.getBoundingClientRect()
    return boxAt(this.#flame, (clientX - left) / widthFor(this.#canvas), clientY - top)
  }

  /** Describes a box on one line. @param {MouseEvent} event */
  #describe(event) {
    const box = this.#boxUnder(event)
    this.#canvas.style.cursor = box ? 'pointer' : 'default'
    this.#hover.textContent = box ? this.#textOf(box) : ''
  }

  /** @param {Box} box */
  #textOf(box) {
    const [name, place] = [nameOf, placeOf].map((textOf) => textOf(this.#recording, box.item))
    return `${name}  ${place}  ${this.#timeOf(box)}`
  }

  /** @param {Box} box */
  #timeOf(box) {
    const { state, costs, sides } = this.#shown
    if (sides) {
      const { baseUs, headUs } = timesOf(sides, box)
      return formatChange(baseUs, headUs)
    }
    const us = box.to - box.from
    const share = state.view === 'time' ? '' : ` (${formatShare(us, costs.workUs)})`
    return `${formatTime(us / 1000)}${share}${box.isBlocked ? ' blocked' : ''}`
  }

  /** @param {MouseEvent} event */
  #select(event) {
    const box = this.#boxUnder(event)
    if (box) this.#change({ function: box.item })
  }

  /** Zooms or moves. Without a key, the wheel scrolls. @param {WheelEvent} event */
  #turn(event) {
    const { ctrlKey, metaKey, deltaX, deltaY, clientX } = event
    if (!ctrlKey && !metaKey && deltaX === 0) return
    event.preventDefault()
    const width = widthFor(this.#canvas)
    if (deltaX !== 0) return this.pan(deltaX / width)
    const { left } = this.#canvas.getBoundingClientRect()
    this.zoomBy(deltaY < 0 ? 1 / ZOOM : ZOOM, (clientX - left) / width)
  }

  /** @param {Range} part */
  #showInside(part) {
    const { whole } = this.#flame
    const { from, to } = inside(part, whole)
    if (from <= whole.from && to >= whole.to) this.#show(undefined)
    // Below a microsecond there is nothing to see.
    else if (to - from >= 1) this.#show({ from, to })
  }

  /** @param {Range | undefined} part all if undefined */
  #show(part) {
    if (this.#shown.state.view === 'time') return this.#change({ from: part?.from, to: part?.to })
    this.#zoom = part && { from: part.from, to: part.to }
    this.#drawAgain()
  }
}

module.exports = { FlameView }
