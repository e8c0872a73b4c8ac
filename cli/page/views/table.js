'use strict'

// Draws the tables: those of costs, calls, stalls, timings, imports and scripts.

const { formatDifference } = require('../data/sides.js')
const { layoutList } = require('../layout/lists.js')
const { layoutTable } = require('../layout/table.js')
const { LISTS, tablesOf } = require('../state.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { CallsView } = require('./calls.js')
const { bar, button, byId, element, nameCell } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../layout/table.js').Row} Row */
/** @typedef {import('../layout/table.js').Table} Table */
/** @typedef {import('../layout/lists.js').List} List */
/** @typedef {import('../state.js').Shown} Shown */

/** Rows that are drawn at first. */
const ROWS = 50
/** Rows that a click adds. */
const MORE_ROWS = 500

class TableView {
  #table = byId('table')
  #more = byId('more')
  #recording
  #change
  #calls
  #tabs
  #limit = ROWS
  /** What is drawn, from the first drawing on. @type {Shown} */
  #shown = /** @type {any} */ (undefined)

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    this.#change = change
    this.#calls = new CallsView(recording, change, () => this.#drawRows())
    this.#tabs = tablesOf(recording).map((table) =>
      button(table, () => change({ table }), { role: 'tab', 'aria-controls': 'table' }),
    )
    byId('tabs').append(...this.#tabs)
    byId('tabs').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) =>
      this.#turnTab(event),
    )
    this.#table.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) =>
      this.#walk(event),
    )
    this.#more.addEventListener('click', () => this.#drawMore())
  }

  /** @param {Shown} shown */
  draw(shown) {
    if (shown.state.table !== this.#shown?.state.table) this.#limit = ROWS
    this.#shown = shown
    for (const tab of this.#tabs) {
      const isSelected = tab.textContent === shown.state.table
      tab.setAttribute('aria-selected', String(isSelected))
      tab.tabIndex = isSelected ? 0 : -1
    }
    this.#drawRows()
  }

  /** Goes to the tab beside. @param {KeyboardEvent} event */
  #turnTab(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const at = this.#tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    if (by === undefined || at === -1) return
    event.preventDefault()
    event.stopPropagation()
    const next = this.#tabs[(at + by + this.#tabs.length) % this.#tabs.length]
    next.focus()
    next.click()
  }

  #drawMore() {
    this.#limit += MORE_ROWS
    this.#drawRows()
  }

  #drawRows() {
    const { head, rows, count } = this.#rows()
    const focused = this.#focused()
    this.#table.replaceChildren(element('thead', {}, head), element('tbody', {}, ...rows))
    // The user goes on where the keyboard was.
    this.#buttons()[focused]?.focus()
    if (this.#hasCalls()) this.#table.setAttribute('role', 'treegrid')
    else this.#table.removeAttribute('role')
    this.#more.hidden = count <= this.#limit
    this.#more.textContent = `${count - this.#limit} more`
  }

  #rows() {
    const { state } = this.#shown
    if (this.#hasCalls()) return this.#calls.make(this.#shown, this.#limit)
    return LISTS.some((name) => name === state.table)
      ? this.#list(layoutList(this.#recording, state))
      : this.#costs(layoutTable(this.#recording, this.#shown, this.#limit))
  }

  #hasCalls() {
    return this.#shown.state.table === 'calls'
  }

  /** Returns what the keyboard reaches. @returns {any[]} */
  #buttons() {
    return [...this.#table.querySelectorAll('button:not([tabindex])')]
  }

  /** Returns which of these has the focus, itself or beside it in its cell; -1 for none. */
  #focused() {
    return this.#buttons().findIndex(({ parentElement }) =>
      parentElement.contains(document.activeElement),
    )
  }

  /** Goes to another call, or opens one. @param {KeyboardEvent} event */
  #walk(event) {
    const index = this.#focused()
    if (!this.#hasCalls() || index === -1) return
    const next = this.#calls.press(event.key, index)
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    this.#buttons()[next]?.focus()
  }

  /** @param {List} list */
  #list({ heads, rows, wholeMs, noun }) {
    const [first, ...others] = heads.map((textContent) =>
      element('th', { scope: 'col', textContent }),
    )
    const head = [first, ...others, element('th', { scope: 'col', className: 'bar' })]
    const made = rows.slice(0, this.#limit).map((row) => {
      const cells = row.cells.map((textContent) => element('td', { textContent }))
      return element(
        'tr',
        {},
        ...cells,
        bar(row.ms / Math.max(wholeMs, Number.MIN_VALUE)),
        nameCell(row, this.#change),
      )
    })
    head.push(element('th', { scope: 'col', className: 'name', textContent: noun }))
    return { head: element('tr', {}, ...head), rows: made, count: rows.length }
  }

  /** @param {Table} table */
  #costs(table) {
    const rows = table.rows.map((row) => this.#row(row, table))
    return { head: this.#head(table), rows, count: table.count }
  }

  /** @param {Table} table */
  #head({ columns, sort }) {
    const { sides, state } = this.#shown
    const heads = columns.map((name) =>
      element(
        'th',
        { scope: 'col', 'aria-sort': name === sort ? 'descending' : 'none' },
        button(name, () => this.#change({ sort: name }), { title: MEANINGS[name] }),
      ),
    )
    const share = sides
      ? [element('th', { scope: 'col', textContent: 'base → head' })]
      : [
          element('th', { scope: 'col', className: 'bar' }),
          element('th', { scope: 'col', textContent: 'share', title: `of the ${SHARED[sort]}` }),
        ]
    const name = element('th', {
      scope: 'col',
      className: 'name',
      textContent: state.table.slice(0, -1),
    })
    return element('tr', {}, ...heads, ...share, name)
  }

  /** @param {Row} row @param {Table} table */
  #row(row, { columns, sort, wholeUs, mostUs }) {
    const { item, sides, times } = row
    const cells = columns.map((name) =>
      element('td', {
        className: name === sort ? 'sorted' : '',
        textContent: sides ? formatDifference(times[name]) : timeText(times[name]),
      }),
    )
    const share = sides
      ? [element('td', { textContent: sides[sort] })]
      : [
          bar(times[sort] / Math.max(mostUs, 1)),
          element('td', { textContent: formatShare(times[sort], wholeUs) }),
        ]
    const made = element('tr', {}, ...cells, ...share, nameCell(row, this.#change))
    const { function: selected, label } = this.#shown.state
    const isSelected = item !== undefined && item === selected
    const isChosen =
      row.choice !== undefined && label !== undefined && row.choice.label === undefined
    made.classList.toggle('selected', isSelected || isChosen)
    return made
  }
}

/** What the columns are. */
const MEANINGS = {
  self: 'time on top of the stack',
  total: 'time anywhere on the stack',
  critical: 'self time that the run had to wait for: what ran beside three others counts a quarter',
  blocked: 'time in a call that waits',
  waiting: 'time ready to run, while every core was busy',
}
/** What shares are shares of. */
const SHARED = {
  self: 'work',
  total: 'work',
  critical: 'wall time',
  blocked: 'blocked time',
  waiting: 'waiting time',
}

/** Returns a time; nothing for none, so that columns stay calm. @param {number} us */
function timeText(us) {
  return us === 0 ? '–' : formatTime(us / 1000)
}

module.exports = { TableView }
