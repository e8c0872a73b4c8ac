'use strict'

// Opens the page: reads the data, and draws everything again when the user chooses something.

const { costsOf, timeWith } = require('./data/costs.js')
const { detailView } = require('./views/detail.js')
const { byId } = require('./views/elements.js')
const { flameView } = require('./views/flame.js')
const { listenToKeys } = require('./keys.js')
const { busiestProcess, readRecording } = require('./data/recording.js')
const { formatDifference, formatSides, sidesOf } = require('./data/sides.js')
const { readState, spanOf, threadsOf, writeState, VIEWS } = require('./state.js')
const { matcher, tableView } = require('./views/table.js')
const { timelineView } = require('./views/timeline.js')
const { formatCount, formatCounts, formatShare, formatTime } = require('../terminal/units.js')

/** @typedef {import('./state.js').State} State */

/** Milliseconds after a choice: browsers refuse many changes of the address in a short time. */
const WRITE_DELAY = 100

/** Reads the data, which the page holds as compressed JSON. */
async function readData() {
  const text = atob(byId('data').textContent.trim())
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = text.charCodeAt(index)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

async function open() {
  const recording = readRecording(await readData())
  const sides = sidesOf(recording)
  let state = readState(location.hash, recording)
  const systemTheme = matchMedia('(prefers-color-scheme: dark)')
  let isDrawing = false
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let writing
  /** The costs of a selection, until another is made. @type {{ key: string, costs: import('./data/costs.js').Costs } | undefined} */
  let known

  /** @param {Partial<State>} changes */
  function change(changes) {
    state = { ...state, ...changes }
    clearTimeout(writing)
    writing = setTimeout(writeAddress, WRITE_DELAY)
    drawSoon()
  }

  function writeAddress() {
    history.replaceState(null, '', `${location.pathname}${location.search}${writeState(state)}`)
  }

  function drawSoon() {
    if (isDrawing) return
    isDrawing = true
    requestAnimationFrame(() => {
      isDrawing = false
      draw()
    })
  }

  const timeline = timelineView(recording, change)
  const flame = flameView(recording, change)
  const table = tableView(recording, change)
  const detail = detailView(recording, change)

  function currentCosts() {
    const [threads, span] = [threadsOf(state, recording), spanOf(state, recording)]
    const key = `${threads} ${span.fromUs} ${span.toUs}`
    if (known?.key !== key) known = { key, costs: costsOf(recording, threads, span) }
    return known.costs
  }

  function isDarkNow() {
    return state.theme === undefined ? systemTheme.matches : state.theme === 'dark'
  }

  function draw() {
    const isDark = isDarkNow()
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
    const costs = currentCosts()
    const isWanted = matcher(recording, state.query)
    byId('summary').textContent = summary(costs)
    byId('found').textContent =
      state.query === ''
        ? ''
        : `${formatShare(timeWith(recording, costs, isWanted), costs.workUs)} of work`
    if (byId('search').value !== state.query) byId('search').value = state.query
    for (const view of VIEWS)
      byId(`view-${view}`).setAttribute('aria-pressed', String(view === state.view))
    byId('whole').hidden = state.from === undefined && state.threads === undefined
    timeline.draw(state, isDark)
    flame.draw({ state, costs, sides, isDark, isWanted })
    table.draw({ state, costs, sides, isWanted })
    detail.draw(state, costs, sides)
  }

  /** @param {import('./data/costs.js').Costs} costs */
  function summary({ states }) {
    if (sides) {
      const [baseUs, headUs] = [sides.base.workUs, sides.head.workUs]
      return `work of a run: ${formatSides(baseUs, headUs)} (${formatDifference(headUs - baseUs)})`
    }
    const { fromUs, toUs } = spanOf(state, recording)
    const threads = threadsOf(state, recording)
    const processes = new Set(threads.map((thread) => recording.threads[thread].process))
    const times = Object.entries(states)
      .filter(([, us]) => us > 0)
      .map(([name, us]) => `${name} ${formatTime(us / 1000)}`)
    const counts = formatCounts(processes.size, threads.length)
    return `${formatTime((toUs - fromUs) / 1000)} · ${counts} · ${times.join(', ')}`
  }

  document.title = titleOf(recording)
  document.body.classList.toggle('compared', sides !== undefined)
  byId('title').textContent = document.title
  const { notes, thinnedToUs } = recording
  const thinned = thinnedToUs
    ? [`one sample stands for ${formatTime(thinnedToUs / 1000)}, because there are many`]
    : []
  byId('notes').textContent = [...notes, ...thinned].join('; ')
  for (const view of VIEWS) byId(`view-${view}`).addEventListener('click', () => change({ view }))
  byId('whole').addEventListener('click', () =>
    change({ from: undefined, to: undefined, threads: undefined, thread: undefined }),
  )
  byId('search').addEventListener('input', () => change({ query: byId('search').value }))
  const switchTheme = () => change({ theme: isDarkNow() ? 'light' : 'dark' })
  byId('theme').addEventListener('click', switchTheme)
  byId('help').addEventListener('click', () => byId('keys').showModal())
  listenToKeys({ flame, change, switchTheme, state: () => state, recording })
  systemTheme.addEventListener('change', drawSoon)
  window.addEventListener('resize', drawSoon)
  window.addEventListener('hashchange', () => {
    state = readState(location.hash, recording)
    drawSoon()
  })
  draw()
  document.body.classList.remove('loading')
}

/** Returns the command of the busiest process. @param {import('./data/recording.js').Recording} recording */
function titleOf({ processes, compared }) {
  if (compared) return processes.map(({ command }) => command).join(' → ')
  const others = processes.length - 1
  const more = others > 0 ? ` and ${formatCount(others, 'more process', 'more processes')}` : ''
  return `${busiestProcess(processes).command}${more}`
}

open().catch((error) => {
  byId('summary').textContent = `This page cannot be shown: ${error.message}`
  throw error
})
