'use strict'

// Holds what the user has chosen. The URL's fragment keeps it.

const { TIMES } = require('./data/recording.js')

const VIEWS = /** @type {const} */ (['time', 'heavy', 'inverted', 'sandwich'])
/** Tables that a recording can lack. */
const LISTS = /** @type {const} */ (['stalls', 'timings', 'imports', 'scripts'])
const TABLES = /** @type {const} */ ([
  'functions',
  'calls',
  'files',
  'packages',
  'owners',
  'labels',
  'lines',
  ...LISTS,
])
const THEMES = /** @type {const} */ (['light', 'dark'])

/** @typedef {import('./data/recording.js').Recording} Recording */
/** @typedef {typeof TABLES[number]} TableName */
/**
 * @typedef {object} State
 * @property {number} [from] start of the selected time, microseconds
 * @property {number} [to] its end
 * @property {number} [left] start of the visible time, microseconds
 * @property {number} [right] its end
 * @property {number[]} [threads] indices of the selected threads; all but those of launchers unless
 *   given
 * @property {number} [thread] the thread that the flame graph by time shows
 * @property {VIEWS[number]} view
 * @property {TableName} table
 * @property {TIMES[number]} sort
 * @property {string} query
 * @property {number} [function] the selected function
 * @property {number} [label] the only label that counts
 * @property {string} [colours] the key of labels that gives the graph by time its colours
 * @property {THEMES[number]} [theme]
 *
 * @typedef {(changes: Partial<State>) => void} Change
 *
 * @typedef {object} Shown what the views draw
 * @property {State} state
 * @property {import('./data/costs.js').Costs} costs of the selection
 * @property {import('./data/sides.js').Sides} [sides] of a comparison
 * @property {(item: number) => boolean} isWanted whether the search finds a function
 * @property {Marked} [marked] where the searched or selected functions ran
 * @property {number} function the selected function, or else the hottest; -1 if nothing ran
 * @property {boolean} isDark
 *
 * @typedef {object} Marked
 * @property {Uint8Array} leaves whether a function is on the stack of each leaf
 * @property {number[]} threadUs time of each thread in the selected time
 */

/** @type {State} */
const INITIAL = { view: 'heavy', table: 'functions', sort: 'self', query: '' }

/**
 * Reads a fragment. What is wrong in it is left out.
 * @param {string} fragment @param {Recording} recording @returns {State}
 */
function readState(fragment, recording) {
  const { durationUs, threads, names, labels } = recording
  const values = new URLSearchParams(fragment.replace(/^#/, ''))
  /** @param {string} name @param {number} limit */
  const number = (name, limit) => {
    const value = Number(values.get(name) ?? Number.NaN)
    return value >= 0 && value <= limit ? value : undefined
  }
  /** @template {string} A @template {string} B @param {A} start @param {B} end */
  const span = (start, end) => {
    const [from, to] = [number(start, durationUs), number(end, durationUs)]
    const isSpan = from !== undefined && to !== undefined && from < to
    return isSpan ? { [start]: from, [end]: to } : {}
  }
  /** @param {string | null} text @param {number} count */
  const index = (text, count) =>
    /^\d+$/.test(text ?? '') && Number(text) < count ? Number(text) : undefined
  /** @template {string} T @param {string} name @param {readonly T[]} allowed */
  const choice = (name, allowed) => allowed.find((each) => each === values.get(name))
  const chosen = values
    .get('threads')
    ?.split(',')
    .flatMap((text) => index(text, threads.length) ?? [])
  return {
    ...span('from', 'to'),
    ...span('left', 'right'),
    threads: chosen?.length ? chosen : undefined,
    thread: index(values.get('thread'), threads.length),
    view: choice('view', viewsOf(recording)) ?? INITIAL.view,
    table: choice('table', tablesOf(recording)) ?? INITIAL.table,
    sort: choice('sort', TIMES) ?? INITIAL.sort,
    query: values.get('query') ?? '',
    function: index(values.get('function'), names.length),
    label: index(values.get('label'), labels?.items.length ?? 0),
    colours: choice('colours', labels?.keys ?? []),
    theme: choice('theme', THEMES),
  }
}

/** Returns the fragment of what differs from the start. @param {State} state */
function writeState(state) {
  const values = new URLSearchParams()
  for (const [name, value] of Object.entries(state)) {
    const initial = /** @type {Record<string, unknown>} */ (INITIAL)[name]
    if (value === undefined || value === initial) continue
    values.set(name, typeof value === 'number' ? String(Math.round(value)) : String(value))
  }
  const text = values.toString()
  return text === '' ? '' : `#${text}`
}

/**
 * Returns the tables of a recording: calls and lines of two versions are not comparable, and not every
 * run has labels, stalls, timings, imports and scripts.
 * @param {Recording} recording
 */
function tablesOf(recording) {
  /** @type {Set<string>} */
  const isMissing = new Set([
    ...(recording.compared ? ['calls', 'lines'] : []),
    ...LISTS.filter((name) => recording[name].length === 0),
    ...(recording.labels === undefined ? ['labels'] : []),
  ])
  return TABLES.filter((name) => !isMissing.has(name))
}

/** Returns the views of a recording: a comparison has no time line. @param {Recording} recording */
function viewsOf({ compared }) {
  return VIEWS.filter((name) => !compared || name !== 'time')
}

/** Returns the selected time. @param {State} state @param {Recording} recording */
function spanOf({ from, to }, { durationUs }) {
  return { fromUs: from ?? 0, toUs: to ?? durationUs }
}

/** Returns the visible time. @param {State} state @param {Recording} recording */
function visibleOf({ left, right }, { durationUs }) {
  return { from: left ?? 0, to: right ?? durationUs }
}

/** Returns whether the selection is all that the report counts. @param {State} state */
function isWhole({ from, threads, label }) {
  return [from, threads, label].every((chosen) => chosen === undefined)
}

/** Returns the indices of the selected threads. @param {State} state @param {Recording} recording */
function threadsOf({ threads }, recording) {
  if (threads !== undefined) return threads
  const shown = recording.threads.filter(({ process }) => !process.launcher)
  return (shown.length > 0 ? shown : recording.threads).map(({ index }) => index)
}

/**
 * Returns the thread that the graph by time shows: the chosen one, or the busiest of the selected.
 * @param {State} state @param {Recording} recording
 */
function shownThread(state, recording) {
  if (state.thread !== undefined) return state.thread
  const { threads } = recording
  return threadsOf(state, recording).reduce((best, each) =>
    threads[each].busyUs > threads[best].busyUs ? each : best,
  )
}

/**
 * Selects threads, or all again if these are the only selected ones. Beside the others, adds or removes
 * them.
 * @param {State} state @param {Recording} recording @param {number[]} threads
 * @param {boolean} isAdded whether the others stay selected
 * @returns {Partial<State>}
 */
function chooseThreads(state, recording, threads, isAdded) {
  const selected = threadsOf(state, recording)
  const has = threads.every((thread) => selected.includes(thread))
  const others = selected.filter((thread) => !threads.includes(thread))
  if (!isAdded) {
    const isAlone = has && selected.length === threads.length
    return { threads: isAlone ? undefined : threads, thread: undefined }
  }
  const next = has ? others : [...others, ...threads].sort((a, b) => a - b)
  return { threads: next.length > 0 ? next : undefined, thread: undefined }
}

module.exports = {
  LISTS,
  tablesOf,
  viewsOf,
  readState,
  writeState,
  spanOf,
  visibleOf,
  isWhole,
  threadsOf,
  shownThread,
  chooseThreads,
}
