'use strict'

// Renders what costs most over many runs: as text, Markdown and a page.

const { formatCount, formatShare, formatTime, printable } =
  require('@org/cpu-prof/own-packages').format
const { codeCell, heading, plainText, table } = require('@org/cpu-prof/own-packages').markdownText
const { SHARE, TIME, cutEnd, cutLines, cutStart, padEnd, wrapWords } =
  require('@org/cpu-prof/own-packages').width
const { htmlPage, htmlTable, named } = require('./page.js')

/** @typedef {import('../top.js').Answer} Answer */
/** @typedef {import('../top.js').Cost} Cost */

const NAME = 28
const HEADS = ['self', 'share', 'total', 'mean', 'median', 'p95', 'runs']
const WIDTHS = [TIME, SHARE, TIME, TIME, TIME, TIME, 6]
const MEANING =
  'mean, median and p95 are over runs, not over calls; a run without a sample counts as 0'

/** @param {Answer} answer */
function titleOf({ by, runs, busyMs, first, last }) {
  const days = [first, last].map((time) => (time ?? '').slice(0, 10))
  const when = first === null ? '' : `, ${days[0] === days[1] ? days[0] : days.join(' to ')}`
  return `cost by ${by} of ${formatCount(runs, 'run')}${when}, ${formatTime(busyMs)} of work`
}

/** @param {Cost} cost */
function cellsOf({ selfMs, share, totalMs, meanMs, medianMs, p95Ms, runs }) {
  return [
    formatTime(selfMs),
    formatShare(share, 1),
    totalMs === undefined ? '' : formatTime(totalMs),
    ...[meanMs, medianMs, p95Ms].map(formatTime),
    String(runs),
  ]
}

/** @param {Answer} answer @param {import('../ask.js').Screen} screen */
function text(answer, { columns }) {
  const draw = (/** @type {string[]} */ cells) =>
    cells.map((cell, at) => cell.padStart(WIDTHS[at])).join(' ')
  const rows = answer.rows.map((row) => {
    const start = `  ${draw(cellsOf(row))}  `
    const [name, place] = [row.name, row.place].map(printable)
    const room = columns - start.length
    if (place === '') return `${start}${cutEnd(name, room)}`
    const tail = cutStart(place, Math.max(8, room - NAME - 2))
    return `${start}${padEnd(cutEnd(name, NAME), NAME)}  ${tail}`
  })
  const sentences = [titleOf(answer), `(${MEANING})`, ...answer.notes].map(printable)
  const lines = sentences.flatMap((line) => wrapWords(line, columns))
  return cutLines([...lines, '', `  ${draw(HEADS)}`, ...rows], columns)
}

/** @param {Answer} answer */
function markdown(answer) {
  const rows = answer.rows.map((row) => {
    const place = row.place === '' ? '' : ` ${codeCell(row.place)}`
    return [`${codeCell(row.name)}${place}`, ...cellsOf(row)]
  })
  const blocks = [
    heading(plainText(titleOf(answer))),
    MEANING,
    ...answer.notes.map(plainText),
    table([''], HEADS, rows),
  ]
  return `${blocks.join('\n\n')}\n`
}

/** @param {Answer} answer */
function html(answer) {
  const rows = answer.rows.map((row) => [named(row.name, row.place), ...cellsOf(row)])
  return htmlPage({
    title: titleOf(answer),
    lines: [MEANING, ...answer.notes],
    sections: [{ title: `by ${answer.by}`, content: htmlTable([answer.by], HEADS, rows) }],
  })
}

module.exports = { text, markdown, html }
