'use strict'

// Opens the page: draws all views, and draws them again when the user chooses something.

const { costsOf } = require('./data/costs.js')
const { readRecording } = require('./data/recording.js')
const { matcher } = require('./data/names.js')
const { sidesOf } = require('./data/sides.js')
const { readState, spanOf, tablesOf, threadsOf, viewsOf, writeState } = require('./state.js')
const { drawDetail } = require('./views/detail.js')
const { byId } = require('./views/elements.js')
const { FlameView } = require('./views/flame.js')
const { HeaderView } = require('./views/header.js')
const { TableView } = require('./views/table.js')
const { TimelineView } = require('./views/timeline.js')

/** @typedef {import('./data/recording.js').Recording} Recording */

/** Milliseconds after a choice: browsers refuse many changes of the address in a short time. */
const WRITE_DELAY = 100

/** Part of the graph that an arrow moves by. */
const STEP = 0.15
/** Factor of a zoom. */
const ZOOM = 1.5

class Page {
  #systemTheme = matchMedia('(prefers-color-scheme: dark)')
  #willDraw = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #writing
  /** The costs of a selection, until another is made. @type {{ key: string, costs: import('./data/costs.js').Costs } | undefined} */
  #known
  #sides
  #views

  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording
    this.state = readState(location.hash, recording)
    this.#sides = sidesOf(recording)
    const change = this.change.bind(this)
    this.flame = new FlameView(recording, change)
    // A view that gives the page a scroll bar takes the width from those after it.
    this.#views = [
      new HeaderView(recording, change),
      new TimelineView(recording, change),
      this.flame,
      new TableView(recording, change),
      {
        draw: (/** @type {import('./state.js').Shown} */ shown) =>
          drawDetail(recording, change, shown),
      },
    ]
    document.body.classList.toggle('compared', this.#sides !== undefined)
    byId('theme').addEventListener('click', () => this.switchTheme())
    this.#systemTheme.addEventListener('change', () => this.#drawSoon())
    window.addEventListener('resize', () => this.#drawSoon())
    window.addEventListener('hashchange', () => this.#readAddress())
    listenToKeys(this)
  }

  /** @param {Partial<import('./state.js').State>} changes */
  change(changes) {
    this.state = { ...this.state, ...changes }
    clearTimeout(this.#writing)
    this.#writing = setTimeout(() => this.#writeAddress(), WRITE_DELAY)
    this.#drawSoon()
  }

  switchTheme() {
    this.change({ theme: this.#isDark() ? 'light' : 'dark' })
  }

  draw() {
    const { recording, state } = this
    const isDark = this.#isDark()
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
    const isWanted = matcher(recording, state.query)
    const shown = { state, costs: this.#costs(), sides: this.#sides, isWanted, isDark }
    for (const view of this.#views) view.draw(shown)
  }

  #drawSoon() {
    if (this.#willDraw) return
    this.#willDraw = true
    requestAnimationFrame(() => {
      this.#willDraw = false
      this.draw()
    })
  }

  #isDark() {
    const { theme } = this.state
    return theme === undefined ? this.#systemTheme.matches : theme === 'dark'
  }

  #costs() {
    const { recording, state } = this
    const [threads, span] = [threadsOf(state, recording), spanOf(state, recording)]
    const key = `${threads} ${span.fromUs} ${span.toUs}`
    if (this.#known?.key !== key) this.#known = { key, costs: costsOf(recording, threads, span) }
    return this.#known.costs
  }

  #readAddress() {
    this.state = readState(location.hash, this.recording)
    this.#drawSoon()
  }

  #writeAddress() {
    const { pathname, search } = location
    history.replaceState(null, '', `${pathname}${search}${writeState(this.state)}`)
  }
}

/** Answers the keyboard. @param {Page} page */
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
    ...{ '+': zoomIn, '=': zoomIn, w: zoomIn, '-': zoomOut, s: zoomOut },
    ...{ ArrowLeft: left, a: left, ArrowRight: right, d: right },
    0: () => flame.reset(),
    t: () => page.change({ table: nextTable() }),
    l: () => page.switchTheme(),
    '?': () => byId('keys').showModal(),
    Escape: () => page.change({ query: '', function: undefined }),
  }
}

/** Reads the data, which the page holds as compressed JSON. */
async function readData() {
  const text = atob(byId('data').textContent.trim())
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = text.charCodeAt(index)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

async function open() {
  new Page(readRecording(await readData())).draw()
  document.body.classList.remove('loading')
}

open().catch((error) => {
  byId('summary').textContent = `This page cannot be shown: ${error.message}`
  throw error
})
