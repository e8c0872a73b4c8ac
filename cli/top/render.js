'use strict'

// Renders a look as the lines of a screen.

const { HOTTEST } = require('../report/labels.js')
const { activeMs } = require('../report/tables.js')
const { formatCounts, formatTime, printable } = require('../terminal/format.js')
const { cutEnd, cutStart, displayWidth, padEnd } = require('../terminal/width.js')
const { KINDS, isLabel } = require('./choices.js')
const { tableOf, threadTable } = require('./rows.js')

/** @typedef {import('../live/follower.js').LiveView} LiveView */
/** @typedef {import('./choices.js').Choices} Choices */
/** @typedef {{ columns: number, rows: number, colours: boolean }} Size */

/**
 * @typedef {object} Shown
 * @property {string} title what is watched
 * @property {LiveView} [view] the last look; none before the first
 * @property {string} [problem] why there is no look
 * @property {Date} [at] the moment of the look
 */

/** Lines around the rows of a table. */
const OTHER_LINES = 6
/** Columns of a share: `1600.0%`. */
const SHARE = 8
/** Columns from which places stand beside names. */
const WIDE = 60
/** The part of the rest that names then have, by the head of the places. @type {Record<string, number>} */
const NAMES = { place: 0.45, package: 0.62, [HOTTEST]: 0.5 }
/** Time without growth that is told, milliseconds: the recorder writes twice a second. */
const SILENT_MS = 3000
/** The share of a core below which nothing is shown, percent. */
const LEAST = 0.05

const KEYS = `q quit  space pause  ${Object.keys(KINDS).join(' ')} rows  s sort  + - seconds  / filter  ? help`

/** Codes that begin and end a style. */
const CODES = { bold: [1, 22], dim: [2, 22], inverse: [7, 27] }

/** Returns the count of table rows that a screen has. @param {number} rows */
const tableRows = (rows) => Math.max(1, rows - OTHER_LINES)

/** A line before its style, which takes no columns. @typedef {[text: string, how?: keyof typeof CODES]} Line */

/** Returns the lines of a screen, none wider than the screen. @param {Shown} shown @param {Choices} choices @param {Size} size @param {string} cwd */
function renderScreen(shown, choices, size, cwd) {
  if (choices.hasHelp) return finish(helpLines(), size)
  const { view } = shown
  /** @type {Line[]} */
  const lines = [
    [headline(shown, choices, size.columns), 'bold'],
    [view === undefined ? '' : summary(view)],
    [view === undefined ? '' : busiest(view)],
    [statusLine(shown, choices)],
  ]
  if (view !== undefined) {
    const table = tableOf(view, choices, cwd)
    const widths = layout(table, size.columns)
    const shownRows = tableRows(size.rows)
    const first = Math.min(choices.offset, Math.max(0, table.rows.length - shownRows))
    const rows = table.rows.slice(first, first + shownRows)
    lines.push([padEnd(head(table, widths), size.columns), 'inverse'])
    lines.push(...rows.map((row) => /** @type {Line} */ ([rowLine(row, lengthMs(view), widths)])))
  }
  while (lines.length < size.rows - 1) lines.push([''])
  return finish([...lines.slice(0, size.rows - 1), [KEYS, 'dim']], size)
}

/** Returns the lines of a look for a place that is no screen. @param {Shown} shown @param {Choices} choices @param {Size} size @param {string} cwd */
function renderPlain(shown, choices, size, cwd) {
  const { view } = shown
  const lines = [headline(shown, choices, size.columns)]
  if (view !== undefined) lines.push(summary(view))
  const status = statusLine(shown, choices)
  if (status !== '') lines.push(status)
  if (view !== undefined) {
    const table = tableOf(view, choices, cwd)
    const widths = layout(table, size.columns)
    const rows = table.rows.slice(0, size.rows)
    lines.push(head(table, widths), ...rows.map((row) => rowLine(row, lengthMs(view), widths)))
  }
  return [...lines, ''].map((line) => cutEnd(line.trimEnd(), size.columns))
}

/** Cuts lines to a screen, and gives them their styles. @param {Line[]} lines @param {Size} size */
function finish(lines, { columns, rows, colours }) {
  return lines.slice(0, rows).map(([line, how]) => {
    const text = cutEnd(line, columns)
    if (!colours || how === undefined || text.trim() === '') return text
    const [on, off] = CODES[how]
    return `\x1b[${on}m${text}\x1b[${off}m`
  })
}

/** Returns the length of what a look shows, milliseconds. @param {LiveView} view */
const lengthMs = ({ fromMs, toMs }) => toMs - fromMs

/** @param {Shown} shown @param {Choices} choices @param {number} columns */
function headline({ title, view, at }, { by, sort, seconds }, columns) {
  const length = view === undefined ? seconds * 1000 : lengthMs(view)
  const order = by === 'thread' ? 'work' : isLabel(by) ? 'self' : sort
  const time = at === undefined ? '' : ` · ${at.toTimeString().slice(0, 8)}`
  const right = `last ${formatTime(length)} by ${printable(by)}, ${order}${time}`
  const left = cutEnd(`cpu-prof top · ${printable(title)}`, columns - displayWidth(right) - 2)
  return `${padEnd(left, columns - displayWidth(right))}${right}`
}

