'use strict'

// Draws what each thread did over time. A drag selects time, a name selects a process or thread.

const {
  WORK,
  PROGRAM,
  GC,
  IDLE,
  BLOCKED,
  processLabel,
  threadLabel,
} = require('../data/recording.js')
const { STATES } = require('./colours.js')
const { prepare, variable } = require('./canvas.js')
const { byId, element } = require('./elements.js')
const { formatTime } = require('../../terminal/units.js')
const { spanOf, threadsOf } = require('../state.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/recording.js').Thread} Thread */
/** @typedef {import('../state.js').State} State */

/** Height of a row, of the time scale: pixels. */
const ROW = 20
const SCALE = 18
/** Rows of threads: a canvas cannot be higher than some 32,000 pixels. */
const MAX_ROWS = 700
/** A drag that is shorter is a click: pixels. */
const CLICK = 3

/**
 * @param {Recording} recording @param {(change: Partial<State>) => void} change
 * @returns {{ draw: (state: State, isDark: boolean) => void }}
 */
function timelineView(recording, change) {
  const [canvas, names, live] = [byId('timeline'), byId('threads'), byId('hover')]
  const rows = rowsOf(recording)
  /** @type {{ width: number, shares: Float64Array[] }} */
  let drawn = { width: -1, shares: [] }
  /** @type {number | undefined} */
  let dragFrom
  /** @type {State} */
  let state
  const buttons = rows.map((row) => {
    const button = element('button', { type: 'button', textContent: row.label, title: row.label })
    button.classList.toggle('below', row.isBelow)
    button.addEventListener('click', (event) => choose(row.threads, event))
    return button
  })
  names.append(element('div', { className: 'scale' }), ...buttons)

  /** Selects threads alone, or with a key adds and removes them. @param {number[]} threads @param {MouseEvent} event */
  function choose(threads, { ctrlKey, metaKey, shiftKey }) {
    const selected = threadsOf(state, recording)
    const isAdded = ctrlKey || metaKey || shiftKey
    const has = threads.every((thread) => selected.includes(thread))
    const isAlone = has && selected.length === threads.length
    if (isAdded) {
      const others = selected.filter((thread) => !threads.includes(thread))
      const next = has ? others : [...others, ...threads].sort((a, b) => a - b)
      return change({ threads: next.length > 0 ? next : undefined, thread: undefined })
    }
    change({ threads: isAlone ? undefined : threads, thread: undefined })
  }

  /** @param {number} clientX */
  const usAt = (clientX) => {
    const { left, width } = canvas.getBoundingClientRect()
    const share = Math.max(0, Math.min(1, (clientX - left) / width))
    return share * recording.durationUs
  }
  canvas.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
    dragFrom = event.clientX
    canvas.setPointerCapture(event.pointerId)
  })
  canvas.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
    live.textContent = describe(event)
    if (dragFrom === undefined || Math.abs(event.clientX - dragFrom) < CLICK) return
    const [start, end] = [usAt(dragFrom), usAt(event.clientX)]
    if (start !== end) change({ from: Math.min(start, end), to: Math.max(start, end) })
  })
  canvas.addEventListener('pointerup', (/** @type {PointerEvent} */ event) => {
    const row = rowAt(event)
    const isClick = dragFrom !== undefined && Math.abs(event.clientX - dragFrom) < CLICK
    if (isClick && row) change({ thread: row.threads[0] })
    dragFrom = undefined
  })
  canvas.addEventListener('dblclick', () => change({ from: undefined, to: undefined }))

  /** @param {MouseEvent} event */
  function rowAt(event) {
    const y = event.clientY - canvas.getBoundingClientRect().top - SCALE
    return rows[Math.floor(y / ROW)]
  }

  /** @param {MouseEvent} event */
  function describe(event) {
    const row = rowAt(event)
    const time = formatTime(usAt(event.clientX) / 1000)
    return row ? `${time} · ${row.label}` : time
  }

  return {
    draw(now, isDark) {
      state = now
      const width = canvas.parentElement.clientWidth
      if (drawn.width !== width) {
        drawn = { width, shares: rows.map(({ threads }) => sharesOf(recording, threads, width)) }
      }
      const context = prepare(canvas, width, SCALE + rows.length * ROW)
      drawScale(context, width)
      const selected = new Set(threadsOf(state, recording))
      for (const [index, { threads }] of rows.entries()) {
        const isSelected = threads.some((thread) => selected.has(thread))
        context.globalAlpha = isSelected ? 1 : 0.3
        drawRow(context, drawn.shares[index], SCALE + index * ROW, isDark)
        buttons[index].setAttribute('aria-pressed', String(isSelected))
        buttons[index].classList.toggle('shown', threads.includes(state.thread ?? -1))
      }
      context.globalAlpha = 1
      drawSelection(context, width, rows.length)
    },
  }

  /** @param {CanvasRenderingContext2D} context @param {number} width */
  function drawScale(context, width) {
    const step = niceStep(recording.durationUs / Math.max(1, width / 110))
    const [line, text] = [variable('--line'), variable('--faint')]
    for (let us = 0; us < recording.durationUs; us += step) {
      const x = (us / recording.durationUs) * width
      context.fillStyle = line
      context.fillRect(x, 0, 1, SCALE + rows.length * ROW)
      context.fillStyle = text
      context.fillText(us === 0 ? '0' : formatTime(us / 1000), x + 3, SCALE / 2)
    }
  }

  /** Shades what is not selected. @param {CanvasRenderingContext2D} context @param {number} width @param {number} count */
  function drawSelection(context, width, count) {
    if (state.from === undefined) return
    const { fromUs, toUs } = spanOf(state, recording)
    const [from, to] = [fromUs, toUs].map((us) => (us / recording.durationUs) * width)
    const height = SCALE + count * ROW
    context.fillStyle = variable('--shade')
    context.fillRect(0, 0, from, height)
    context.fillRect(to, 0, width - to, height)
    context.fillStyle = variable('--text')
    context.fillRect(from, 0, 1, height)
    context.fillRect(to - 1, 0, 1, height)
  }
}

