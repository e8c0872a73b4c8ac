'use strict'

// Lays out the call tree as rows: the calls below an open one are set in.

const { nameOf, placeOf, shortPlaceOf } = require('../data/names.js')
const { MAX_LEVELS, callTree, invertedTree } = require('./merged.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('./merged.js').Sibling} Sibling */
/**
 * @typedef {object} CallRow
 * @property {string} id of the calls from the outermost on
 * @property {number} level
 * @property {boolean} [isOpen] whether the rows below are shown; undefined where there are none
 * @property {number} item the function
 * @property {string} name
 * @property {string} place
 * @property {string} title the whole place
 * @property {number} totalUs
 * @property {number} selfUs
 */

/** A call with this part of the work is open at first. */
const OPEN = 0.5

/**
 * Returns the rows, the longest calls first; with the inverted graph, functions by their own time and
 * their callers.
 * @param {Recording} recording @param {Pick<import('../state.js').Shown, 'state' | 'costs'>} shown
 * @param {Map<string, boolean>} opened calls that the user opened or closed
 */
function layoutCalls(recording, { state, costs }, opened) {
  const isInverted = state.view === 'inverted'
  const tree = isInverted ? invertedTree(recording, costs) : callTree(recording, costs)
  /** @type {CallRow[]} */
  const rows = []
  /** @param {Sibling[]} calls @param {number} level @param {string} above */
  const add = (calls, level, above) => {
    if (level >= MAX_LEVELS) return
    for (const call of [...calls].sort((a, b) => b.us - a.us)) {
      const { item, node, us } = call
      const id = `${above}/${isInverted ? item : node}`
      const below = tree.below(/** @type {any} */ (call))
      const isOpen = below.length > 0 ? (opened.get(id) ?? us >= OPEN * costs.workUs) : undefined
      rows.push({
        id,
        level,
        isOpen,
        item,
        totalUs: us,
        selfUs: selfOf(costs, node, level, us),
        name: nameOf(recording, item),
        place: shortPlaceOf(recording, item),
        title: placeOf(recording, item),
      })
      if (isOpen) add(below, level + 1, id)
    }
  }
  add(tree.roots, 0, '')
  return rows
}

/** Returns the own time of a call; of an inverted tree, only the first rows have some. @param {import('../data/costs.js').Costs} costs @param {number} node @param {number} level @param {number} us */
function selfOf({ self }, node, level, us) {
  if (node !== -1) return self[node]
  return level === 0 ? us : 0
}

module.exports = { layoutCalls }
