'use strict'

// Draws the selected function: its times, callers, callees and lines.

const { layoutDetail } = require('../layout/detail.js')
const { button, byId, element, nameCell } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Change} Change */
/** @typedef {import('../state.js').Shown} Shown */

/** Rows of each list. */
const ROWS = 12
const HINT = 'Select a function in the flame graph or in the table to see who calls it.'

/** @param {Recording} recording @param {Change} change @param {Shown} shown */
function drawDetail(recording, change, shown) {
  const item = shown.state.function
  if (item === undefined) {
    byId('detail').replaceChildren(element('p', { className: 'faint', textContent: HINT }))
    return
  }
  const { name, place, times, lists } = layoutDetail(recording, shown, item)
  const close = button('×', () => change({ function: undefined }), { 'aria-label': 'close' })
  byId('detail').replaceChildren(
    element('h2', {}, name, ' ', close),
    element('p', { className: 'place', textContent: place }),
    element('p', { textContent: times }),
    ...lists.flatMap(({ title, rows }) => (rows.length > 0 ? drawList(title, rows, change) : [])),
  )
}

/** @param {string} title @param {import('../layout/detail.js').Row[]} rows @param {Change} change */
function drawList(title, rows, change) {
  const shown = rows.slice(0, ROWS).map((row) => {
    const cells = row.cells.map((textContent) => element('td', { textContent }))
    return element('tr', {}, ...cells, nameCell(row, change))
  })
  const list = [element('h3', { textContent: title }), element('table', {}, ...shown)]
  const rest = rows.length - shown.length
  if (rest > 0) list.push(element('p', { className: 'faint', textContent: `and ${rest} more` }))
  return list
}

module.exports = { drawDetail }
