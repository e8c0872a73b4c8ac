'use strict'

// `cpu-prof top`: shows what runs hot in recordings that grow, again and again.

const { Follower } = require('../live/follower.js')
const { withSignalCleanup } = require('../terminal/cleanup.js')
const { workingDirectory } = require('../terminal/format.js')
const { isDefect } = require('../../lib/errors/defect.js')
const { messageOf } = require('../terminal/error-text.js')
const { failWith, printResult } = require('../terminal/output.js')
const { screen } = require('../terminal/width.js')
const { DEFAULTS, isLabel, press } = require('./choices.js')
const { renderPlain, renderScreen, tableRows } = require('./render.js')
const { hasScreen, openScreen } = require('./screen.js')
const { findTarget } = require('./target.js')

/** Time between two looks, milliseconds. */
const REFRESH_MS = 1000
/** The largest part of a core that this process may use. */
const MAX_SHARE = 0.05
/** Rows of a table without a screen. */
const PLAIN_ROWS = 10
/** Rows that a filter chooses from. */
const MANY_ROWS = 5000
/** Time after the end of the recordings until the lines end, milliseconds: another process can start. */
const ENDED_MS = 2000

/** The choices of which a change needs another look, also in a pause. @type {(keyof Choices)[]} */
const NEED_LOOK = ['by', 'seconds', 'filter', 'offset', 'isPaused', 'isDone']

/** @typedef {import('./choices.js').Choices} Choices */
/** @typedef {import('./render.js').Shown} Shown */
/**
 * @typedef {object} Options
 * @property {import('../live/follower.js').LiveKind} by
 * @property {'self' | 'total'} sort
 * @property {number} seconds
 * @property {number} [count] looks until the end
 * @property {boolean} [tree]
 */

/** @param {string[]} words @param {Options & import('../../index.js').Selection} options */
async function top(words, { by, sort, seconds, count, tree, ...selection }) {
  try {
    const target = await findTarget(words, tree)
    if (target === undefined) return
    const labels = isLabel(by) ? by : DEFAULTS.labels
    const choices = { ...DEFAULTS, by, labels, sort, seconds }
    const watched = new Watched(target, selection)
    if (count === undefined && hasScreen()) await showScreen(watched, choices)
    else await printLooks(watched, choices, count)
  } catch (error) {
    failWith(error)
  }
}

/** What is watched, with the last look. */
class Watched {
  /** @param {import('./target.js').Target} target @param {import('../../index.js').Selection} selection */
  constructor({ title, inputs }, selection) {
    this.follower = new Follower(inputs)
    this.selection = selection
    /** @type {Shown} */
    this.shown = { title }
  }

  /** Looks. Returns the time until the next look, milliseconds. @param {Choices} choices @param {number} rows */
  async look({ by, seconds, filter, offset }, rows) {
    const limit = filter === '' ? offset + rows : MANY_ROWS
    const { title, view } = this.shown
    const before = process.cpuUsage()
    try {
      const next = await this.follower.look({ ...this.selection, by, seconds, limit })
      this.shown = { title, view: next, at: new Date() }
    } catch (error) {
      // Its words have no room in a screen.
      if (isDefect(error)) throw error
      this.shown = { title, view, problem: messageOf(error) }
    }
    const { user, system } = process.cpuUsage(before)
    return Math.max(REFRESH_MS, (user + system) / 1000 / MAX_SHARE)
  }
}

/** @param {Watched} watched @param {Choices} choices @param {number} [count] */
async function printLooks(watched, choices, count = Number.POSITIVE_INFINITY) {
  const { columns } = screen(process.stdout)
  const size = { columns, rows: PLAIN_ROWS, colours: false }
  let hasReader = true
  for (let looks = 1; hasReader; looks++) {
    const pauseMs = await watched.look(choices, PLAIN_ROWS)
    const { view } = watched.shown
    printResult(`${renderPlain(watched.shown, choices, size, workingDirectory()).join('\n')}\n`)
    // After the listener that tells of an error.
    if (looks === 1) process.stdout.once('error', () => (hasReader = false))
    const hasEnded = view?.growing === 0 && view.recordings > 0 && view.silentMs > ENDED_MS
    if (looks >= count || hasEnded) return
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Shows looks on the screen until the user has seen enough. @param {Watched} watched @param {Choices} choices */
async function showScreen(watched, choices) {
  /** Whether what is shown is not what the user has chosen since. */
  let isStale = true
  /** Ends a pause between two looks. */
  let wake = () => {}
  const draw = () => {
    terminal.draw(renderScreen(watched.shown, choices, terminal.size(), workingDirectory()))
  }
  /** @param {Choices} next */
  const change = (next) => {
    const isOther = (/** @type {keyof Choices} */ name) => next[name] !== choices[name]
    isStale ||= NEED_LOOK.some(isOther)
    choices = next
    if (!choices.isDone) draw()
    if (isStale) wake()
  }
  const terminal = openScreen({
    onKey: (key) => change(press(choices, key, tableRows(terminal.size().rows))),
    onResize: draw,
    onGone: () => change({ ...choices, isDone: true }),
  })
  const work = async () => {
    draw()
    while (!choices.isDone) {
      let pauseMs = REFRESH_MS
      if (isStale || !choices.isPaused) {
        isStale = false
        pauseMs = await watched.look(choices, tableRows(terminal.size().rows))
      }
      if (isStale) continue
      draw()
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, pauseMs)
        wake = () => {
          clearTimeout(timer)
          resolve(undefined)
        }
      })
    }
  }
  try {
    await withSignalCleanup(work, terminal.close)
  } finally {
    terminal.close()
  }
}

module.exports = { top }
