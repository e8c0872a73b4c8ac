'use strict'

// Draws the selected function: its times, callers, callees and lines.

const { callsOf, lineCosts } = require('../data/costs.js')
const { byId, element } = require('./elements.js')
const { nameOf, placeOf } = require('../data/recording.js')
const { callsOfSides, formatDifference, formatSides } = require('../data/sides.js')
const { formatShare, formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {import('../state.js').State} State */

/** Rows of each list. */
const ROWS = 12

/**
 * @param {Recording} recording @param {(change: Partial<State>) => void} change
 */
function detailView(recording, change) {
  const place = byId('detail')

  /** @param {string} time @param {string} part @param {Node | string} name @param {string} where */
  function row(time, part, name, where) {
    return element(
      'tr',
      {},
      element('td', { textContent: time }),
      element('td', { textContent: part }),
      element(
        'td',
        { className: 'name', title: where },
        name,
        ' ',
        element('span', { className: 'place', textContent: where }),
      ),
    )
  }

  /** @param {string} title @param {HTMLElement[]} rows */
  function list(title, rows) {
    if (rows.length === 0) return []
    const shown = rows.slice(0, ROWS)
    const rest = rows.length - shown.length
    const more =
      rest > 0 ? [element('p', { className: 'faint', textContent: `and ${rest} more` })] : []
    return [element('h3', { textContent: title }), element('table', {}, ...shown), ...more]
  }

  /** @param {number} item */
  function linkTo(item) {
    if (item === -1) return '(event loop)'
    const button = element('button', { type: 'button', textContent: nameOf(recording, item) })
    button.addEventListener('click', () => change({ function: item }))
    return button
  }

  return {
    /** @param {State} state @param {Costs} costs @param {import('../data/sides.js').Sides} [sides] */
    draw(state, costs, sides) {
      const item = state.function
      if (item === undefined) {
        const hint = 'Select a function in the flame graph or in the table to see who calls it.'
        place.replaceChildren(element('p', { className: 'faint', textContent: hint }))
        return
      }
      const { functionCosts } = costs
      const time = (/** @type {number} */ us) =>
        `${formatTime(us / 1000)} (${formatShare(us, costs.workUs)})`
      const blockedUs = functionCosts.blocked[item]
      const times = /** @type {const} */ (['total', 'self']).map((name) => {
        if (!sides) return `${name} ${time(functionCosts[name][item])}`
        const [baseUs, headUs] = [sides.base, sides.head].map(
          (side) => side.functionCosts[name][item],
        )
        return `${name} ${formatSides(baseUs, headUs)} (${formatDifference(headUs - baseUs)})`
      })
      if (blockedUs > 0 && !sides) times.push(`blocked ${formatTime(blockedUs / 1000)}`)
      const close = element('button', { type: 'button', textContent: '×', 'aria-label': 'close' })
      close.addEventListener('click', () => change({ function: undefined }))
      /** @param {number} us */
      const cells = (us) => [formatTime(us / 1000), formatShare(us, costs.workUs)]
      /** @param {{ item: number, us: number, baseUs?: number, headUs?: number }} call */
      const call = ({ item, us, baseUs, headUs }) => {
        const isCompared = baseUs !== undefined && headUs !== undefined
        const [first, second] = isCompared
          ? [formatDifference(us), formatSides(baseUs, headUs)]
          : cells(us)
        return row(first, second, linkTo(item), item === -1 ? '' : placeOf(recording, item))
      }
      const { callers, callees } = sides
        ? callsOfSides(recording, sides, item)
        : callsOf(recording, costs, item)
      const lines = lineCosts(recording, costs, item).filter(({ line }) => line > 0)
      place.replaceChildren(
        element('h2', {}, nameOf(recording, item), ' ', close),
        element('p', { className: 'place', textContent: placeOf(recording, item) }),
        element('p', { textContent: times.join(' · ') }),
        ...list('callers, by the time of their calls', callers.map(call)),
        ...list('callees, by the time of the calls', callees.map(call)),
        ...list(
          'lines, by self time',
          lines.map(({ line, us }) => {
            const [first, second] = cells(us)
            return row(first, second, `line ${line}`, '')
          }),
        ),
      )
    },
  }
}

module.exports = { detailView }
