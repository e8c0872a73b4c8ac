'use strict'

// Answers the keyboard.

const { tablesOf, viewsOf } = require('./state.js')
const { byId } = require('./views/elements.js')

/** Part of the graph that an arrow moves by. */
const STEP = 0.15
/** Factor of a zoom. */
const ZOOM = 1.5

/** @typedef {import('./page.js').Page} Page */

/** @param {Page} page */
function listenToKeys(page) {
  const actions = actionsOf(page)
  const search = byId('search')
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return
    if (event.target === search) {
      if (event.key !== 'Escape') return
      page.change({ query: '' })
      search.blur()
    } else if (actions[event.key] !== undefined) {
      event.preventDefault()
      actions[event.key]()
    }
  })
}

/**
 * Returns what keys do.
 * @param {Page} page @returns {Record<string, () => unknown>}
 */
function actionsOf(page) {
  const { flame, recording } = page
  const tables = tablesOf(recording)
  const zoomIn = () => flame.zoomBy(1 / ZOOM)
  const zoomOut = () => flame.zoomBy(ZOOM)
  const left = () => flame.pan(-STEP)
  const right = () => flame.pan(STEP)
  const nextTable = () => tables[(tables.indexOf(page.state.table) + 1) % tables.length]
  return {
    '/': () => byId('search').focus(),
    1: () => viewsOf(recording).includes('time') && page.change({ view: 'time' }),
    2: () => page.change({ view: 'heavy' }),
    3: () => page.change({ view: 'inverted' }),
    4: () => page.change({ view: 'sandwich' }),
    '+': zoomIn,
    '=': zoomIn,
    w: zoomIn,
    '-': zoomOut,
    s: zoomOut,
    ArrowLeft: left,
    a: left,
    ArrowRight: right,
    d: right,
    z: () => page.zoomToSelection(),
    0: () => flame.reset(),
    t: () => page.change({ table: nextTable() }),
    l: () => page.switchTheme(),
    '?': () => byId('keys').showModal(),
    Escape: () => page.change({ query: '', function: undefined }),
  }
}

module.exports = { listenToKeys }
