'use strict'

// Renders a report as text for a terminal.

const {
  formatTime,
  formatShare,
  formatCount,
  formatCounts,
  printable,
} = require('../terminal/format.js')
const {
  activeMs,
  threadRows,
  costTables,
  secondHead,
  secondOf,
  nameOf,
  countThreads,
} = require('./tables.js')
const { displayWidth, padEnd, cutEnd, cutStart } = require('./width.js')

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
/** @typedef {{ title: string, rows: number, draw: (rows: number) => string[], weight: number }} Section */

/** Columns of a time and of a share. */
const TIME = 8
const SHARE = 6

/** Rows that every section gets. */
const MIN_ROWS = 3
/** Shares of the other rows: the first tables get more. */
const THREADS_WEIGHT = 1.3
const COST_WEIGHTS = [1, 0.7, 0.7]

/** @param {Report} report @param {View} view */
function renderText(report, view) {
  const sections = chooseSections(report, view)
  const heights = chooseHeights(sections, view)
  const lines = [summary(report, view)]
  for (const [index, section] of sections.entries()) {
    if (heights[index] === 0) continue
    const title = style(cutEnd(section.title, view.columns), 'bold', view)
    lines.push('', title, ...section.draw(heights[index]))
  }
  return `${lines.join('\n')}\n`
}

/** @param {Report} report @param {View} view @returns {Section[]} */
function chooseSections(report, view) {
  const whole = activeMs(report.totals)
  const tables = costTables(report, view.by).map((table, index) => ({
    title: table.title,
    rows: table.costs.length,
    draw: (/** @type {number} */ rows) => drawCosts(table, rows, whole, view),
    weight: COST_WEIGHTS[index],
  }))
  if (view.by !== undefined && view.by !== 'thread') return tables
  const threads = {
    title: 'processes and threads (the denser the bar, the busier)',
    rows: countThreads(report),
    draw: (/** @type {number} */ rows) => drawThreads(report, rows, view),
    weight: THREADS_WEIGHT,
  }
  return [threads, ...tables]
}

/**
 * Divides the lines among the sections by weight. Lines that a section does not need go to the
 * others.
 * @param {Section[]} sections @param {View} view
 * @returns {number[]} rows of each section
 */
function chooseHeights(sections, { lines, top }) {
  if (top !== undefined) return sections.map(({ rows }) => Math.min(rows, top))
  const heights = sections.map(({ rows }) => Math.min(rows, MIN_ROWS))
  // Besides rows: the summary and the line about more threads; an empty line, the title and the
  // column heads of each section.
  let left = lines - 2 - 3 * sections.length - heights.reduce((sum, height) => sum + height, 0)
  while (left > 0) {
    const unfinished = sections.map((_, i) => i).filter((i) => heights[i] < sections[i].rows)
    if (unfinished.length === 0) break
    const next = unfinished.reduce((a, b) =>
      heights[b] / sections[b].weight < heights[a] / sections[a].weight ? b : a,
    )
    heights[next]++
    left--
  }
  return heights
}

/** @param {Report} report @param {View} view */
function summary(report, view) {
  const { busyMs, gcMs, programMs, idleMs } = report.totals
  const counts = formatCounts(report.processes.length, countThreads(report))
  const times = [
    `busy ${formatTime(busyMs)}`,
    `gc ${formatTime(gcMs)}`,
    `program ${formatTime(programMs)}`,
    `idle ${formatTime(idleMs)}`,
  ]
  const whole = formatTime(report.durationMs)
  const text = `${whole} · ${counts} · ${times.join(', ')}`
  return wrap(text, view.columns)
    .join('\n')
    .replace(whole, style(whole, 'bold', view))
}

