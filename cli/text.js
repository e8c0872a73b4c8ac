'use strict'

// A report for a terminal.

const { formatTime, formatShare, formatCount, formatPath, formatPlace } = require('./format.js')
const { printable, cutEnd, cutStart } = require('./format.js')
const { activeMs, threadRows, hottest, countThreads } = require('./sections.js')

/** @typedef {import('../index.js').Report} Report */
/** @typedef {'function' | 'file' | 'package' | 'thread'} By */
/**
 * @typedef {object} View
 * @property {number} columns the width
 * @property {number} lines how many there may be, if `top` does not say otherwise
 * @property {boolean} colours
 * @property {string} cwd what paths are relative to
 * @property {By} [by] only this
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
    lines.push('', style(section.title, 'bold', view), ...section.draw(heights[index]))
  }
  return `${lines.join('\n')}\n`
}

/** @param {Report} report @param {View} view @returns {Section[]} */
function chooseSections(report, view) {
  const { by } = view
  const whole = activeMs(report.totals)
  /** @param {'functions' | 'files' | 'packages'} kind @param {'selfMs' | 'totalMs'} time */
  const costs = (kind, time) => {
    /** @type {any[]} */
    const all = report[kind]
    const name = { functions: 'functions', files: 'files', packages: 'packages' }[kind]
    const order = time === 'selfMs' ? 'self' : 'total'
    return {
      title:
        kind === 'packages' ? `packages, by ${order} time` : `hottest ${name}, by ${order} time`,
      rows: hottest(all, time, Infinity).length,
      draw: (/** @type {number} */ rows) =>
        drawCosts(hottest(all, time, rows), time, whole, (cost) => nameOf(cost, kind, view), view),
      weight: 1,
    }
  }
  const threads = {
    title: 'processes and threads (the denser their line, the busier)',
    rows: countThreads(report),
    draw: (/** @type {number} */ rows) => drawThreads(report, rows, view),
    weight: 1.3,
  }
  if (by === 'thread') return [threads]
  if (by !== undefined) {
    const kind = /** @type {'functions'} */ (`${by}s`)
    return [costs(kind, 'selfMs'), costs(kind, 'totalMs')]
  }
  return [
    threads,
    costs('functions', 'selfMs'),
    { ...costs('functions', 'totalMs'), weight: 0.7 },
    { ...costs('packages', 'selfMs'), weight: 0.7 },
  ]
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
  const counts = `${formatCount(report.processes.length, 'process', 'processes')}, ${formatCount(countThreads(report), 'thread')}`
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
  const { rows, rest, restMs } = threadRows(report, count)
  const names = view.columns < 70 ? ['busy', 'gc', 'idle'] : ['busy', 'gc', 'program', 'idle']
  const room = view.columns - 3 - names.length * (TIME + 1)
  const longest = Math.max(...rows.map(({ label }) => label.length), 12)
  const labelWidth = Math.min(longest, Math.max(12, Math.floor(room * 0.62)))
  const chart = Math.max(0, Math.min(60, room - labelWidth - 2))
  const end = formatTime(report.durationMs)
  const axis = chart < end.length + 4 ? ''.padEnd(chart) : `0${end.padStart(chart - 1)}`
  const head = `  ${''.padEnd(labelWidth)}  ${axis}${names.map((name) => name.padStart(TIME + 1)).join('')}`
  const lines = [style(head, 'dim', view)]
  for (const { thread, label, process } of rows) {
    const times = names.map((name) => /** @type {any} */ (thread)[`${name}Ms`])
    const text = times.map((ms) => formatTime(ms).padStart(TIME + 1)).join('')
    const bar = style(lifetime(thread, report.durationMs, chart), 'cyan', view)
    lines.push(`  ${cutLabel(printable(label), labelWidth, process.pid)}  ${bar}${text}`)
  }
  if (rest > 0) {
    const more = `  and ${formatCount(rest, 'more thread')}, ${formatTime(restMs)} not idle`
    lines.push(style(more, 'dim', view))
  }
  return lines
}

/** The pid stays: it is what tells processes of one program apart. @param {string} label @param {number} width @param {number} pid */
function cutLabel(label, width, pid) {
  const end = ` (${pid})`
  const cut = label.endsWith(end)
    ? `${cutEnd(label.slice(0, -end.length), width - end.length)}${end}`
    : cutEnd(label, width)
  return cut.padEnd(width)
}

/** From when to when a thread was there; the denser, the busier. @param {import('../index.js').ReportThread} thread @param {number} wholeMs @param {number} width */
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
 * @param {import('../index.js').ReportCost[]} costs
 * @param {'selfMs' | 'totalMs'} time
 * @param {number} whole
 * @param {(cost: any) => [string, string]} name name and place
 * @param {View} view
 */
function drawCosts(costs, time, whole, name, view) {
  const other = time === 'selfMs' ? 'totalMs' : 'selfMs'
  const barWidth = view.columns < 72 ? 0 : Math.min(20, 8 + Math.floor((view.columns - 72) / 4))
  const bar = barWidth + (barWidth > 0 ? 1 : 0)
  const room = Math.max(20, view.columns - 4 - TIME - 1 - SHARE - 1 - bar - TIME - 1)
  const named = costs.map((cost) => name(cost).map(printable))
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

/** @param {any} cost @param {'functions' | 'files' | 'packages'} kind @param {View} view @returns {[string, string]} */
function nameOf(cost, kind, { cwd }) {
  if (kind === 'functions') return [cost.name, formatPlace(cost, cwd)]
  if (kind === 'files') return [cost.file === '' ? '(native)' : formatPath(cost.file, cwd), '']
  return [cost.name, '']
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
