'use strict'

// Renders a comparison as Markdown, for a comment on a pull request.

const { formatCount } = require('../terminal/format.js')
const { codeCell, codeSpan, heading, table } = require('../terminal/markdown-text.js')
const rows = require('./rows.js')

/** @typedef {import('../../index.js').Comparison} Comparison */
/** @typedef {import('../../index.js').ComparedRow} Row */

/** The first line, by which a bot finds its own comment again. */
const MARK = '<!-- cpu-prof compare -->'

/** @param {Comparison} comparison @param {{ top?: number, mark?: string }} view */
function renderMarkdown(comparison, { top = rows.ROWS, mark = MARK }) {
  const { base, head, rules } = comparison
  const runs = `${formatCount(base.runs, 'run')} of the base, ${formatCount(head.runs, 'run')} of the head`
  const blocks = [
    mark,
    `**CPU profile: ${rows.verdict(comparison, codeSpan)}**`,
    `${runs}; ${rows.noiseOf(comparison)}`,
  ]
  const broken = rules.filter((rule) => rule.broken)
  if (broken.length > 0) blocks.push(broken.map(({ rule }) => `- ❌ ${codeSpan(rule)}`).join('\n'))
  const tables = rows.tablesOf(comparison)
  const changes = tables.filter(({ isWhole }) => !isWhole)
  const whole = tables.find(({ isWhole }) => isWhole)
  for (const { title, rows: all } of changes) {
    const shown = all.slice(0, top)
    const more = all.length > shown.length ? [`and ${all.length - shown.length} more`] : []
    blocks.push(heading(title), draw(shown), ...more)
  }
  if (whole !== undefined) {
    blocks.push(`<details><summary>The whole run</summary>`, draw(whole.rows), '</details>')
  }
  return `${blocks.join('\n\n')}\n`
}

/** @param {Row[]} list */
function draw(list) {
  const lines = list.map((row) => {
    const { name, place, caller, former, ...cells } = rows.cellsOf(row)
    const tail = [
      place && ` ${codeCell(place)}`,
      caller && ` in ${codeCell(caller)}`,
      former && ` (was ${codeCell(former)})`,
    ]
    return [
      `${row.kind === 'total' ? name : codeCell(name)}${tail.join('')}`,
      cells.base,
      cells.head,
      row.changed ? `**${cells.difference}**` : '~',
      cells.relative,
      cells.noise,
    ]
  })
  return table([''], ['base', 'head', 'difference', '', 'noise'], lines)
}

module.exports = { renderMarkdown }
