'use strict'

// Renders a report as text for a terminal.

const {
  formatTime,
  formatShare,
  formatCount,
  formatCounts,
  printable,
  cutEnd,
  cutStart,
} = require('../terminal/format.js')
const { activeMs, threadRows, costTables, nameOf, countThreads } = require('./tables.js')

/** @typedef {import('../../index.js').Report} Report */
/**
 * @typedef {object} View
 * @property {number} columns the width
 * @property {number} lines how many there may be, if `top` does not say otherwise
 * @property {boolean} colours
 * @property {string} cwd what paths are relative to
 * @property {import('./tables.js').By} [by] only this
 * @property {number} [top] rows of a table
 */
/** @typedef {{ title: string, rows: number, draw: (rows: number) => string[], weight: number }} Section */

/** @param {Report} report @param {View} view */
function renderText(report, view) {
  const sections = chooseSections(report, view)
  const heights = share(sections, view)
  const lines = [summary(report, view)]
  for (const [index, section] of sections.entries()) {
    if (heights[index] === 0) continue
    const title = style(cutEnd(section.title, view.columns), 'bold', view)
    lines.push('', title, ...section.draw(heights[index]))
  }
  return `${lines.join('\n')}\n`
}

/** Of what stands first there is more to be seen. */
const WEIGHTS = [1, 0.7, 0.7]

/** @param {Report} report @param {View} view @returns {Section[]} */
function chooseSections(report, view) {
  const whole = activeMs(report.totals)
  const tables = costTables(report, view.by).map((table, index) => ({
    title: table.title,
    rows: table.costs.length,
    draw: (/** @type {number} */ rows) => drawCosts(table, rows, whole, view),
    weight: WEIGHTS[index],
  }))
  if (view.by !== undefined && view.by !== 'thread') return tables
  const threads = {
    title: 'processes and threads (the denser their line, the busier)',
    rows: countThreads(report),
    draw: (/** @type {number} */ rows) => drawThreads(report, rows, view),
    weight: 1.3,
  }
  return [threads, ...tables]
}

/**
 * How many rows each section gets of the lines there are: by its weight; what one does not need
 * goes to the others.
 * @param {Section[]} sections @param {View} view
 */
function share(sections, { lines, top }) {
  if (top !== undefined) return sections.map(({ rows }) => Math.min(rows, top))
  const SMALLEST = 3
  const heights = sections.map(({ rows }) => Math.min(rows, SMALLEST))
  // The summary; a section's empty line, title and column names; what is left out of the threads.
  let left = lines - 2 - 3 * sections.length - heights.reduce((sum, height) => sum + height, 0)
  while (left > 0) {
    const needy = sections.map((_, i) => i).filter((i) => heights[i] < sections[i].rows)
    if (needy.length === 0) break
    const next = needy.reduce((a, b) =>
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

const TIME = 8
const SHARE = 6

/** @param {Report} report @param {number} count @param {View} view */
function drawThreads(report, count, view) {
  const { rows, rest, restMs } = threadRows(report, count, view.cwd)
  const names = view.columns < 70 ? ['busy', 'gc', 'idle'] : ['busy', 'gc', 'program', 'idle']
  const room = view.columns - 3 - names.length * (TIME + 1)
  const longest = Math.max(...rows.map(({ label, end }) => label.length + end.length + 2), 12)
  const labelWidth = Math.min(longest, Math.max(12, Math.floor(room * 0.62)))
  const chart = Math.max(0, Math.min(60, room - labelWidth - 2))
  const whole = formatTime(report.durationMs)
  const axis = chart < whole.length + 4 ? ''.padEnd(chart) : `0${whole.padStart(chart - 1)}`
  const head = `  ${''.padEnd(labelWidth)}  ${axis}${names.map((name) => name.padStart(TIME + 1)).join('')}`
  const lines = [style(head, 'dim', view)]
  for (const { thread, label, end, isBelow } of rows) {
    const times = names.map((name) => /** @type {any} */ (thread)[`${name}Ms`])
    const text = times.map((ms) => formatTime(ms).padStart(TIME + 1)).join('')
    const bar = style(lifetime(thread, report.durationMs, chart), 'cyan', view)
    const start = `${isBelow ? '  ' : ''}${printable(label)}`
    const name = `${cutEnd(start, labelWidth - end.length)}${printable(end)}`
    lines.push(`  ${cutStart(name, labelWidth).padEnd(labelWidth)}  ${bar}${text}`)
  }
  if (rest > 0) {
    const more = `  and ${formatCount(rest, 'more thread')}, ${formatTime(restMs)} not idle`
    lines.push(style(more, 'dim', view))
  }
  return lines
}

/** From when to when a thread was there; the denser, the busier. @param {import('../../index.js').ReportThread} thread @param {number} wholeMs @param {number} width */
function lifetime(thread, wholeMs, width) {
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
 * @param {import('./tables.js').CostTable} table
 * @param {number} rows
 * @param {number} whole what the shares are of, ms
 * @param {View} view
 */
function drawCosts({ kind, time, ...table }, rows, whole, view) {
  const costs = table.costs.slice(0, rows)
  const other = time === 'selfMs' ? 'totalMs' : 'selfMs'
  const barWidth = view.columns < 72 ? 0 : Math.min(20, 8 + Math.floor((view.columns - 72) / 4))
  const bar = barWidth + (barWidth > 0 ? 1 : 0)
  const room = Math.max(20, view.columns - 4 - TIME - 1 - SHARE - 1 - bar - TIME - 1)
  const named = costs.map((cost) => nameOf(cost, kind, view.cwd).map(printable))
  const hasPlace = named.some(([, place]) => place !== '')
  const longest = Math.max(...named.map(([name]) => name.length), 1)
  const nameWidth = hasPlace ? Math.min(longest, Math.floor(room * 0.45)) : room
  const most = costs[0]?.[time] ?? 1
  const order = time === 'selfMs' ? ['self', 'total'] : ['total', 'self']
  const head = `  ${order[0].padStart(TIME)}${''.padEnd(SHARE + 2 + bar)}${order[1].padStart(TIME)}`
  const lines = [style(head, 'dim', view)]
  for (const [index, cost] of costs.entries()) {
    const [name, place] = named[index]
    const left = `  ${formatTime(cost[time]).padStart(TIME)} ${formatShare(cost[time], whole).padStart(SHARE)} `
    const drawn = style(drawBar(cost[time] / most, barWidth), 'cyan', view)
    const right = `${formatTime(cost[other]).padStart(TIME)}  `
    const what = hasPlace ? cutEnd(name, nameWidth).padEnd(nameWidth) : cutStart(name, room)
    const where = hasPlace ? `  ${style(cutStart(place, room - nameWidth - 2), 'dim', view)}` : ''
    lines.push(`${left}${drawn}${barWidth > 0 ? ' ' : ''}${right}${what}${where}`)
  }
  return lines
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
