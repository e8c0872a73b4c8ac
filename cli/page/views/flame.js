'use strict'

// Draws the flame graph, and answers the pointer.

const { byTime, leftHeavy, inverted, boxAt } = require('../layout/flame.js')
const { prepare, cutText, variable } = require('./canvas.js')
const { byId } = require('./elements.js')
const { coloursOf, differenceColour } = require('./colours.js')
const { nameOf, placeOf, threadLabel } = require('../data/recording.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { formatDifference, formatSides, timesOf } = require('../data/sides.js')
const { spanOf, threadsOf } = require('../state.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../layout/flame.js').Box} Box */
/** @typedef {import('../layout/flame.js').Flame} Flame */
/** @typedef {{ state: State, costs: Costs, sides?: import('../data/sides.js').Sides, isDark: boolean, isWanted: (item: number) => boolean }} Shown */

/** Height of a level: pixels. */
const LEVEL = 18
/** Narrower boxes have no name: pixels. */
const MIN_TEXT = 18
/** Factor of one step of the wheel or a key. */
const ZOOM = 1.3

/**
 * @param {Recording} recording @param {(change: Partial<State>) => void} change
 */
function flameView(recording, change) {
  const [canvas, live, title] = [byId('flame'), byId('hover'), byId('flame-title')]
  /** @type {Shown | undefined} */
  let shown
  /** @type {Flame} */
  let flame = { levels: [], from: 0, to: 0 }
  /** The visible part of the graphs without time; all if undefined. @type {{ from: number, to: number } | undefined} */
  let zoom
  /** @type {Map<boolean, string[]>} */
  const colours = new Map()

  /** Returns the visible part, microseconds. */
  function visible() {
    if (shown?.state.view !== 'time') return zoom ?? whole()
    if (shown.state.from === undefined) return extentOf(shown.state)
    const { fromUs, toUs } = spanOf(shown.state, recording)
    return { from: fromUs, to: toUs }
  }

  /** Returns all that can be visible, microseconds. */
  function whole() {
    return shown?.state.view === 'time' ? extentOf(shown.state) : { from: 0, to: flame.to }
  }

  /** Returns the time of the thread that is shown. @param {State} state */
  function extentOf(state) {
    const { times } = recording.threads[shownThread(state, recording)]
    return { from: times[0], to: times[times.length - 1] }
  }

  function width() {
    return canvas.parentElement.clientWidth
  }

  /** @param {State} state @param {Costs} costs */
  function layOut(state, costs) {
    const view = { ...visible(), width: width() }
    if (state.view === 'time') return byTime(recording, shownThread(state, recording), view)
    const layOutAll = state.view === 'heavy' ? leftHeavy : inverted
    return layOutAll(recording, costs, zoom ? view : undefined, view.width)
  }

  /** @param {MouseEvent} event */
  function boxUnder(event) {
    const { left, top } = canvas.getBoundingClientRect()
    const { from, to } = visible()
    const at = from + ((event.clientX - left) / width()) * (to - from)
    return boxAt(flame, Math.floor((event.clientY - top) / LEVEL), at)
  }

  /** Describes a box on one line. @param {Box} box */
  function describe(box) {
    const { item, from, to, isBlocked } = box
    if (shown?.sides) {
      const { baseUs, headUs } = timesOf(shown.sides, box, shown.state.view === 'inverted')
      const change = `${formatSides(baseUs, headUs)} (${formatDifference(headUs - baseUs)})`
      return `${nameOf(recording, item)}  ${placeOf(recording, item)}  ${change}`
    }
    const workUs = shown?.costs.workUs ?? 0
    const share = shown?.state.view === 'time' ? '' : ` (${formatShare(to - from, workUs)})`
    const time = `${formatTime((to - from) / 1000)}${share}${isBlocked ? ' blocked' : ''}`
    return `${nameOf(recording, item)}  ${placeOf(recording, item)}  ${time}`
  }

  canvas.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
    const box = boxUnder(event)
    live.textContent = box ? describe(box) : ''
    canvas.style.cursor = box ? 'pointer' : 'default'
  })
  canvas.addEventListener('pointerleave', () => {
    live.textContent = ''
  })
  canvas.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    const box = boxUnder(event)
    if (box) change({ function: box.item })
  })
  canvas.addEventListener('dblclick', (/** @type {MouseEvent} */ event) => {
    const box = boxUnder(event)
    if (!box) return reset()
    if (shown?.state.view === 'time') return change({ from: box.from, to: box.to })
    zoom = { from: box.from, to: box.to }
    draw()
  })
  canvas.addEventListener(
    'wheel',
    (/** @type {WheelEvent} */ event) => {
      // Without a key, the wheel scrolls.
      if (!event.ctrlKey && !event.metaKey && event.deltaX === 0) return
      event.preventDefault()
      const { left } = canvas.getBoundingClientRect()
      if (event.deltaX !== 0) return pan(event.deltaX / width())
      zoomBy(event.deltaY < 0 ? 1 / ZOOM : ZOOM, (event.clientX - left) / width())
    },
    { passive: false },
  )

  /** Shows more or less. @param {number} factor @param {number} [centre] from 0 on the left to 1 */
  function zoomBy(factor, centre = 0.5) {
    const { from, to } = visible()
    const at = from + (to - from) * centre
    show(at - (at - from) * factor, at + (to - at) * factor)
  }

  /** @param {number} share of the visible part */
  function pan(share) {
    const { from, to } = visible()
    const { from: start, to: end } = whole()
    const by = Math.max(start - from, Math.min(end - to, share * (to - from)))
    show(from + by, to + by)
  }

  /** @param {number} from @param {number} to */
  function show(from, to) {
    const isTime = shown?.state.view === 'time'
    const { from: start, to: end } = whole()
    const [low, high] = [Math.max(start, from), Math.min(end, to)]
    const isAll = low <= start && high >= end
    // Below a microsecond there is nothing to see.
    if (!isAll && high - low < 1) return
    if (isTime) return change(isAll ? { from: undefined, to: undefined } : { from: low, to: high })
    zoom = isAll ? undefined : { from: low, to: high }
    draw()
  }

  function reset() {
    if (shown?.state.view === 'time') return change({ from: undefined, to: undefined })
    zoom = undefined
    draw()
  }

  function draw() {
    if (!shown) return
    const { state, costs, isDark, isWanted } = shown
    flame = layOut(state, costs)
    const { from, to } = visible()
    const all = colours.get(isDark) ?? coloursOf(recording, isDark)
    colours.set(isDark, all)
    const whole = width()
    const scale = whole / Math.max(to - from, Number.MIN_VALUE)
    const [text, onBox] = [variable('--text'), variable('--on-box')]
    const context = prepare(canvas, whole, Math.max(flame.levels.length, 3) * LEVEL)
    for (const [level, boxes] of flame.levels.entries()) {
      for (const box of boxes) {
        const left = Math.max(0, (box.from - from) * scale)
        const right = Math.min(whole, (box.to - from) * scale)
        drawBox(context, box, left, level * LEVEL, right - left)
      }
    }
    if (flame.levels.length === 0) {
      context.fillStyle = text
      context.fillText('Nothing ran here.', 8, LEVEL)
    }
    title.textContent = titleOf(state)

    /** @param {CanvasRenderingContext2D} context @param {Box} box @param {number} x @param {number} y @param {number} boxWidth */
    function drawBox(context, box, x, y, boxWidth) {
      const { item, isBlocked } = box
      const isFaint = state.query !== '' && !isWanted(item)
      context.globalAlpha = isFaint ? 0.25 : isBlocked ? 0.55 : 1
      context.fillStyle = colourOf(box, all)
      context.fillRect(x, y, Math.max(boxWidth - 0.5, 0.5), LEVEL - 1)
      context.globalAlpha = isFaint ? 0.5 : 1
      if (item === state.function) {
        context.strokeStyle = text
        context.lineWidth = 2
        if (boxWidth > 2) context.strokeRect(x + 1, y + 1, boxWidth - 2.5, LEVEL - 3)
      }
      const name = boxWidth < MIN_TEXT ? '' : cutText(nameOf(recording, item), boxWidth)
      if (name !== '') {
        context.fillStyle = onBox
        context.fillText(name, x + 3, y + LEVEL / 2)
      }
      context.globalAlpha = 1
    }
  }

  /** @param {Box} box @param {string[]} all colours of functions */
  function colourOf(box, all) {
    if (!shown?.sides) return all[box.item]
    const { sides, state, isDark } = shown
    const { baseUs, headUs } = timesOf(sides, box, state.view === 'inverted')
    return differenceColour(headUs - baseUs, sides.base.workUs, isDark)
  }

  /** @param {State} state */
  function titleOf(state) {
    if (shown?.sides) return 'orange: slower, blue: faster; the width is the time of both sides'
    if (state.view !== 'time') return ''
    const thread = recording.threads[shownThread(state, recording)]
    const isOnly = threadsOf(state, recording).length === 1
    return `${threadLabel(thread)}${isOnly ? '' : ' (click a row above for another thread)'}`
  }

  return {
    zoomBy,
    pan,
    reset,
    /** @param {Shown} next */
    draw(next) {
      const { state, costs } = next
      if (costs !== shown?.costs || state.view !== shown.state.view) zoom = undefined
      shown = next
      draw()
    },
  }
}

/**
 * Returns the thread that the graph by time shows: the chosen one, or the busiest of the selected.
 * @param {State} state @param {Recording} recording
 */
function shownThread(state, recording) {
  const selected = threadsOf(state, recording)
  if (state.thread !== undefined) return state.thread
  const busyUs = (/** @type {number} */ thread) => recording.threads[thread].busyUs
  return selected.reduce((best, thread) => (busyUs(thread) > busyUs(best) ? thread : best))
}

module.exports = { flameView, shownThread }
