'use strict'

// Answers the keyboard.

const { byId } = require('./views/elements.js')
const { tablesOf, viewsOf } = require('./state.js')

/** @typedef {import('./state.js').State} State */

/** Part of the graph that an arrow moves by. */
const STEP = 0.15
/** Factor of a zoom. */
const ZOOM = 1.5

/**
 * @param {object} page
 * @param {ReturnType<typeof import('./views/flame.js').flameView>} page.flame
 * @param {(change: Partial<State>) => void} page.change
 * @param {() => void} page.switchTheme
 * @param {() => State} page.state
 * @param {import('./data/recording.js').Recording} page.recording
 */
function listenToKeys({ flame, change, switchTheme, state, recording }) {
  const tables = tablesOf(recording)
  const search = byId('search')
  /** @type {Record<string, () => unknown>} */
  const keys = {
    '/': () => search.focus(),
    1: () => viewsOf(recording).includes('time') && change({ view: 'time' }),
    2: () => change({ view: 'heavy' }),
    3: () => change({ view: 'inverted' }),
    '+': () => flame.zoomBy(1 / ZOOM),
    '=': () => flame.zoomBy(1 / ZOOM),
    w: () => flame.zoomBy(1 / ZOOM),
    '-': () => flame.zoomBy(ZOOM),
    s: () => flame.zoomBy(ZOOM),
    ArrowLeft: () => flame.pan(-STEP),
    a: () => flame.pan(-STEP),
    ArrowRight: () => flame.pan(STEP),
    d: () => flame.pan(STEP),
    0: () => flame.reset(),
    t: () => change({ table: tables[(tables.indexOf(state().table) + 1) % tables.length] }),
    l: switchTheme,
    '?': () => byId('keys').showModal(),
    Escape: () => change({ query: '', function: undefined }),
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return
    if (event.target === search) {
      if (event.key === 'Escape') {
        change({ query: '' })
        search.blur()
      }
      return
    }
    const act = keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    act()
  })
}

module.exports = { listenToKeys }
