'use strict'

// Draws what is above and below the graphs: title, summary, search and notes.

const { timeWith, titleOf } = require('../data/names.js')
const { formatChange } = require('../data/sides.js')
const { spanOf, threadsOf } = require('../state.js')
const { formatCounts, formatShare, formatTime } = require('../../terminal/units.js')
const { byId } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

class HeaderView {
  #search = byId('search')
  #recording

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    const { notes, thinnedToUs } = recording
    document.title = titleOf(recording)
    byId('title').textContent = document.title
    const thinned = `one sample stands for ${formatTime(Number(thinnedToUs) / 1000)}, because there are many`
    byId('notes').textContent = [...notes, ...(thinnedToUs ? [thinned] : [])].join('; ')
    byId('whole').addEventListener('click', () =>
      change({ from: undefined, to: undefined, threads: undefined, thread: undefined }),
    )
    byId('help').addEventListener('click', () => byId('keys').showModal())
    this.#search.addEventListener('input', () => change({ query: this.#search.value }))
  }

  /** @param {Shown} shown */
  draw(shown) {
    const { state, costs, isWanted } = shown
    byId('summary').textContent = summaryOf(this.#recording, shown)
    byId('found').textContent =
      state.query === ''
        ? ''
        : `${formatShare(timeWith(this.#recording, costs, isWanted), costs.workUs)} of work`
    if (this.#search.value !== state.query) this.#search.value = state.query
    byId('whole').hidden = state.from === undefined && state.threads === undefined
  }
}

/** @param {Recording} recording @param {Shown} shown */
function summaryOf(recording, { state, costs, sides }) {
  if (sides) return `work of a run: ${formatChange(sides.base.workUs, sides.head.workUs)}`
  const { fromUs, toUs } = spanOf(state, recording)
  const threads = threadsOf(state, recording)
  const processes = new Set(threads.map((thread) => recording.threads[thread].process))
  const times = Object.entries(costs.states)
    .filter(([, us]) => us > 0)
    .map(([name, us]) => `${name} ${formatTime(us / 1000)}`)
  const counts = formatCounts(processes.size, threads.length)
  return `${formatTime((toUs - fromUs) / 1000)} · ${counts} · ${times.join(', ')}`
}

module.exports = { HeaderView }