/** Breaks a text at its dots. @param {string} text @param {number} columns @returns {string[]} */
function wrap(text, columns) {
  if (text.length <= columns) return [text]
  const at = text.lastIndexOf(' · ', columns)
  return at < 0 ? [text] : [text.slice(0, at), ...wrap(text.slice(at + 3), columns)]
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

/** @typedef {{ label: number, chart: number, times: string[] }} ThreadLayout widths, and the times shown */

/** @param {ThreadRow[]} rows @param {View} view @returns {ThreadLayout} */
function threadLayout(rows, { columns }) {
  const times = columns < 70 ? ['busy', 'gc', 'idle'] : ['busy', 'gc', 'program', 'idle']
  const room = columns - 3 - times.length * (TIME + 1)
  const widths = rows.map(({ label, end }) => displayWidth(printable(`${label}${end}`)) + 2)
  const label = Math.min(Math.max(...widths, 12), Math.max(12, Math.floor(room * 0.62)))
  const chart = Math.max(0, Math.min(60, room - label - 2))
  return { label, chart, times }
}

/** @param {number} wholeMs @param {ThreadLayout} layout @param {View} view */
function drawThreadHead(wholeMs, { label, chart, times }, view) {
  const whole = formatTime(wholeMs)
  const axis = chart < whole.length + 4 ? ''.padEnd(chart) : `0${whole.padStart(chart - 1)}`
  const heads = times.map((name) => name.padStart(TIME + 1)).join('')
  return style(`  ${''.padEnd(label)}  ${axis}${heads}`, 'dim', view)
}

/** @param {ThreadRow} row @param {number} wholeMs @param {ThreadLayout} layout @param {View} view */
function drawThread({ thread, label, end, isBelow }, wholeMs, layout, view) {
  const start = `${isBelow ? '  ' : ''}${printable(label)}`
  const tail = printable(end)
  const name = `${cutEnd(start, layout.label - displayWidth(tail))}${tail}`
  const shown = padEnd(cutStart(name, layout.label), layout.label)
  const bar = style(drawLifetime(thread, wholeMs, layout.chart), 'cyan', view)
  const times = layout.times.map((name) => /** @type {any} */ (thread)[`${name}Ms`])
  return `  ${shown}  ${bar}${times.map((ms) => formatTime(ms).padStart(TIME + 1)).join('')}`
}

/** Draws when a thread lived; a denser bar is a busier thread. @param {Thread} thread @param {number} wholeMs @param {number} width */
function drawLifetime(thread, wholeMs, width) {
  if (wholeMs <= 0 || width === 0) return ''.padEnd(width)
  const from = Math.min(width - 1, Math.floor((thread.startMs / wholeMs) * width))
  const to = Math.ceil(((thread.startMs + thread.durationMs) / wholeMs) * width)
  const length = Math.max(1, Math.min(width, to) - from)
  const active = activeMs(thread)
  const share = active / Math.max(active + thread.idleMs, 0.001)
  const shade = '░▒▓█'[Math.min(3, Math.floor(share * 4))]
  return `${''.padEnd(from)}${shade.repeat(length)}`.padEnd(width)
}

/**
 * @param {CostTable} table
 * @param {number} count of rows
 * @param {number} whole 100 % of the shares, ms
 * @param {View} view
 */
function drawCosts({ kind, time, costs }, count, whole, view) {
  const rows = costs.slice(0, count).map((cost) => {
    const [name, place] = nameOf(cost, kind, view.cwd).map(printable)
    return { cost, name, place }
  })
  const layout = costLayout(rows, { kind, time }, view)
  const most = rows[0]?.cost[time] ?? 1
  return [
    drawCostHead(layout, view),
    ...rows.map((row) => drawCost(row, { most, whole }, layout, view)),
  ]
}

/** @typedef {{ cost: import('./tables.js').Cost, name: string, place: string }} CostRow */
/**
 * @typedef {object} CostLayout
 * @property {import('./tables.js').Time} time the first time shown, which the share and the bar are of
 * @property {import('./tables.js').Kind} kind
 * @property {number} bar columns of the bar
 * @property {number} name columns of the name
 * @property {number} place columns of the place; 0 if no row has one
 */

/** @param {CostRow[]} rows @param {Pick<CostTable, 'kind' | 'time'>} table @param {View} view @returns {CostLayout} */
function costLayout(rows, { kind, time }, { columns }) {
  const bar = columns < 72 ? 0 : Math.min(20, 8 + Math.floor((columns - 72) / 4))
  const barWithGap = bar + (bar > 0 ? 1 : 0)
  const room = Math.max(20, columns - 4 - TIME - 1 - SHARE - 1 - barWithGap - TIME - 1)
  if (rows.every(({ place }) => place === '')) return { kind, time, bar, name: room, place: 0 }
  const longest = Math.max(...rows.map(({ name }) => displayWidth(name)), 1)
  const name = Math.min(longest, Math.floor(room * 0.45))
  return { kind, time, bar, name, place: room - name - 2 }
}

/** @param {CostLayout} layout @param {View} view */
function drawCostHead({ kind, time, bar }, view) {
  const [first, second] = [time === 'selfMs' ? 'self' : 'total', secondHead(kind, time)]
  const gap = ''.padEnd(SHARE + 2 + bar + (bar > 0 ? 1 : 0))
  return style(`  ${first.padStart(TIME)}${gap}${second.padStart(TIME)}`, 'dim', view)
}

/** @param {CostRow} row @param {{ most: number, whole: number }} scale @param {CostLayout} layout @param {View} view */
function drawCost({ cost, name, place }, { most, whole }, layout, view) {
  const { kind, time } = layout
  const left = `  ${formatTime(cost[time]).padStart(TIME)} ${formatShare(cost[time], whole).padStart(SHARE)} `
  const bar = style(drawBar(cost[time] / most, layout.bar), 'cyan', view)
  const right = `${layout.bar > 0 ? ' ' : ''}${secondOf(cost, kind, time).padStart(TIME)}  `
  if (layout.place === 0) return `${left}${bar}${right}${cutStart(name, layout.name)}`
  const shown = padEnd(cutEnd(name, layout.name), layout.name)
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
