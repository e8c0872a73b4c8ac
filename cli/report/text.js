'use strict'

// Renders a report as text for a terminal.

const {
  formatTime,
  formatShare,
  formatCount,
  openingOf,
  printable,
} = require('../terminal/format.js')
const { activeMs, restMs, isMain, workMs } = require('./tables.js')
const { threadRows, costTables, countThreads } = require('./tables.js')
const { inFlightTexts } = require('./labels.js')
const { MINOR, summary, chainText } = require('./summary.js')
const { TIME, SHARE, displayWidth, padEnd, cutEnd, cutStart } = require('../terminal/width.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportThread} Thread */
/** @typedef {import('./tables.js').ThreadRow} ThreadRow */
/** @typedef {import('./tables.js').CostTable} CostTable */
/**
 * @typedef {object} View
 * @property {number} columns the width
 * @property {number} lines the height, unless `top` is set
 * @property {boolean} colours
 * @property {string} cwd the folder that paths are relative to
 * @property {import('./tables.js').By} [by] the only table wanted
 * @property {number} [top] rows of each table
 */
/** @typedef {{ title: string, rows: number, draw: (rows: number) => string[] }} Section */

/** Rows that every section gets: on a screen of 24 rows, and on a larger one. */
const MIN_ROWS = { small: 2, large: 3 }
const LARGE_SCREEN = 30
/** The end of the name of a native function that has no name of its own. */
const ADDRESS = /([+~]0x[0-9a-f]+| \(no table\))$/
/** Lines of a section besides its rows: an empty line, the title and the heads of the columns. */
const SECTION_LINES = 3

/** @param {Report} report @param {View} view */
function renderText(report, view) {
  const sections = chooseSections(report, view)
  const lines = drawSummary(report, view)
  const heights = chooseHeights(sections, view, lines.length)
  for (const [index, section] of sections.entries()) {
    if (heights[index] === 0) continue
    const title = style(cutEnd(section.title, view.columns), 'bold', view)
    lines.push('', title, ...section.draw(heights[index]))
  }
  return `${lines.join('\n')}\n`
}

/** @param {Report} report @param {View} view @returns {Section[]} */
function chooseSections(report, view) {
  const tables = costTables(report, view.by, view.cwd).map((table) => ({
    title: `${table.title} (% of ${formatTime(table.whole.ms)} of ${table.whole.name})`,
    rows: table.rows.length,
    draw: (/** @type {number} */ rows) => drawCosts(table, rows, view),
  }))
  if (view.by !== undefined && view.by !== 'thread') return tables
  const threads = {
    title: 'processes and threads, the busiest first (the denser the bar, the busier)',
    rows: countThreads(report),
    draw: (/** @type {number} */ rows) => drawThreads(report, rows, view),
  }
  // Where one thread does all the work, the list of threads says nothing.
  return countWorkers(report) > 1 ? [threads, ...tables] : [...tables, threads]
}

/** Returns the count of threads that do a notable part of the work. @param {Report} report */
function countWorkers(report) {
  const threads = report.processes.flatMap(({ launcher, threads }) => (launcher ? [] : threads))
  return threads.filter((thread) => activeMs(thread) > MINOR * workMs(report)).length
}

/**
 * Divides the lines among the sections. Sections that do not fit have no rows. Lines that a section
 * does not need go to the others.
 * @param {Section[]} sections @param {View} view @param {number} used lines of the summary
 * @returns {number[]} rows of each section
 */
function chooseHeights(sections, { lines, top }, used) {
  if (top !== undefined) return sections.map(({ rows }) => Math.min(rows, top))
  const least = lines < LARGE_SCREEN ? MIN_ROWS.small : MIN_ROWS.large
  // One line says how many threads have no row.
  let left = lines - used - 1
  const heights = sections.map(({ rows }) => {
    const height = Math.min(rows, least)
    const fits = height > 0 && left >= SECTION_LINES + height
    left -= fits ? SECTION_LINES + height : 0
    return fits ? height : 0
  })
  while (left > 0) {
    const growing = sections
      .map((_, index) => index)
      .filter((index) => heights[index] > 0 && heights[index] < sections[index].rows)
    if (growing.length === 0) break
    // The first section gets two lines where the others get one.
    const share = (/** @type {number} */ index) => heights[index] / (index === 0 ? 2 : 1)
    heights[growing.reduce((a, b) => (share(b) < share(a) ? b : a))]++
    left--
  }
  return heights
}

/** @param {Report} report @param {View} view */
function drawSummary(report, view) {
  const [whole, ...facts] = summary(report)
  const [first, ...others] = wrap([whole, ...facts].join(' · '), view.columns)
  const opening = fold(printable(openingOf(report)).split(' '), view)
  return [
    ...opening.map((line) => style(line, 'bold', view)),
    ...(opening.length > 0 ? [''] : []),
    first.replace(whole, style(whole, 'bold', view)),
    ...others,
    ...drawChain(report, view),
    ...inFlightTexts(report).flatMap((text) => fold(printable(text).split(' '), view)),
  ]
}

/** Draws what the end of the run waited for. @param {Report} report @param {View} view */
function drawChain({ chain }, view) {
  const text = printable(chainText(chain) ?? '')
  return text === '' ? [] : fold(`the end waited for: ${text}`.split(/(?<=→) /), view)
}

/** Joins words to lines. @param {string[]} words @param {View} view @returns {string[]} */
function fold(words, view) {
  const lines = ['']
  for (const word of words) {
    const longer = lines[lines.length - 1] === '' ? word : `${lines[lines.length - 1]} ${word}`
    if (displayWidth(longer) <= view.columns || lines[lines.length - 1] === '') {
      lines[lines.length - 1] = longer
    } else lines.push(word)
  }
  return lines.filter((line) => line !== '').map((line) => cutEnd(line, view.columns))
}

/** Breaks a text at its dots, or else at its commas. @param {string} text @param {number} columns @returns {string[]} */
function wrap(text, columns) {
  if (text.length <= columns) return [text]
  const dot = text.lastIndexOf(' · ', columns)
  if (dot > 0) return [text.slice(0, dot), ...wrap(text.slice(dot + 3), columns)]
  const comma = text.lastIndexOf(', ', columns - 1)
  return comma < 0 ? [text] : [text.slice(0, comma + 1), ...wrap(text.slice(comma + 2), columns)]
}

/** @param {Report} report @param {number} count @param {View} view */
function drawThreads(report, count, view) {
  const { rows, rest, restMs } = threadRows(report, count, view.cwd)
  const layout = threadLayout(rows, view)
  const lines = rows.map((row) => drawThread(row, report.durationMs, layout, view))
  const more = `  and ${formatCount(rest, 'more thread')}, ${formatTime(restMs)} not idle`
  return [
    drawThreadHead(report.durationMs, layout, view),
    ...lines,
    ...(rest > 0 ? [style(more, 'dim', view)] : []),
  ]
}

/** @typedef {{ head: string, of: (row: ThreadRow) => number }} TimeColumn */
/** @typedef {{ label: number, chart: number, times: TimeColumn[] }} ThreadLayout widths, and the times shown */

/** @param {keyof import('../../index.js').ReportTimes} time @returns {TimeColumn} */
function threadTime(time) {
  return { head: time.slice(0, -2), of: ({ thread }) => thread[time] ?? 0 }
}

/** @param {'nativeMs' | 'othersMs'} time @returns {TimeColumn} */
function processTime(time) {
  const of = (/** @type {ThreadRow} */ { process, thread }) =>
    isMain(thread) ? (process.cpu?.[time] ?? 0) : 0
  return { head: time.slice(0, -2), of }
}

/** Columns of the threads' times. The last is the first to go where the screen is narrow. */
const TIME_COLUMNS = [
  { head: 'busy', of: (/** @type {ThreadRow} */ { thread }) => activeMs(thread) },
  threadTime('idleMs'),
  processTime('nativeMs'),
  processTime('othersMs'),
  threadTime('waitingMs'),
  threadTime('blockedMs'),
  threadTime('gcMs'),
]

/** Columns of a place that are shown even where the label is long, its separator included. */
const MIN_PLACE = 15

/** @param {ThreadRow[]} rows @param {View} view @returns {ThreadLayout} */
function threadLayout(rows, { columns }) {
  const sum = (/** @type {TimeColumn} */ { of }) => rows.reduce((sum, row) => sum + of(row), 0)
  const whole = TIME_COLUMNS.reduce((whole, column) => whole + sum(column), 0)
  const most = Math.max(2, Math.floor((columns - 45) / (TIME + 1)))
  const times = TIME_COLUMNS.filter((column, i) => i < 2 || sum(column) > MINOR * whole)
  times.length = Math.min(times.length, most)
  const room = columns - 3 - times.length * (TIME + 1)
  const widths = rows.map((row) => displayWidth(fullName(row)) + 2)
  const label = Math.min(Math.max(...widths, 12), Math.max(12, Math.floor(room * 0.7)))
  const chart = Math.max(0, Math.min(40, room - label - 2))
  return { label, chart, times }
}

/** @param {number} wholeMs @param {ThreadLayout} layout @param {View} view */
function drawThreadHead(wholeMs, { label, chart, times }, view) {
  const whole = formatTime(wholeMs)
  const axis = chart < whole.length + 4 ? ''.padEnd(chart) : `0${whole.padStart(chart - 1)}`
  const heads = times.map(({ head }) => head.padStart(TIME + 1)).join('')
  return style(`  ${''.padEnd(label)}  ${axis}${heads}`, 'dim', view)
}

/** @param {ThreadRow} row @param {number} wholeMs @param {ThreadLayout} layout @param {View} view */
function drawThread(row, wholeMs, layout, view) {
  const { thread } = row
  const shown = padEnd(cutStart(cutName(row, layout.label), layout.label), layout.label)
  const bar = style(drawLifetime(thread, wholeMs, layout.chart), 'cyan', view)
  const times = layout.times.map(({ of }) => of(row))
  const cells = times.map((ms) => (ms > 0 ? formatTime(ms) : '–').padStart(TIME + 1))
  return `  ${shown}  ${bar}${cells.join('')}`
}

/** @param {ThreadRow} row */
const fullName = ({ label, place, end }) => printable(`${label}${place}${end}`)

/** Returns the name of a row in a column; the place gives way before the label. @param {ThreadRow} row @param {number} width in columns */
function cutName({ label, place, end, isBelow }, width) {
  const start = `${isBelow ? '  ' : ''}${printable(label)}`
  const room = width - displayWidth(start) - displayWidth(printable(end))
  const middle = cutPlace(printable(place), Math.max(room, MIN_PLACE))
  const tail = `${middle}${printable(end)}`
  return `${cutEnd(start, width - displayWidth(tail))}${tail}`
}

/** Cuts a place after its separator. @param {string} place @param {number} width in columns */
function cutPlace(place, width) {
  return place === '' ? '' : ` · ${cutStart(place.slice(3), width - 3)}`
}

/** Draws when a thread lived; a denser bar is a busier thread. @param {Thread} thread @param {number} wholeMs @param {number} width */
function drawLifetime(thread, wholeMs, width) {
  if (wholeMs <= 0 || width === 0) return ''.padEnd(width)
  const from = Math.min(width - 1, Math.floor((thread.startMs / wholeMs) * width))
  const to = Math.ceil(((thread.startMs + thread.durationMs) / wholeMs) * width)
  const length = Math.max(1, Math.min(width, to) - from)
  const active = activeMs(thread)
  const share = active / Math.max(active + restMs(thread), 0.001)
  const shade = '░▒▓█'[Math.min(3, Math.floor(share * 4))]
  return `${''.padEnd(from)}${shade.repeat(length)}`.padEnd(width)
}

/** @param {CostTable} table @param {number} count of rows @param {View} view */
function drawCosts({ heads: [first, ...others], whole, rows }, count, view) {
  const shown = rows.slice(0, count).map((row) => {
    return { ...row, name: printable(row.name), place: printable(row.place) }
  })
  const layout = costLayout(shown, others.length, view)
  const gap = ''.padEnd(SHARE + 2 + layout.bar + (layout.bar > 0 ? 1 : 0))
  const otherHeads = others.map((head) => head.padStart(TIME)).join(' ')
  const head = `  ${first.padStart(TIME)}${gap}${otherHeads}`
  const most = shown[0]?.ms ?? 1
  return [
    style(head, 'dim', view),
    ...shown.map((row) => drawCost(row, { most, whole: whole.ms }, layout, view)),
  ]
}

/** @typedef {import('./tables.js').CostRow} CostRow */
/**
 * @typedef {object} CostLayout
 * @property {number} bar columns of the bar
 * @property {number} name columns of the name
 * @property {number} place columns of the place; 0 if no row has one
 */

/** @param {CostRow[]} rows @param {number} others numbers beside the time @param {View} view @returns {CostLayout} */
function costLayout(rows, others, { columns }) {
  const used = 4 + TIME + 1 + SHARE + 1 + others * (TIME + 1)
  const spare = columns - 72 - (others - 1) * (TIME + 1)
  const bar = spare < 0 ? 0 : Math.min(20, 8 + Math.floor(spare / 4))
  const barWithGap = bar + (bar > 0 ? 1 : 0)
  const room = Math.max(20, columns - used - barWithGap)
  if (rows.every(({ place }) => place === '')) return { bar, name: room, place: 0 }
  const longest = Math.max(...rows.map(({ name }) => displayWidth(name)), 1)
  const longestPlace = Math.max(...rows.map(({ place }) => displayWidth(place)))
  // A short place leaves its room to the names.
  const name = Math.min(longest, Math.max(Math.floor(room * 0.45), room - longestPlace - 2))
  return { bar, name, place: room - name - 2 }
}

/** @param {CostRow} row @param {{ most: number, whole: number }} scale @param {CostLayout} layout @param {View} view */
function drawCost({ ms, others, name, place }, { most, whole }, layout, view) {
  const left = `  ${formatTime(ms).padStart(TIME)} ${formatShare(ms, whole).padStart(SHARE)} `
  const bar = style(drawBar(ms / most, layout.bar), 'cyan', view)
  const numbers = others.map((text) => text.padStart(TIME)).join(' ')
  const right = `${layout.bar > 0 ? ' ' : ''}${numbers}  `
  if (layout.place === 0) return `${left}${bar}${right}${cutStart(name, layout.name)}`
  // The end tells functions without names apart.
  const cut = ADDRESS.test(name) ? cutStart : cutEnd
  const shown = padEnd(cut(name, layout.name), layout.name)
  return `${left}${bar}${right}${shown}  ${style(cutStart(place, layout.place), 'dim', view)}`
}

/** @param {number} part of 1 @param {number} width */
function drawBar(part, width) {
  const eighths = Math.max(0, Math.min(width * 8, Math.round(part * width * 8)))
  const rest = ' ▏▎▍▌▋▊▉'[eighths % 8]
  return `${'█'.repeat(Math.floor(eighths / 8))}${rest === ' ' ? '' : rest}`.padEnd(width)
}

const CODES = { bold: [1, 22], dim: [2, 22], cyan: [36, 39] }

/** @param {string} text @param {keyof typeof CODES} how @param {View} view */
function style(text, how, { colours }) {
  if (!colours || text.trim() === '') return text
  const [on, off] = CODES[how]
  return `\x1b[${on}m${text}\x1b[${off}m`
}

module.exports = { renderText }
