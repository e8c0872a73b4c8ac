'use strict'

// Renders a comparison as text for a terminal.

const { formatCount, printable } = require('../terminal/format.js')
const { cutEnd, cutStart, padEnd } = require('../terminal/width.js')
const rows = require('./rows.js')

/** @typedef {import('../../index.js').Comparison} Comparison */
/** @typedef {import('../../index.js').ComparedRow} Row */
/** @typedef {{ columns: number, top?: number, names: [string, string] }} View names of base and head */

/** Columns of a value, of a difference with its sign, of a percentage, and of a name. */
const VALUE = 9
const DIFFERENCE = 10
const RELATIVE = 8
const NAME = 22

/** @param {Comparison} comparison @param {View} view */
function renderText(comparison, view) {
  const { base, head } = comparison
  const [baseName, headName] = view.names
  const lines = [
    `base  ${formatCount(base.runs, 'run')}  ${baseName}`,
    `head  ${formatCount(head.runs, 'run')}  ${headName}`,
    '',
    rows.verdict(comparison),
    rows.noiseOf(comparison),
  ]
  for (const { title, rows: all, isWhole } of rows.tablesOf(comparison)) {
    const shown = isWhole ? all : all.slice(0, view.top ?? rows.ROWS)
    const heads = [
      'base'.padStart(VALUE),
      'head'.padStart(VALUE),
      'difference'.padStart(DIFFERENCE),
    ]
    lines.push('', title, `  ${heads.join(' ')}`, ...shown.map((row) => drawRow(row, view)))
    if (all.length > shown.length) lines.push(`  and ${all.length - shown.length} more (--top)`)
  }
  for (const { rule, broken, row } of comparison.rules) {
    lines.push('', broken ? `broken: ${rule}` : `kept: ${rule}`)
    if (row) lines.push(drawRow(row, view))
  }
  return `${lines.map((line) => cutEnd(printable(line), view.columns)).join('\n')}\n`
}

/** @param {Row} row @param {View} view */
function drawRow(row, { columns }) {
  const { name, place, caller, former, ...cells } = rows.cellsOf(row)
  const numbers = [
    cells.base.padStart(VALUE),
    cells.head.padStart(VALUE),
    cells.difference.padStart(DIFFERENCE),
    cells.noise.padEnd(VALUE),
    (cells.relative || '~').padStart(RELATIVE),
  ]
  const start = `  ${numbers.join(' ')}  `
  const tail = [place, former && `was ${former}`, caller && `in ${caller}`]
    .filter((text) => text !== '')
    .join('  ')
  const width = columns - start.length
  if (tail === '') return `${start}${cutEnd(name, width)}`
  const shown = padEnd(cutEnd(name, NAME), NAME)
  return `${start}${shown}  ${cutStart(tail, Math.max(8, width - NAME - 2))}`
}

module.exports = { renderText }
