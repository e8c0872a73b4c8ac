'use strict'

// Draws what is above and below the graphs: title, sentence, chain, states, search and notes.

const { timeWith, titleOf } = require('../data/names.js')
const { STATES, STATE_NAMES } = require('../data/recording.js')
const { formatChange } = require('../data/sides.js')
const { spanOf, threadsOf } = require('../state.js')
const {
  chainParts,
  formatCount,
  formatCounts,
  formatShare,
  formatTime,
  openingOf,
} = require('../../terminal/units.js')
const { byId, element } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

/** What each state is. */
const MEANINGS = {
  javascript: 'functions of scripts',
  native: 'native functions, and native code that no function called',
  gc: 'garbage collection',
  waiting: 'ready to run, but other threads had the cores',
  blocked: 'in a call that waits',
  idle: 'in the event loop with nothing to do',
}

class HeaderView {
  #search = byId('search')
  #recording

  /** @param {Recording} recording @param {import('../state.js').Change} change */
  constructor(recording, change) {
    this.#recording = recording
    const { notes, thinnedToUs, chain } = recording
    document.title = titleOf(recording)
    Object.assign(byId('title'), { textContent: document.title, title: document.title })
    byId('sentence').textContent = openingOf(recording)
    // One part says nothing.
    const parts = chainParts(chain)
    byId('waited').hidden = parts.length === 0
    byId('chain').append(...parts.map(drawPart))
    const thinned = `one sample stands for ${formatTime(Number(thinnedToUs) / 1000)}, because there are many`
    const leftOut = recording.processes.reduce((sum, each) => sum + (each.timingsLeftOut ?? 0), 0)
    const missing = `${formatCount(leftOut, 'mark or span is', 'marks and spans are')} left out`
    byId('notes').textContent = [
      ...notes,
      ...(thinnedToUs ? [thinned] : []),
      ...(leftOut > 0 ? [missing] : []),
    ].join('; ')
    byId('whole').addEventListener('click', () =>
      change({
        from: undefined,
        to: undefined,
        left: undefined,
        right: undefined,
        threads: undefined,
        thread: undefined,
        label: undefined,
      }),
    )
    byId('help').addEventListener('click', () => byId('keys').showModal())
    this.#search.addEventListener('input', () => change({ query: this.#search.value }))
  }

  /** @param {Shown} shown */
  draw(shown) {
    const { state, costs, isWanted, sides } = shown
    byId('summary').textContent = summaryOf(this.#recording, shown)
    byId('found').textContent =
      state.query === ''
        ? ''
        : `${formatShare(timeWith(this.#recording, costs, isWanted), costs.workUs)} of work`
    if (this.#search.value !== state.query) this.#search.value = state.query
    byId('whole').hidden = [state.from, state.left, state.threads, state.label].every(
      (chosen) => chosen === undefined,
    )
    byId('zoom').hidden = state.from === undefined || isVisible(state)
    byId('states').replaceChildren(...(sides ? [] : statesOf(costs)))
  }
}

/** Returns whether the selected time is all that is visible. @param {import('../state.js').State} state */
function isVisible({ from, to, left, right }) {
  return from === left && to === right
}

/** @param {ReturnType<typeof chainParts>[number]} part */
function drawPart({ name, time, idle }) {
  return element('li', {}, `${name} `, element('b', { textContent: time }), ` ${idle}`)
}

/** Makes a bar of the states, and the legend of their colours with their times. @param {import('../data/costs.js').Costs} costs */
function statesOf({ states }) {
  const all = states.reduce((sum, us) => sum + us, 0)
  const known = STATES.map((name, state) => ({
    name,
    label: STATE_NAMES[state],
    us: states[state],
  }))
  const parts = known
    .filter(({ us }) => us > 0)
    .map(({ name, us }) => {
      const part = element('span', { className: `state ${name}` })
      part.style.flexGrow = String(us / all)
      return part
    })
  const rows = known.map(({ name, label, us }) =>
    element(
      'li',
      { title: MEANINGS[name], className: us > 0 ? '' : 'none' },
      element('span', { className: `swatch state ${name}` }),
      `${label} `,
      ...(us > 0
        ? [element('b', { textContent: formatTime(us / 1000) }), ` ${formatShare(us, all)}`]
        : ['–']),
    ),
  )
  return [
    element('div', { className: 'bar-of-states', 'aria-hidden': 'true' }, ...parts),
    element('ul', { className: 'legend' }, ...rows),
  ]
}

/** @param {Recording} recording @param {Shown} shown */
function summaryOf(recording, { state, costs, sides }) {
  if (sides) return `work of a run: ${formatChange(sides.base.workUs, sides.head.workUs)}`
  const { fromUs, toUs } = spanOf(state, recording)
  const threads = threadsOf(state, recording)
  const processes = new Set(threads.map((thread) => recording.threads[thread].process))
  const counts = formatCounts(processes.size, threads.length)
  const length = formatTime((toUs - fromUs) / 1000)
  const isPart = state.from !== undefined
  const span = `${length}${isPart ? `, from ${formatTime(fromUs / 1000)} on` : ''}`
  const label = state.label === undefined ? undefined : recording.labels?.items[state.label]
  const only = label === undefined ? '' : ` · only ${label.key} ${label.name}`
  return `${span} · ${counts} · busy ${formatTime(costs.workUs / 1000)}${only}`
}

module.exports = { HeaderView }
