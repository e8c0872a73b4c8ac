'use strict'

// Renders the tree of modules by the time of loading them.

const { formatTime, formatShare, formatPath, printable } = require('../terminal/format.js')
const { heaviest } = require('./paths.js')
const { TIME, SHARE, cutLines, cutStart } = require('../terminal/width.js')

/** @typedef {import('../../index.js').ReportImport} Import */
/** @typedef {{ node: Import, level: number }} Row */

/** Levels that are set in; what is deeper stands below the last. */
const MAX_LEVEL = 12

/** @param {import('../../index.js').Report} report @param {import('./paths.js').View} view */
function renderImports({ imports = [] }, { columns, rows: count, cwd }) {
  const whole = imports.reduce((sum, { totalMs }) => sum + totalMs, 0)
  if (whole === 0) return 'no module was loaded while samples were taken\n'
  const all = unfold(imports, 0)
  const rows = heaviest(all, count)
  const lines = [
    `modules by load time, with what they load (% of ${formatTime(whole)})`,
    `  ${['total', '', 'load', 'run'].map((head, index) => head.padStart(index === 1 ? SHARE : TIME)).join(' ')}`,
  ]
  for (const { node, level } of rows) {
    const { totalMs, loadMs, runMs } = node
    const share = formatShare(totalMs, whole).padStart(SHARE)
    const [total, load, run] = [totalMs, loadMs, runMs].map((ms) => formatTime(ms).padStart(TIME))
    const start = `  ${total} ${share} ${load} ${run}  ${''.padEnd(2 * Math.min(level, MAX_LEVEL))}`
    lines.push(`${start}${cutStart(nameOf(node, cwd), Math.max(columns - start.length, 8))}`)
  }
  if (rows.length < all.length) lines.push(`  and ${all.length - rows.length} more`)
  return cutLines(lines, columns)
}

/** Lists the modules in the order of the tree. @param {Import[]} nodes @param {number} level @returns {Row[]} */
function unfold(nodes, level) {
  return nodes.flatMap((node) => [{ node, level }, ...unfold(node.children, level + 1)])
}

/** @param {Import} node @param {string} cwd */
function nameOf({ file }, cwd) {
  return file === '' ? '(loader of ES modules)' : printable(formatPath(file, cwd))
}

module.exports = { renderImports }
