'use strict'

// Draws the flame graph, and answers the pointer.

const { nameOf, placeOf, threadLabel } = require('../data/names.js')
const { STATE_NAMES, WAITING } = require('../data/recording.js')
const { formatChange, timesOf } = require('../data/sides.js')
const {
  CLICK,
  LEVEL,
  ZOOM,
  boxAt,
  inside,
  moved,
  placeOfBox,
  scaled,
} = require('../layout/boxes.js')
const { layoutFlame } = require('../layout/flame.js')
const { shownThread, threadsOf, viewsOf } = require('../state.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { differenceColour, functionColours, labelColours, packageColours } = require('./colours.js')
const { button, byId, cutText, prepare, shade, showHover, variable, widthFor } =
  require('./elements.js')
const { colourChoice } = require('./legend.js')
const { hideMoment, showMoment } = require('./scale.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/boxes.js').Box} Box */
/** @typedef {import('../layout/boxes.js').Range} Range */
/** @typedef {import('../state.js').Shown} Shown */

/** Names of the views on their buttons. */
const NAMES = { time: 'by time', heavy: 'left heavy', inverted: 'inverted', sandwich: 'sandwich' }
/** Narrower boxes have no name: pixels. */
const MIN_TEXT = 18
/** Width of a wide letter: pixels. */
const WIDE = 8
/** Drawings of a drag that take longer wait until the user pauses: milliseconds. */
const SLOW = 4
/** Levels that are visible above the one that matters, if there are more. */
const ABOVE = 5

class FlameView {
  /** @type {HTMLCanvasElement} */
  #canvas = byId('flame')
  #section = /** @type {HTMLElement} */ (document.querySelector('.flame'))
  #recording
  #change
  #timeline
  #buttons
  #choice
  /** The colours of a theme. @type {{ isDark: boolean, packages: (name: string) => string, functions: string[] } | undefined} */
  #colours
  /** The colours of labels, where they colour the graph. @type {Map<number, string> | undefined} */
  #labelColours
  /** The visible part of the graphs without time; all if undefined. @type {Range | undefined} */
  #zoom
  /** What the last drawing shows. @type {unknown[]} */
  #drawn = []
  /** How long the last drawing took, milliseconds. */
  #lastMs = 0
  /** Where a drag began and goes on: pixels in the window. @type {{ from: number, at: number } | undefined} */
  #drag
  /** What is drawn, from the first drawing on. @type {Shown} */
  #shown = /** @type {any} */ (undefined)
  /** @type {import('../layout/boxes.js').Flame} */
  #flame = { levels: [], whole: { from: 0, to: 0 }, visible: { from: 0, to: 0 } }

