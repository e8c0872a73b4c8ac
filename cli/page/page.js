'use strict'

// Opens the page: draws all views, and draws them again when the user chooses something.

const { leavesWith, threadTimes } = require('./data/calls.js')
const { costsOf } = require('./data/costs.js')
const { leavesOf } = require('./data/labels.js')
const { hottestOf, matcher } = require('./data/names.js')
const { readRecording } = require('./data/recording.js')
const { sidesOf } = require('./data/sides.js')
const { listenToKeys } = require('./keys.js')
const { isWhole, readState, spanOf, threadsOf, writeState } = require('./state.js')
const { drawDetail } = require('./views/detail.js')
const { byId } = require('./views/elements.js')
const { FlameView } = require('./views/flame.js')
const { HeaderView } = require('./views/header.js')
const { drawLegend } = require('./views/legend.js')
const { TableView } = require('./views/table.js')
const { TimelineView } = require('./views/timeline.js')

/** @typedef {import('./data/recording.js').Recording} Recording */
/** @typedef {import('./state.js').Shown} Shown */

/** Milliseconds after a choice: browsers refuse many changes of the address in a short time. */
const WRITE_DELAY = 100
/** Milliseconds without a choice after which tables follow: they take longer than a picture may. */
const PAUSE = 60

/**
 * @typedef {object} View
 * @property {{ draw: (shown: Shown) => void }} view
 * @property {(shown: Shown) => unknown[]} [uses] what the view shows; anything unless given
 * @property {unknown[]} [used] the same at the last drawing
 * @property {(shown: Shown) => boolean} [isSlow] whether the view is drawn when the user pauses
 */

