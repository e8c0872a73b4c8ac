'use strict'

// Renders a report as Markdown tables, for example for a pull request.

const {
  formatTime,
  formatShare,
  formatCount,
  formatCounts,
  openingOf,
} = require('../terminal/format.js')
const { codeCell, codeSpan, heading, plainText, table } = require('../terminal/markdown-text.js')
const { inFlightTexts } = require('./labels.js')
const { statesOf, chainText, withoutLaunchers } = require('./summary.js')
const { activeMs, threadRows, costTables, countThreads } = require('./tables.js')

/** @typedef {import('../../index.js').Report} Report */

/**
 * @param {Report} report
 * @param {{ cwd: string, by?: import('./tables.js').By, top?: number }} view
 */
function renderMarkdown(report, { cwd, by, top = 10 }) {
  const blocks = [summary(report)]
  if (by === undefined || by === 'thread') blocks.push(...threads(report, top, cwd))
  for (const { title, names, heads, whole, rows } of costTables(report, by, cwd)) {
    const lines = rows.slice(0, top).map(({ name, place, ms, others }) => {
      const what = [name, place].slice(0, names.length).map(codeCell)
      return [...what, formatTime(ms), ...others, formatShare(ms, whole.ms)]
    })
    blocks.push(heading(title), table(names, [...heads, `share of ${whole.name}`], lines))
  }
  if (report.notes.length > 0)
    blocks.push(report.notes.map((note) => `- ${codeSpan(note)}`).join('\n'))
  return `${blocks.join('\n\n')}\n`
}

/** @param {Report} report */
function summary(report) {
  const counts = formatCounts(report.processes.length, countThreads(report))
  const without = withoutLaunchers(report)
  const end = without === undefined ? '' : `; ${plainText(without)}`
  const times = `**${formatTime(report.durationMs)}**, ${counts}: ${statesOf(report.totals).join(', ')}${end}`
  const chain = chainText(report.chain)
  const opening = openingOf(report)
  return [
    ...(opening === '' ? [] : [plainText(opening)]),
    times,
    ...(chain === undefined ? [] : [`The end waited for: ${plainText(chain)}`]),
    ...inFlightTexts(report).map(plainText),
  ].join('\n\n')
}

/** @param {Report} report @param {number} top @param {string} cwd */
function threads(report, top, cwd) {
  const { rows, rest, restMs } = threadRows(report, top, cwd)
  const lines = rows.map(({ thread, label, place, end, isBelow }) => [
    `${isBelow ? '&nbsp;&nbsp;' : ''}${codeCell(`${label}${place}${end}`)}`,
    ...[thread.startMs, thread.durationMs, activeMs(thread)].map(formatTime),
    ...[thread.gcMs, thread.waitingMs, thread.blockedMs, thread.idleMs].map((ms) =>
      ms === undefined ? '' : formatTime(ms),
    ),
  ])
  const names = ['start', 'duration', 'busy', 'gc', 'waiting', 'blocked', 'idle']
  const more = `and ${formatCount(rest, 'more thread')}, ${formatTime(restMs)} not idle`
  return [
    heading('processes and threads'),
    table(['process, thread'], names, lines),
    ...(rest > 0 ? [more] : []),
  ]
}

module.exports = { renderMarkdown }
