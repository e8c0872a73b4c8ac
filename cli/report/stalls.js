'use strict'

// Renders the longest times without a turn of the event loop.

const { formatPlace, formatShare, formatTime, printable } = require('../terminal/format.js')
const { BUILT_IN } = require('./tables.js')
const { TIME, cutLines } = require('../terminal/width.js')

/** @typedef {import('../../index.js').ReportStall} Stall */
/** @typedef {import('../../index.js').ReportPlace} Place */

/** @param {import('../../index.js').Report} report @param {import('./paths.js').View} view */
function renderStalls({ stalls = [], processes }, { columns, rows, cwd }) {
  if (stalls.length === 0) return 'every thread came back to its event loop in less than that\n'
  const lines = [
    'longest times without a turn of the event loop',
    `  ${'at'.padStart(TIME)} ${'for'.padStart(TIME)}`,
  ]
  const hasSeveral = processes.length > 1 || processes.some(({ threads }) => threads.length > 1)
  for (const stall of stalls.slice(0, Math.max(1, Math.floor(rows / 2)))) {
    const [at, length] = [stall.startMs, stall.durationMs].map((ms) =>
      formatTime(ms).padStart(TIME),
    )
    const who = hasSeveral
      ? `  in ${printable(`${stall.process} (${stall.pid}) ${stall.thread}`)}`
      : ''
    lines.push(`  ${at} ${length}  ${culprit(stall, cwd)}${who}`)
    const others = details(stall, cwd)
    if (others !== '') lines.push(`  ${''.padStart(2 * TIME + 3)}${others}`)
  }
  return cutLines(lines, columns)
}

/** Returns the functions for most of the time, without Node's own, unless all are. @param {Stall} stall */
function codeOf({ stack }) {
  const code = stack.filter(({ package: name }) => !BUILT_IN.has(name))
  return code.length > 0 ? code : stack
}

/** Names the last function that was on the stack for most of the time. @param {Stall} stall @param {string} cwd */
function culprit(stall, cwd) {
  const last = codeOf(stall).at(-1)
  if (last === undefined) return 'several functions, none for most of the time'
  return `${formatShare(last.totalMs, stall.durationMs)}  ${nameAndPlace(last, cwd)}`
}

/** Tells who called, and what else took the time. @param {Stall} stall @param {string} cwd */
function details(stall, cwd) {
  const { gcMs, blockedMs, durationMs, first } = stall
  const caller = codeOf(stall).at(-2)
  const isNotable = (/** @type {number} */ ms) => ms > 0.05 * durationMs
  return [
    ...(caller === undefined ? [] : [`called by ${nameAndPlace(caller, cwd)}`]),
    ...(isNotable(gcMs) ? [`collections ${formatTime(gcMs)}`] : []),
    ...(isNotable(blockedMs) ? [`blocked ${formatTime(blockedMs)}`] : []),
    ...(first ? ['from the start'] : []),
  ].join(', ')
}

/** @param {Place} place @param {string} cwd */
function nameAndPlace(place, cwd) {
  return printable(`${place.name} ${formatPlace(place, cwd)}`)
}

module.exports = { renderStalls }