/** @param {LiveView} view */
function summary(view) {
  const { processes, totals } = view
  const whole = lengthMs(view)
  const threads = processes.reduce((sum, process) => sum + process.threads.length, 0)
  const cores = whole > 0 ? activeMs(totals) / whole : 0
  const percent = (/** @type {number} */ ms) => `${Math.round((100 * ms) / (whole || 1))}%`
  const parts = [
    formatCounts(processes.length, threads),
    `${cores.toFixed(2)} cores at work`,
    `gc ${percent(totals.gcMs)}`,
    ...(totals.waitingMs === undefined ? [] : [`waiting ${percent(totals.waitingMs)}`]),
    ...(totals.blockedMs === undefined ? [] : [`blocked ${percent(totals.blockedMs)}`]),
  ]
  return parts.join(' · ')
}

/** Returns the threads that work most, with the share of a core that each works. @param {LiveView} view */
function busiest(view) {
  const { rows } = threadTable(view)
  const sorted = rows.sort((a, b) => b.times[0] - a.times[0])
  return sorted
    .slice(0, 8)
    .map(({ times: [work], name }) => `${share(work, lengthMs(view))} ${cutEnd(name, 24)}`)
    .join('   ')
}

/** @param {Shown} shown @param {Choices} choices */
function statusLine({ view, problem }, { by, isPaused, isTyping, filter }) {
  if (isTyping) return `filter: ${printable(filter)}_  (Enter keeps it, Escape drops it)`
  const parts = [
    ...(isPaused ? ['paused'] : []),
    ...(filter === '' ? [] : [`only rows with "${printable(filter)}"`]),
    ...(problem === undefined ? [] : [printable(problem)]),
    ...(view === undefined ? [] : [...silence(view, by), ...complaints(view)]),
  ]
  return parts.join(' · ')
}

/** Returns why nothing new is shown, or nothing at all. @param {LiveView} view @param {Choices['by']} by */
function silence({ silentMs, growing, recordings, processes, labels, toMs }, by) {
  if (recordings === 0) return ['no recording so far']
  const time = formatTime(silentMs)
  if (growing > 0 && toMs === 0) return ['no samples so far']
  const isSilent = silentMs > SILENT_MS
  if (growing > 0 && isSilent)
    return [`no samples for ${time}: all threads are idle, blocked, stopped or gone`]
  const hasLabels = !isLabel(by) || labels.length > 0
  return [
    ...(growing === 0 ? [`the recordings have ended${isSilent ? `, ${time} ago` : ''}`] : []),
    ...(processes.length === 0 && toMs > 0 ? ['nothing matches'] : []),
    ...(processes.length > 0 && !hasLabels ? ['no sample has labels'] : []),
  ]
}

/** @param {LiveView} view */
function complaints({ failed, notes }) {
  return [...failed.map(({ file, reason }) => `${file}: ${reason}`), ...notes].map(printable)
}

/** Returns the columns of names and places. @param {import('./rows.js').Table} table @param {number} columns */
function layout({ heads, places }, columns) {
  const rest = Math.max(10, columns - heads.length * SHARE - 2)
  const part = NAMES[places]
  if (columns < WIDE || part === undefined) return { name: rest, place: 0 }
  const name = Math.floor(rest * part)
  return { name, place: rest - name - 2 }
}

/** @param {import('./rows.js').Table} table @param {{ name: number, place: number }} widths */
function head({ heads, what, places }, widths) {
  const times = heads.map((text) => text.padStart(SHARE)).join('')
  return `${times}  ${padEnd(cutEnd(what, widths.name), widths.name)}  ${widths.place > 0 ? places : ''}`.trimEnd()
}

/** @param {import('./rows.js').Row} row @param {number} whole @param {{ name: number, place: number }} widths */
function rowLine({ times, name, place }, whole, widths) {
  const shares = times
    .map((ms) => (100 * ms >= LEAST * whole ? share(ms, whole) : '').padStart(SHARE))
    .join('')
  const cut =
    place === '' ? cutEnd(name, widths.name + widths.place + 2) : cutEnd(name, widths.name)
  const shownName = place === '' ? cut : padEnd(cut, widths.name)
  return `${shares}  ${shownName}  ${widths.place > 0 ? cutStart(place, widths.place) : ''}`.trimEnd()
}

/** Returns a share of a core. @param {number} ms @param {number} whole */
function share(ms, whole) {
  return whole > 0 ? `${((100 * ms) / whole).toFixed(1)}%` : '0.0%'
}

/** @returns {Line[]} */
function helpLines() {
  const kinds = Object.entries(KINDS).map(([key, kind]) => `  ${key}        rows by ${kind}`)
  return [
    'cpu-prof top: what the threads of recorded processes did in the last seconds',
    '',
    'A share is a part of one core: a thread that works all the time has 100 %.',
    'self      a function itself            total    with all that it called',
    'blocked   in a call that waits         waiting  ready to run, without a core',
    '',
    ...kinds,
    '  s        sort by self or total time',
    '  + -      a longer or a shorter time',
    '  /        only rows with a text; Escape shows all again',
    '  space    pause, and go on',
    '  ↑ ↓      more rows, also PageUp and PageDown',
    '  q        quit, also Ctrl-C',
    '',
    'Any key closes this help.',
  ].map((line) => [line])
}

module.exports = { renderScreen, renderPlain, tableRows }
