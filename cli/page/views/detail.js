'use strict'

// Draws the selected function: its times, callers, callees and lines.

const { layoutDetail } = require('../layout/detail.js')
const { button, byId, element } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/detail.js').Row} Row */
/** @typedef {import('../state.js').Shown} Shown */

/** Rows of each list. */
const ROWS = 12
const HINT = 'Select a function in the flame graph or in the table to see who calls it.'

class DetailView {
  #place = byId('detail')
  #recording
  #change

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    this.#change = change
  }

  /** @param {Shown} shown @param {number} item */
  layout(shown, item) {
    return layoutDetail(this.#recording, shown, item)
  }

  /** @param {Shown} shown */
  draw(shown) {
    const item = shown.state.function
    if (item === undefined) {
      this.#place.replaceChildren(element('p', { className: 'faint', textContent: HINT }))
      return
    }
    const { name, place, times, lists } = this.layout(shown, item)
    const close = button('×', () => this.#change({ function: undefined }), {
      'aria-label': 'close',
    })
    this.#place.replaceChildren(
      element('h2', {}, name, ' ', close),
      element('p', { className: 'place', textContent: place }),
      element('p', { textContent: times }),
      ...lists.flatMap(({ title, rows }) => this.#list(title, rows)),
    )
  }

  /** @param {string} title @param {Row[]} rows */
  #list(title, rows) {
    if (rows.length === 0) return []
    const shown = rows.slice(0, ROWS).map((row) => this.#row(row))
    const list = [element('h3', { textContent: title }), element('table', {}, ...shown)]
    const rest = rows.length - shown.length
    if (rest > 0) list.push(element('p', { className: 'faint', textContent: `and ${rest} more` }))
    return list
  }

  /** @param {Row} row */
  #row({ cells, name, place, item }) {
    const link = item === undefined ? name : button(name, () => this.#change({ function: item }))
    const where = element('span', { className: 'place', textContent: place })
    return element(
      'tr',
      {},
      ...cells.map((textContent) => element('td', { textContent })),
      element('td', { className: 'name', title: place }, link, ' ', where),
    )
  }
}

module.exports = { DetailView }