/**
 * Returns a row for each thread, below a row for its process if that has several. Many threads have
 * the row of their process only.
 * @param {Recording} recording
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
    const below = threads.map(({ name, index }) => ({
      label: name,
      threads: [index],
      isBelow: true,
    }))
    const row = { label: processLabel(process), threads: indices, isBelow: false }
    return isCrowded ? [row] : [row, ...below]
  })
}

/** The order in which states are stacked in a row, from the bottom. */
const ORDER = [WORK, GC, PROGRAM, BLOCKED]

/**
 * Returns for each pixel the part of the time that threads spent in each state, in {@link ORDER}.
 * @param {Recording} recording @param {number[]} threads @param {number} width
 */
function sharesOf({ threads: all, leafState, durationUs }, threads, width) {
  const shares = new Float64Array(width * ORDER.length)
  const place = ORDER.reduce((map, state, index) => map.set(state, index), new Map())
  const usPerPixel = durationUs / width
  for (const thread of threads) {
    const { times, leaves } = all[thread]
    for (let index = 0; index < leaves.length; index++) {
      const state = leaves[index] === -1 ? IDLE : leafState[leaves[index]]
      const at = place.get(state)
      if (at === undefined) continue
      const [from, to] = [times[index] / usPerPixel, times[index + 1] / usPerPixel]
      for (let pixel = Math.floor(from); pixel < Math.min(width, to); pixel++) {
        const part = Math.min(to, pixel + 1) - Math.max(from, pixel)
        shares[pixel * ORDER.length + at] += part / threads.length
      }
    }
  }
  return shares
}

/** @param {CanvasRenderingContext2D} context @param {Float64Array} shares @param {number} top @param {boolean} isDark */
function drawRow(context, shares, top, isDark) {
  const theme = isDark ? 1 : 0
  const colours = [STATES.busy, STATES.gc, STATES.program, STATES.blocked].map(
    (each) => each[theme],
  )
  for (let pixel = 0; pixel < shares.length / ORDER.length; pixel++) {
    let bottom = top + ROW - 2
    for (const [index, colour] of colours.entries()) {
      const height = shares[pixel * ORDER.length + index] * (ROW - 4)
      if (height < 0.05) continue
      context.fillStyle = colour
      context.fillRect(pixel, bottom - height, 1, height)
      bottom -= height
    }
  }
}

/** Returns 1, 2 or 5 times a power of ten, not below a step. @param {number} step */
function niceStep(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1)))
  return ([1, 2, 5].find((factor) => factor * power >= step) ?? 10) * power
}

module.exports = { timelineView }
