'use strict'

// Renders a comparison of runs of a lake: as text and Markdown as other comparisons, and as a page.

const { renderMarkdown } = require('@org/cpu-prof/own-packages').compareMarkdown
const rows = require('@org/cpu-prof/own-packages').compareRows
const { renderText } = require('@org/cpu-prof/own-packages').compareText
const { formatCount, formatShare, formatTime } = require('@org/cpu-prof/own-packages').format
const { htmlPage, htmlTable, named } = require('./page.js')
const { drawColumns } = require('./svg.js')

/** @typedef {import('../compare.js').Answer} Answer */
/** @typedef {import('@org/cpu-prof').ComparedRow} Row */

/** The first line of Markdown, by which a bot finds its own comment again. */
const MARK = '<!-- cpu-prof lake compare -->'
/** Changes that have a chart. */
const CHARTS = 6
const HEADS = ['base', 'head', 'difference', '', 'noise']

/** @param {Answer} answer @param {import('../ask.js').Screen} screen @param {number} [top] */
function text({ comparison, names }, { columns }, top) {
  return renderText(comparison, { columns, top, names })
}

/** @param {Answer} answer @param {number} [top] */
const markdown = ({ comparison }, top) => renderMarkdown(comparison, { top, mark: MARK })

/** @param {Answer} answer @param {number} [top] */
function html({ comparison, names, values }, top = rows.ROWS) {
  const { base, head, rules } = comparison
  const tables = rows.tablesOf(comparison)
  const changes = tables.filter(({ isWhole }) => !isWhole).flatMap((table) => table.rows)
  const tested = (/** @type {Row} */ row) => values.get(row) ?? { base: [], head: [] }
  return htmlPage({
    title: rows.verdict(comparison),
    lines: [
      `base: ${names[0]}, ${formatCount(base.runs, 'run')}`,
      `head: ${names[1]}, ${formatCount(head.runs, 'run')}`,
      rows.noiseOf(comparison),
      ...rules.map(({ rule, broken }) => `${broken ? 'broken' : 'kept'}: ${rule}`),
      ...comparison.notes,
    ],
    sections: [
      ...tables.map(({ title, rows: all, isWhole }) => {
        const shown = isWhole ? all : all.slice(0, top)
        const more = all.length > shown.length ? `, ${shown.length} of ${all.length}` : ''
        return { title: `${title}${more}`, content: htmlTable([''], HEADS, shown.map(cellsOf)) }
      }),
      ...changes.slice(0, CHARTS).map((row) => ({
        title: `${row.kind} ${rows.cellsOf(row).name}, ${row.measure}: each run`,
        content: chartOf(row, tested(row), names),
      })),
    ],
  })
}

/** @param {Row} row */
function cellsOf(row) {
  const { name, place, base, head, difference, relative, noise } = rows.cellsOf(row)
  const how = !row.changed ? '' : row.difference > 0 ? 'slower' : 'faster'
  const changed = { html: `<span class="${how}">${row.changed ? difference : '~'}</span>` }
  return [named(name, place), base, head, changed, relative, noise]
}

/** Draws the values of both sides. @param {Row} row @param {{ base: number[], head: number[] }} values @param {[string, string]} names */
function chartOf(row, values, names) {
  const format = (/** @type {number} */ value) =>
    row.unit === 'share' ? formatShare(value, 1) : formatTime(value)
  const columns = [values.base, values.head].map((side, at) => {
    const sorted = [...side].sort((a, b) => a - b)
    const [p25, median, p75] = [0.25, 0.5, 0.75].map((part) => quantile(sorted, part))
    return {
      label: `${['base', 'head'][at]}: ${names[at]}`,
      title: `median ${format(median)} of ${side.length} runs`,
      runs: side.map((value) => ({ value, title: format(value) })),
      isOther: at === 1,
      p25,
      median,
      p75,
    }
  })
  return drawColumns(columns, format, { isLine: false, height: 200 })
}

/** Returns a quantile, with linear interpolation. @param {number[]} sorted @param {number} part */
function quantile(sorted, part) {
  const at = part * Math.max(0, sorted.length - 1)
  const [below = 0, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at % 1)
}

module.exports = { text, markdown, html }
