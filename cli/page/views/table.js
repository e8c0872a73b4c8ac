'use strict'

// Draws the tables: functions, files, packages, owners and lines of the selection.

const { formatDifference } = require('../data/sides.js')
const { layoutTable } = require('../layout/table.js')
const { tablesOf } = require('../state.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { button, byId, element, nameCell } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/table.js').Row} Row */
/** @typedef {import('../layout/table.js').Table} Table */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Shown} Shown */

/** Rows that are drawn at first. */
const ROWS = 100
/** Rows that a click adds. */
const MORE_ROWS = 500

class TableView {
  #table = byId('table')
  #more = byId('more')
  #recording
  #change
  #tabs
  #limit = ROWS
  /** What is drawn, from the first drawing on. @type {Shown} */
  #shown = /** @type {any} */ (undefined)

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    this.#change = change
    this.#tabs = tablesOf(recording).map((table) =>
      button(table, () => change({ table }), { role: 'tab' }),
    )
    byId('tabs').append(...this.#tabs)
    this.#more.addEventListener('click', () => this.#drawMore())
  }

  /** @param {Shown} shown */
  draw(shown) {
    if (shown.state.table !== this.#shown?.state.table) this.#limit = ROWS
    this.#shown = shown
    for (const tab of this.#tabs) {
      tab.setAttribute('aria-selected', String(tab.textContent === shown.state.table))
    }
    this.#drawRows()
  }

  #drawMore() {
    this.#limit += MORE_ROWS
    this.#drawRows()
  }

  #drawRows() {
    const table = layoutTable(this.#recording, this.#shown)
    const { length } = table.rows
    const rows = table.rows.slice(0, this.#limit).map((row) => this.#row(row, table))
    this.#table.replaceChildren(
      element('thead', {}, this.#head(table)),
      element('tbody', {}, ...rows),
    )
    this.#more.hidden = length <= this.#limit
    this.#more.textContent = `${length - this.#limit} more`
  }

  /** @param {Table} table */
  #head({ columns, sort }) {
    const { sides, state } = this.#shown
    const heads = columns.map((name) =>
      element(
        'th',
        { scope: 'col', 'aria-sort': name === sort ? 'descending' : 'none' },
        button(name, () => this.#change({ sort: name })),
      ),
    )
    const share = element('th', { scope: 'col', textContent: sides ? 'base → head' : 'share' })
    const name = element('th', { scope: 'col', className: 'name', textContent: state.table })
    return element('tr', {}, ...heads, share, name)
  }

  /** @param {Row} row @param {Table} table */
  #row(row, { columns, sort, wholeUs }) {
    const { item, sides } = row
    const format = (/** @type {number} */ us) =>
      sides ? formatDifference(us) : formatTime(us / 1000)
    const times = columns.map((name) => element('td', { textContent: format(row[name]) }))
    const share = sides
      ? [sides[sort]]
      : [barOf(row[sort], wholeUs), formatShare(row[sort], wholeUs)]
    const made = element(
      'tr',
      {},
      ...times,
      element('td', { className: 'share' }, ...share),
      nameCell(row, this.#change),
    )
    made.classList.toggle('selected', item !== undefined && item === this.#shown.state.function)
    return made
  }
}

/** @param {number} us @param {number} wholeUs */
function barOf(us, wholeUs) {
  const bar = element('span', { className: 'bar' })
  bar.style.width = `${Math.min(100, (100 * Math.abs(us)) / Math.max(wholeUs, 1))}%`
  return bar
}

module.exports = { TableView }
