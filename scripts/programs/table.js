'use strict'

// Prints the comparisons as a table.

const HEAD = [
  'program',
  'version',
  'processes in the trace / seen',
  'same output',
  'same exit',
  'starts without → with',
  'same project',
  'remark',
]

/** @param {import('./compare.js').Row} row */
function cells(row) {
  return [
    row.name,
    row.version,
    `${row.recorded} / ${row.seen}`,
    yes(row.sameOutput),
    yes(row.sameExit),
    row.starts ?? '',
    yes(row.clean),
    row.remark ?? '',
  ]
}

/** @param {boolean} value */
const yes = (value) => (value ? 'yes' : '**no**')

/** @param {import('./compare.js').Row[]} rows @param {boolean} isMarkdown */
function formatTable(rows, isMarkdown) {
  const all = [HEAD, ...rows.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column])))
  if (!isMarkdown) return lines.map((row) => row.join('  ').trimEnd()).join('\n')
  lines.splice(
    1,
    0,
    widths.map((width) => '-'.repeat(width)),
  )
  return lines.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

module.exports = { formatTable }
