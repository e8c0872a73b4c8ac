'use strict'

// Formats numbers with their units.

/** Part of a time from which on idle time is told, and the least such time. */
const MUCH_IDLE = 0.02
const LEAST_IDLE_MS = 50

/** Returns a time in at most eight columns. @param {number} ms */
function formatTime(ms) {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`
  if (ms < 999.5) return `${ms.toFixed(0)} ms`
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const twoDigits = (/** @type {number} */ number) => String(number).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h ${twoDigits(Math.floor(seconds / 60) % 60)}m`
}

/** @param {number} bytes */
function formatBytes(bytes) {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

/** @param {number} part @param {number} whole */
function formatShare(part, whole) {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : ''
}

/** Returns a count with its noun. @param {number} count @param {string} one @param {string} [many] */
function formatCount(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`
}

/** @param {number} processes @param {number} threads */
function formatCounts(processes, threads) {
  return `${formatCount(processes, 'process', 'processes')}, ${formatCount(threads, 'thread')}`
}

/**
 * Returns the texts of what the end of a run waited for: name, time, and its idle time; none for one process
 * without a phase, which says nothing.
 * @param {import('../../index.js').ReportChainPart[]} chain
 */
function chainParts(chain) {
  if (chain.length < 2 && chain[0]?.phase === undefined) return []
  return chain.map(({ label = 'idle', phase, ms, idleMs, processes }) => {
    const isIdle = label !== 'idle' && idleMs > MUCH_IDLE * ms && idleMs > LEAST_IDLE_MS
    const name = phase === undefined ? label : `${label} · ${phase}`
    return {
      name: processes > 1 ? `${name} × ${processes}` : name,
      time: formatTime(ms),
      idle: isIdle ? `(${formatTime(idleMs)} idle)` : '',
    }
  })
}

/**
 * Returns the first words of a result: why the recording exists, and why the run took that long. Empty
 * where neither is known.
 * @param {{ conditions?: import('../../index.js').ReportCondition[], sentence?: string }} result
 */
function openingOf({ conditions = [], sentence }) {
  const [first, ...others] = conditions
  const more = formatCount(others.length, 'more condition was', 'more conditions were')
  return [
    ...(first === undefined ? [] : [first.sentence]),
    ...(others.length > 0 ? [`${more} met.`] : []),
    ...(sentence === undefined ? [] : [sentence]),
  ].join(' ')
}

module.exports = {
  formatTime,
  formatBytes,
  formatShare,
  formatCount,
  formatCounts,
  chainParts,
  openingOf,
}
