'use strict'

// Draws one function: its times, callers, callees, lines, code and processes.

const { isBuiltIn } = require('../data/names.js')
const { layoutDetail } = require('../layout/detail.js')
const { bar, button, byId, element, nameCell } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Change} Change */
/** @typedef {import('../state.js').Shown} Shown */

/** Rows of each list. */
const ROWS = 12

/** @param {Recording} recording @param {Change} change @param {Shown} shown */
function drawDetail(recording, change, shown) {
  const { function: item, state } = shown
  if (item === -1) {
    byId('detail').replaceChildren(
      element('p', { className: 'faint', textContent: 'Nothing ran.' }),
    )
    return
  }
  const { name, place, times, code, lists } = layoutDetail(recording, shown, item)
  const close = button('×', () => change({ function: undefined }), { 'aria-label': 'close' })
  const graph = button('callers and callees as a graph', () =>
    change({ function: item, view: 'sandwich' }),
  )
  const isSelected = state.function !== undefined
  byId('detail').replaceChildren(
    ...(isSelected
      ? []
      : [element('p', { className: 'faint', textContent: hintOf(recording, shown) })]),
    element('h2', {}, name, ' ', ...(isSelected ? [close] : [])),
    element('p', { className: 'place', textContent: place }),
    element('p', { textContent: times }),
    ...(state.view === 'sandwich' ? [] : [element('p', {}, graph)]),
    ...drawCode(code),
    ...lists.flatMap(({ title, rows }) => (rows.length > 0 ? drawList(title, rows, change) : [])),
  )
}

/** Tells why a function is shown that nobody selected. @param {Recording} recording @param {Shown} shown */
function hintOf(recording, { sides, state, function: item }) {
  const what = sides ? 'the largest difference' : 'the most self time'
  const isOwn = !isBuiltIn(recording, item)
  return `the ${state.query === '' ? '' : 'found '}function with ${what}${isOwn ? ", besides Node's own and native ones" : ''}`
}

/** @param {import('../layout/detail.js').CodeLine[]} code */
function drawCode(code) {
  if (code.length === 0) return []
  const rows = code.flatMap(({ number, text, time }, index) => {
    const isGap = index > 0 && number > code[index - 1].number + 1
    const row = element(
      'tr',
      { className: time === '' ? '' : 'hot' },
      ...[time, String(number)].map((textContent) => element('td', { textContent })),
      element('td', { className: 'code', textContent: text }),
    )
    const gap = element('tr', {}, element('td'), element('td', { textContent: '…' }), element('td'))
    return isGap ? [gap, row] : [row]
  })
  const title = element('h3', { textContent: 'code of the hottest lines, with their self time' })
  return [title, element('table', { className: 'lines' }, ...rows)]
}

/** @param {string} title @param {import('../layout/detail.js').Row[]} rows @param {Change} change */
function drawList(title, rows, change) {
  const most = Math.max(...rows.map(({ share }) => Math.abs(share)), Number.MIN_VALUE)
  const shown = rows.slice(0, ROWS).map((row) => {
    const [time, ...others] = row.cells.map((textContent) => element('td', { textContent }))
    return element('tr', {}, time, bar(row.share / most), ...others, nameCell(row, change))
  })
  const list = [element('h3', { textContent: title }), element('table', {}, ...shown)]
  const rest = rows.length - shown.length
  if (rest > 0) list.push(element('p', { className: 'faint', textContent: `and ${rest} more` }))
  return list
}

module.exports = { drawDetail }
