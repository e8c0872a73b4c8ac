'use strict'

// Draws the names of the time line's rows, which select and open.

const { formatTime } = require('../../terminal/units.js')
const { button, byId, element } = require('./elements.js')

/** @typedef {import('../layout/tracks.js').Row} Row */
/**
 * @typedef {object} Made the elements of a row
 * @property {HTMLElement} line
 * @property {HTMLElement} [name]
 * @property {HTMLElement} time
 */

class RowNames {
  #actions
  /** The rows that are drawn. @type {Row[]} */
  #rows = []
  /** @type {Made[]} */
  #made = []
  #looks = ''
  /** @type {number[] | undefined} */
  #marked

  /** @param {{ choose: (row: Row, event: MouseEvent) => void, open: (row: Row) => void }} actions */
  constructor(actions) {
    this.#actions = actions
  }

  /**
   * @param {Row[]} rows @param {{ isSelected: boolean, isShown: boolean }[]} looks
   * @param {import('../state.js').Marked} [marked]
   */
  draw(rows, looks, marked) {
    const looksNow = looks.map(({ isSelected, isShown }) => `${isSelected} ${isShown}`).join()
    const isSame = this.#looks === looksNow && this.#marked === marked?.threadUs
    if (rows === this.#rows && isSame) return
    this.#looks = looksNow
    this.#marked = marked?.threadUs
    if (rows !== this.#rows) this.#make(rows)
    for (const [index, row] of rows.entries()) {
      const { line, name, time } = this.#made[index]
      if (name === undefined) continue
      const us = marked && row.threads.reduce((sum, thread) => sum + marked.threadUs[thread], 0)
      name.setAttribute('aria-pressed', String(looks[index].isSelected))
      line.classList.toggle('shown', looks[index].isShown)
      line.classList.toggle('faint', us === 0 || !looks[index].isSelected)
      line.classList.toggle('marked', us !== undefined && us > 0)
      time.textContent = us === 0 ? '' : formatTime((us ?? row.busyUs) / 1000)
    }
  }

  /** @param {Row[]} rows */
  #make(rows) {
    const focused =
      this.#rows[this.#made.findIndex(({ line }) => line.contains(document.activeElement))]
    this.#rows = rows
    this.#made = rows.map((row) => this.#row(row))
    byId('threads').replaceChildren(...this.#made.map(({ line }) => line))
    // The user goes on where the row was opened.
    const again = rows.findIndex(({ id }) => id === focused?.id)
    if (again >= 0) this.#made[again].line.querySelector('button')?.focus()
  }

  /** @param {Row} row @returns {Made} */
  #row(row) {
    const { label, level, height, isOpen, lane } = row
    const line = element('div', { className: `row level-${level}` })
    line.style.height = `${height}px`
    const time = element('span', { className: 'time', textContent: lane?.unit ?? '' })
    if (lane !== undefined) {
      line.append(element('span', { className: 'toggle' }))
      line.append(element('span', { className: 'label', title: label, textContent: label }), time)
      return { line, time }
    }
    const toggle =
      isOpen === undefined
        ? element('span', { className: 'toggle' })
        : button(isOpen ? '▾' : '▸', () => this.#actions.open(row), {
            className: 'toggle',
            'aria-expanded': String(isOpen),
            'aria-label': `details of ${label}`,
          })
    // What is cut off is the command, never the process id.
    const [, command, pid] = /^(.*)( \(\d+\))$/s.exec(label) ?? [label, label, '']
    const name = button('', (event) => this.#actions.choose(row, event), {
      className: 'label',
      title: label,
    })
    name.append(element('span', { textContent: command }), pid)
    line.append(toggle, name, time)
    return { line, name, time }
  }
}

module.exports = { RowNames }