  /**
   * @param {Recording} recording @param {import('../state.js').Change} change
   * @param {import('./timeline.js').TimelineView} timeline which has the visible time
   */
  constructor(recording, change, timeline) {
    this.#recording = recording
    this.#change = change
    this.#timeline = timeline
    const canvas = this.#canvas
    canvas.addEventListener('pointerdown', (event) => this.#begin(event))
    canvas.addEventListener('pointermove', (event) => this.#move(event))
    canvas.addEventListener('pointerup', (event) => this.#end(event))
    canvas.addEventListener('pointerleave', hideMoment)
    canvas.addEventListener('dblclick', (event) => this.#show(this.#boxUnder(event)))
    canvas.addEventListener('wheel', (event) => this.#turn(event), { passive: false })
    this.#buttons = viewsOf(recording).map((view) => ({
      view,
      made: button(NAMES[view], () => change({ view }), { id: `view-${view}` }),
    }))
    byId('views').append(...this.#buttons.map(({ made }) => made))
    this.#choice = colourChoice(recording, change)
  }

  /** @param {Shown} shown */
  draw(shown) {
    const { costs, state } = shown
    const before = this.#shown
    const isAnother =
      state.view !== before?.state.view ||
      (state.view === 'sandwich' && shown.function !== before.function)
    if (isAnother || costs !== before.costs) this.#zoom = undefined
    this.#shown = shown
    this.#section.classList.toggle('by-time', this.#isByTime())
    this.#choice.draw(state, this.#isByTime())
    this.#chooseColours()
    for (const { view, made } of this.#buttons) {
      made.setAttribute('aria-pressed', String(view === state.view))
    }
    this.#drawIfChanged()
    this.#shadeUnselected()
    if (isAnother) this.#scroll()
    byId('flame-title').textContent = this.#title()
  }

  /** Returns whether a drawing of other costs takes too long for a drag. @param {import('../data/costs.js').Costs} costs */
  isSlow(costs) {
    return !this.#isByTime() && this.#shown.costs !== costs && this.#lastMs > SLOW
  }

  /** Returns the colours of packages. */
  colourOf() {
    return this.#colours?.packages
  }

  /** Returns the colours of labels, where they colour the graph. */
  colourOfLabels() {
    return this.#labelColours
  }

  /** Shows more or less. @param {number} factor @param {number} [centre] from 0 on the left to 1 */
  zoomBy(factor, centre) {
    if (this.#isByTime()) this.#timeline.zoomBy(factor, centre)
    else this.#showInside(scaled(this.#flame.visible, factor, centre))
  }

  /** @param {number} share of the visible part */
  pan(share) {
    if (this.#isByTime()) this.#timeline.pan(share)
    else this.#showInside(moved(this.#flame.visible, this.#flame.whole, share))
  }

  reset() {
    this.#show(undefined)
  }

  #isByTime() {
    return this.#shown.state.view === 'time'
  }

  #chooseColours() {
    const { isDark, costs, state } = this.#shown
    const { labels } = this.#recording
    const isByLabel = labels !== undefined && state.colours !== undefined && this.#isByTime()
    this.#labelColours = isByLabel
      ? labelColours(labels, costs, String(state.colours), isDark)
      : undefined
    if (this.#colours?.isDark === isDark) return
    const packages = packageColours(this.#recording, costs, isDark)
    this.#colours = { isDark, packages, functions: functionColours(this.#recording, packages) }
  }

  /** Draws the graph, unless only the selected time has changed and the graph has all times. */
  #drawIfChanged() {
    const { state, costs, isWanted, isDark } = this.#shown
    const { view, query, function: item, left, right } = state
    const width = widthFor(this.#canvas)
    const ofView = this.#isByTime()
      ? [left, right, shownThread(state, this.#recording), state.colours]
      : [costs, this.#zoom, view === 'sandwich' ? this.#shown.function : undefined]
    const drawn = [view, query, item, isWanted, isDark, width, devicePixelRatio, ...ofView]
    if (drawn.every((value, index) => value === this.#drawn[index])) return
    this.#drawn = drawn
    const start = performance.now()
    this.#drawAgain(width)
    this.#lastMs = performance.now() - start
  }

  /** @param {number} width pixels */
  #drawAgain(width) {
    this.#flame = layoutFlame(this.#recording, this.#shown, width, this.#zoom)
    const { levels, visible } = this.#flame
    const colours = {
      text: variable('--text'),
      onBox: variable('--on-box'),
      page: variable('--page'),
    }
    const context = prepare(this.#canvas, width, Math.max(levels.length, 3) * LEVEL)
    for (const [level, boxes] of levels.entries()) {
      for (const box of boxes) {
        const place = { ...placeOfBox(box, visible, width), top: level * LEVEL }
        this.#drawBox(context, box, place, colours)
      }
    }
    if (levels.length === 0) {
      context.fillStyle = colours.text
      context.fillText('Nothing ran here.', 8, LEVEL)
    }
  }

  /** Shades the time that is not selected. */
  #shadeUnselected() {
    const { from, to } = this.#shown.state
    const isShaded = this.#isByTime() && from !== undefined && to !== undefined
    const { visible } = this.#flame
    const share = (/** @type {number} */ us) => (us - visible.from) / (visible.to - visible.from)
    shade(this.#canvas, isShaded ? { from: share(from), to: share(to) } : undefined)
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {Box} box
   * @param {{ left: number, width: number, top: number }} place
   * @param {{ text: string, onBox: string, page: string }} colours
   */
  #drawBox(context, box, { left, width, top }, { text, onBox, page }) {
    const { state, isWanted } = this.#shown
    const chosen = state.view === 'sandwich' ? this.#shown.function : state.function
    const isFaint = state.query !== '' && !isWanted(box.item)
    context.globalAlpha = isFaint ? 0.25 : box.state === undefined ? 1 : 0.5
    context.fillStyle = this.#colourOf(box)
    const right = Math.max(width - 0.5, 0.5)
    context.fillRect(left, top, right, LEVEL - 1)
    if (box.state === WAITING) hatch(context, left, top, right, page)
    context.globalAlpha = isFaint ? 0.5 : 1
    if (box.item === chosen && width > 2) {
      context.strokeStyle = text
      context.lineWidth = 2
      context.strokeRect(left + 1, top + 1, width - 2.5, LEVEL - 3)
    }
    const name = width < MIN_TEXT ? '' : cutText(nameOf(this.#recording, box.item), width)
    if (name !== '') {
      context.fillStyle = onBox
      // A name of wide letters becomes narrower. To measure each name takes too long for a drag.
      const room = name.length * WIDE < width ? undefined : width - 5
      context.fillText(name, left + 3, top + LEVEL / 2, room)
    }
    context.globalAlpha = 1
  }

  /** @param {Box} box */
  #colourOf(box) {
    const { sides, isDark } = this.#shown
    const ofLabel = this.#labelColours?.get(box.label ?? -1)
    if (ofLabel !== undefined) return ofLabel
    if (!sides) return this.#colours?.functions[box.item] ?? ''
    const { baseUs, headUs } = timesOf(sides, box)
    return differenceColour(headUs - baseUs, sides.base.workUs, isDark)
  }

  #title() {
    const { state, sides } = this.#shown
    if (sides) return 'orange: slower, blue: faster; the width is the time of both sides'
    if (state.view === 'sandwich') {
      const { function: item } = this.#shown
      const name = item === -1 ? '' : nameOf(this.#recording, item)
      return `${name}: who calls it above, what it calls below`
    }
    const above = Math.round(this.#section.scrollTop / LEVEL)
    const hint = above > 0 ? `${above} levels above, all of one call: scroll up` : ''
    if (state.view !== 'time') return state.view === 'heavy' ? hint : ''
    const thread = this.#recording.threads[shownThread(state, this.#recording)]
    const isOnly = threadsOf(state, this.#recording).length === 1
    const label = `${threadLabel(thread)}${isOnly ? '' : ' (click a track for another thread)'}`
    return [label, ...(hint ? [hint] : [])].join(' · ')
  }

  /** Makes the middle of a sandwich visible, or the level where the work divides. */
  #scroll() {
    const { middle = 0 } = this.#flame
    this.#section.scrollTop = Math.max(0, middle - ABOVE) * LEVEL
  }

  /** @param {MouseEvent} event */
  #boxUnder({ clientX, clientY }) {
    const { left, top } = this.#canvas.getBoundingClientRect()
    return boxAt(this.#flame, (clientX - left) / widthFor(this.#canvas), clientY - top)
  }

  /** @param {PointerEvent} event */
  #begin({ clientX, pointerId, button: pressed }) {
    if (pressed !== 0) return
    this.#drag = { from: clientX, at: clientX }
    this.#canvas.setPointerCapture(pointerId)
  }

  /** Moves the graph, or describes a box. @param {PointerEvent} event */
  #move(event) {
    const drag = this.#drag
    if (drag !== undefined && Math.abs(event.clientX - drag.from) >= CLICK) {
      hideMoment()
      this.pan((drag.at - event.clientX) / widthFor(this.#canvas))
      drag.at = event.clientX
      drag.from = Number.NEGATIVE_INFINITY
      return
    }
    if (this.#isByTime()) this.#showMoment(event)
    const box = this.#boxUnder(event)
    this.#canvas.style.cursor = box ? 'pointer' : 'default'
    showHover(event, box ? this.#textOf(box) : [])
  }

  /** @param {PointerEvent} event */
  #showMoment({ clientX }) {
    const { left, width } = this.#canvas.getBoundingClientRect()
    const share = (clientX - left) / width
    const { from, to } = this.#flame.visible
    showMoment(share, formatTime((from + share * (to - from)) / 1000))
  }

  /** @param {PointerEvent} event */
  #end(event) {
    const isClick = this.#drag !== undefined && this.#drag.from !== Number.NEGATIVE_INFINITY
    this.#drag = undefined
    const box = isClick ? this.#boxUnder(event) : undefined
    if (box) this.#change({ function: box.item })
  }

  /** @param {Box} box */
  #textOf(box) {
    const [name, place] = [nameOf, placeOf].map((textOf) => textOf(this.#recording, box.item))
    return [`${name}  ${this.#timeOf(box)}`, place]
  }

  /** @param {Box} box */
  #timeOf(box) {
    const { costs, sides } = this.#shown
    if (sides) {
      const { baseUs, headUs } = timesOf(sides, box)
      return formatChange(baseUs, headUs)
    }
    const us = box.to - box.from
    const share = this.#isByTime() ? '' : ` (${formatShare(us, costs.workUs)})`
    return `${formatTime(us / 1000)}${share}${box.state === undefined ? '' : ` ${STATE_NAMES[box.state]}`}`
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
    if (this.#isByTime()) return this.#timeline.showTime(part)
    this.#zoom = part && { from: part.from, to: part.to }
    this.#change({})
  }
}

/** Draws stripes over a box. @param {CanvasRenderingContext2D} context @param {number} left @param {number} top @param {number} width @param {string} colour */
function hatch(context, left, top, width, colour) {
  context.save()
  context.beginPath()
  context.rect(left, top, width, LEVEL - 1)
  context.clip()
  context.strokeStyle = colour
  context.lineWidth = 2
  context.beginPath()
  for (let x = left - LEVEL; x < left + width; x += 6) {
    context.moveTo(x, top + LEVEL)
    context.lineTo(x + LEVEL, top)
  }
  context.stroke()
  context.restore()
}

module.exports = { FlameView }
