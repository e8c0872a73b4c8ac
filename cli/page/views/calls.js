'use strict'

// Draws the call tree as a table, which the arrow keys open, close and walk through.

const { layoutCalls } = require('../layout/calls.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { bar, button, element, nameCell } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/calls.js').CallRow} CallRow */
/** @typedef {import('../state.js').Shown} Shown */

const HEADS = ['total', 'self']

class CallsView {
  #recording
  #change
  #redraw
  /** Calls that the user opened or closed. @type {Map<string, boolean>} */
  #opened = new Map()
  /** The rows of the last drawing. @type {CallRow[]} */
  #rows = []

  /**
   * @param {Recording} recording @param {import('../state.js').Change} change
   * @param {() => void} redraw draws the table again
   */
  constructor(recording, change, redraw) {
    this.#recording = recording
    this.#change = change
    this.#redraw = redraw
  }

  /** Returns the rows of a table. @param {Shown} shown @param {number} limit */
  make(shown, limit) {
    const rows = layoutCalls(this.#recording, shown, this.#opened)
    this.#rows = rows.slice(0, limit)
    const heads = HEADS.map((textContent) => element('th', { scope: 'col', textContent }))
    heads.push(element('th', { scope: 'col', className: 'bar' }))
    heads.push(element('th', { scope: 'col', textContent: 'share', title: 'of the work' }))
    heads.push(element('th', { scope: 'col', className: 'name', textContent: 'call' }))
    return {
      head: element('tr', {}, ...heads),
      rows: this.#rows.map((row) => this.#row(row, shown)),
      count: rows.length,
    }
  }

  /** @param {CallRow} row @param {Shown} shown */
  #row(row, { state, costs, isWanted }) {
    const { level, isOpen, item, totalUs, selfUs } = row
    const name = nameCell(row, this.#change)
    const toggle =
      isOpen === undefined
        ? element('span', { className: 'toggle' })
        : button(isOpen ? '▾' : '▸', () => this.#open(row, !isOpen), {
            className: 'toggle',
            tabIndex: -1,
            'aria-hidden': 'true',
          })
    name.prepend(toggle)
    const made = element(
      'tr',
      { 'aria-level': String(level + 1), className: isWanted(item) ? '' : 'faint' },
      element('td', { textContent: formatTime(totalUs / 1000) }),
      element('td', { textContent: selfUs === 0 ? '–' : formatTime(selfUs / 1000) }),
      bar(totalUs / Math.max(1, costs.workUs)),
      element('td', { textContent: formatShare(totalUs, costs.workUs) }),
      name,
    )
    if (isOpen !== undefined) made.setAttribute('aria-expanded', String(isOpen))
    made.classList.toggle('selected', item === state.function)
    return made
  }

  /** @param {CallRow} row @param {boolean} isOpen */
  #open({ id }, isOpen) {
    this.#opened.set(id, isOpen)
    this.#redraw()
  }

  /**
   * Answers a key on a row. Returns the row that has the focus then, or undefined if the key means
   * nothing.
   * @param {string} key @param {number} index
   */
  press(key, index) {
    const row = this.#rows[index]
    switch (key) {
      case 'ArrowDown':
        return Math.min(index + 1, this.#rows.length - 1)
      case 'ArrowUp':
        return Math.max(index - 1, 0)
      case 'ArrowRight':
        if (row.isOpen) return Math.min(index + 1, this.#rows.length - 1)
        if (row.isOpen === false) this.#open(row, true)
        return index
      case 'ArrowLeft':
        if (!row.isOpen) return this.#caller(index)
        this.#open(row, false)
        return index
      default:
        return undefined
    }
  }

  /** Returns the row that a row is set in below. @param {number} index */
  #caller(index) {
    const { level } = this.#rows[index]
    const above = this.#rows.slice(0, index).findLastIndex((row) => row.level < level)
    return above === -1 ? index : above
  }
}

module.exports = { CallsView }