class Page {
  #systemTheme = matchMedia('(prefers-color-scheme: dark)')
  #willDraw = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #writing
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #pausing
  #sides
  #views
  #costs = remember(
    (
      /** @type {number[]} */ threads,
      /** @type {number} */ fromUs,
      /** @type {number} */ toUs,
      /** @type {number | undefined} */ label,
    ) => costsOf(this.recording, threads, { fromUs, toUs }, isWhole(this.state), label),
  )
  #hottest = remember(hottestOf)
  #matcher = remember((/** @type {string} */ query) => matcher(this.recording, query))
  #leavesWith = remember((/** @type {(item: number) => boolean} */ isWanted) =>
    leavesWith(this.recording, isWanted),
  )
  #leavesOf = remember(leavesOf)
  #isItem = remember(
    (/** @type {number} */ item) => (/** @type {number} */ other) => other === item,
  )
  #threadTimes = remember(
    (/** @type {Uint8Array} */ leaves, /** @type {number} */ fromUs, /** @type {number} */ toUs) =>
      threadTimes(this.recording, leaves, { fromUs, toUs }),
  )
  #threads = remember((/** @type {number[] | undefined} */ threads) =>
    threadsOf({ ...this.state, threads }, this.recording),
  )

  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording
    this.state = readState(location.hash, recording)
    this.#sides = sidesOf(recording)
    const change = this.change.bind(this)
    this.timeline = new TimelineView(recording, change)
    this.flame = new FlameView(recording, change, this.timeline)
    // A view that gives the page a scroll bar takes the width from those after it.
    this.#views = /** @type {View[]} */ ([
      {
        view: new HeaderView(recording, change),
        uses: ({ state: { query, from, left, right, threads, label }, costs, isWanted }) => [
          costs,
          isWanted,
          query,
          from,
          left,
          right,
          threads,
          label,
        ],
      },
      { view: this.timeline },
      {
        view: this.flame,
        isSlow: ({ costs }) => this.flame.isSlow(costs),
      },
      {
        view: {
          draw: (shown) =>
            drawLegend(recording, shown, this.flame.colourOf(), this.flame.colourOfLabels()),
        },
        uses: ({ costs, isDark, state: { view, colours } }) => [costs, isDark, view, colours],
        isSlow: () => true,
      },
      {
        view: new TableView(recording, change),
        uses: ({ state: { table, sort, query, function: item, view, label }, costs }) => [
          costs,
          table,
          sort,
          query,
          item,
          view === 'inverted',
          label,
        ],
        isSlow: () => true,
      },
      {
        view: { draw: (shown) => drawDetail(recording, change, shown) },
        uses: ({ state, costs, function: item }) => [
          costs,
          item,
          state.function,
          state.query,
          state.view === 'sandwich',
        ],
        isSlow: () => true,
      },
    ])
    document.body.classList.toggle('compared', this.#sides !== undefined)
    byId('theme').addEventListener('click', () => this.switchTheme())
    byId('zoom').addEventListener('click', () => this.zoomToSelection())
    this.#systemTheme.addEventListener('change', () => this.#drawSoon())
    window.addEventListener('resize', () => this.#drawSoon())
    window.addEventListener('hashchange', () => this.#readAddress())
    for (const event of ['beforeprint', 'afterprint']) {
      window.addEventListener(event, () => {
        document.body.classList.toggle('printed', event === 'beforeprint')
        this.draw()
      })
    }
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

  zoomToSelection() {
    const { from, to } = this.state
    if (from !== undefined) this.change({ left: from, right: to })
  }

  draw() {
    const isDark = this.#isDark()
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
    const shown = this.#shown(isDark)
    const slow = this.#views.filter((view) => view.used && view.isSlow?.(shown))
    for (const view of this.#views) if (!slow.includes(view)) drawIfChanged(view, shown)
    clearTimeout(this.#pausing)
    this.#pausing = setTimeout(() => {
      for (const view of slow) drawIfChanged(view, shown)
    }, PAUSE)
  }

  /** @param {boolean} isDark @returns {Shown} */
  #shown(isDark) {
    const { recording, state } = this
    const { fromUs, toUs } = spanOf(state, recording)
    const costs = this.#costs(this.#threads(state.threads), fromUs, toUs, state.label)
    const isWanted = this.#matcher(state.query)
    const sides = this.#sides
    const hottest = this.#hottest
    return {
      state,
      costs,
      sides,
      isWanted,
      isDark,
      // A drag does not ask for the function.
      get function() {
        return state.function ?? hottest(recording, costs, isWanted, sides)
      },
      marked: this.#marked(isWanted, fromUs, toUs),
    }
  }

  /** Returns where the searched or selected functions, or the selected label, ran. @param {(item: number) => boolean} isSearched @param {number} fromUs @param {number} toUs */
  #marked(isSearched, fromUs, toUs) {
    const { query, function: item, label } = this.state
    const { labels } = this.recording
    const isLabel = query === '' && item === undefined && label !== undefined
    if (query === '' && item === undefined && !isLabel) return undefined
    const leaves =
      isLabel && labels
        ? this.#leavesOf(labels, label)
        : this.#leavesWith(query === '' ? this.#isItem(Number(item)) : isSearched)
    return { leaves, threadUs: this.#threadTimes(leaves, fromUs, toUs) }
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
    if (document.body.classList.contains('printed')) return false
    return theme === undefined ? this.#systemTheme.matches : theme === 'dark'
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

/** @param {View} view @param {Shown} shown */
function drawIfChanged(view, shown) {
  const uses = view.uses?.(shown) ?? []
  const isSame =
    view.uses && view.used && uses.every((value, index) => value === view.used?.[index])
  view.used = uses
  if (!isSame) view.view.draw(shown)
}

/**
 * Returns a function that keeps its last result for the same arguments.
 * @template {any[]} A @template R @param {(...values: A) => R} work @returns {(...values: A) => R}
 */
function remember(work) {
  /** @type {{ values: A, result: R } | undefined} */
  let last
  return (...values) => {
    if (last === undefined || values.some((value, index) => value !== last?.values[index])) {
      last = { values, result: work(...values) }
    }
    return last.result
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

module.exports = { Page }
