'use strict'

// Renders how a cost changed: as text with a chart, as Markdown, and as a page.

const { formatShare, formatTime, printable } = require('@org/cpu-prof/own-packages').format
const { codeCell, codeSpan, heading, plainText, table } =
  require('@org/cpu-prof/own-packages').markdownText
const { TIME, cutEnd, cutLines, padEnd, wrapWords } = require('@org/cpu-prof/own-packages').width
const { htmlPage, htmlTable, named } = require('./page.js')
const { drawColumns } = require('./svg.js')

/** @typedef {import('../trend.js').Answer} Answer */
/** @typedef {import('../trend.js').Point} Point */

const HEADS = ['median', 'p25', 'p75', 'p95', 'runs', 'with']
const AT = 12
const BAR = 30
const BLOCKS = ' ▏▎▍▌▋▊▉█'
const MEANING = 'medians and spread are over runs, not over calls'

/** @param {Answer} answer @returns {(value: number) => string} */
const formatOf = ({ unit }) => (unit === 'ms' ? formatTime : (value) => formatShare(value, 1))

/** @param {Answer} answer @param {(name: string) => string} quote */
function titleOf(answer, quote) {
  const { kind, name, place, measure, unit, by } = answer
  const what = kind === 'run' ? 'work' : `${kind} ${quote(name)}${place && ` (${quote(place)})`}`
  const value =
    kind === 'run' ? '' : `: ${measure} time${unit === 'share' ? ' as a share of the work' : ''}`
  return `${what}${value}, by ${by}`
}

/** @param {Point} point */
const labelOf = ({ at }) => at ?? '(no commit)'

/** Returns what stands for a commit or a day where there is little room. @param {Point} point */
const shortLabel = (point) => Array.from(labelOf(point)).slice(0, AT).join('')

/** @param {Answer} answer @param {Point} point */
function cellsOf(answer, { median, p25, p75, p95, runs, runsWith }) {
  return [...[median, p25, p75, p95].map(formatOf(answer)), String(runs), String(runsWith)]
}

/** Draws a bar: blocks on a terminal, else plain characters. @param {number} part @param {boolean} isPlain */
function bar(part, isPlain) {
  const eighths = Math.round(part * BAR * 8)
  if (isPlain) return '#'.repeat(Math.round(part * BAR))
  const rest = eighths % 8
  return `${'█'.repeat(Math.floor(eighths / 8))}${rest === 0 ? '' : BLOCKS[rest]}`
}

/** @param {Answer} answer @param {import('../ask.js').Screen} screen */
function text(answer, { columns, rows: height }) {
  const most = Math.max(0, ...answer.points.map(({ median }) => median)) || 1
  const draw = (/** @type {string[]} */ cells) => cells.map((cell) => cell.padStart(TIME)).join(' ')
  const rows = answer.points.map((point) => {
    const at = padEnd(cutEnd(printable(shortLabel(point)), AT), AT)
    const drawn = bar(point.median / most, height === undefined)
    return `  ${at} ${draw(cellsOf(answer, point))}  ${drawn}`
  })
  const head = `  ${''.padEnd(AT)} ${draw(HEADS)}`
  const title = titleOf(answer, printable)
  const sentences = [title, `(${MEANING})`, ...answer.notes.map(printable)]
  const lines = sentences.flatMap((line) => wrapWords(line, columns))
  return cutLines([...lines, '', head, ...rows], columns)
}

/** @param {Answer} answer */
function markdown(answer) {
  const rows = answer.points.map((point) => [codeCell(labelOf(point)), ...cellsOf(answer, point)])
  const blocks = [
    heading(titleOf(answer, codeSpan)),
    MEANING,
    ...answer.notes.map(plainText),
    table([answer.by], HEADS, rows),
  ]
  return `${blocks.join('\n\n')}\n`
}

/** @param {Answer} answer */
function html(answer) {
  const format = formatOf(answer)
  /** @type {Map<string | null, import('./svg.js').Column['runs']>} */
  const runs = new Map()
  for (const { at, value, start, host } of answer.values ?? []) {
    const of = runs.get(at) ?? []
    of.push({ value, title: `${format(value)} · ${start} · ${host}` })
    runs.set(at, of)
  }
  const columns = answer.points.map((point) => {
    const { at, p25, median, p75 } = point
    const label = shortLabel(point)
    const title = `${labelOf(point)}: median ${format(median)} of ${point.runs} runs`
    return { label, title, p25, median, p75, runs: runs.get(at) ?? [] }
  })
  const rows = answer.points.map((point) => [named(labelOf(point)), ...cellsOf(answer, point)])
  const chart = drawColumns(columns, format, { isLine: true })
  return htmlPage({
    title: titleOf(answer, (name) => name),
    lines: [MEANING, ...answer.notes],
    sections: [
      { title: 'each run, medians, and the middle half of the runs', content: chart },
      { title: `by ${answer.by}`, content: htmlTable([answer.by], HEADS, rows) },
    ],
  })
}

module.exports = { text, markdown, html }
