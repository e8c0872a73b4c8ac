'use strict'

// Shows how far a recording is, and which functions are hot.

const {
  formatPlace,
  formatShare,
  formatTime,
  printable,
  workingDirectory,
} = require('../terminal/format.js')
const { printStatus, writeStderr } = require('../terminal/output.js')
const { SHARE, cutEnd, cutLines, cutStart, padEnd, screen } = require('../terminal/width.js')

/** @typedef {import('../live/follower.js').LiveView} LiveView */
/**
 * @typedef {object} State
 * @property {string[]} names of the processes
 * @property {number} elapsedMs
 * @property {number} forMs
 * @property {LiveView} [view]
 */

const BAR = 20
/** Names of processes that are shown. */
const NAMES = 2
/** Columns of a function's name. */
const NAME = 30
/** Time between two lines where there is no terminal. */
const LINE_MS = 10_000

/**
 * Shows the progress on stderr: lines that are redrawn on a terminal, or a line now and then elsewhere.
 * @param {string[]} names @param {number} forMs @param {boolean} [quiet]
 */
function showProgress(names, forMs, quiet) {
  if (quiet) return { update() {}, end() {} }
  const isTerminal = process.stderr.isTTY
  let drawn = 0
  let lastMs = 0
  const clear = () => {
    if (drawn > 0) writeStderr(`\x1b[${drawn}A\x1b[J`)
    drawn = 0
  }
  /** @param {number} elapsedMs @param {LiveView} [view] */
  const update = (elapsedMs, view) => {
    const state = { names, elapsedMs, forMs, view }
    if (isTerminal) {
      const lines = progressLines(state, screen(process.stderr).columns, workingDirectory())
      clear()
      writeStderr(cutLines(lines, screen(process.stderr).columns - 1))
      drawn = lines.length
    } else if (elapsedMs - lastMs >= LINE_MS) {
      lastMs = elapsedMs
      printStatus(progressText(state))
    }
  }
  if (isTerminal) update(0)
  else printStatus(`recording ${shortNames(names)} for ${formatTime(forMs)}`)
  return { update, end: clear }
}

/** Returns the lines of a display. @param {State} state @param {number} columns @param {string} cwd */
function progressLines({ names, elapsedMs, forMs, view }, columns, cwd) {
  const done = Math.round(BAR * Math.min(1, elapsedMs / forMs))
  const bar = `${'█'.repeat(done)}${'░'.repeat(BAR - done)}`
  return [
    `${bar} ${leftText(forMs - elapsedMs)} left (Ctrl-C ends it now): ${shortNames(names)}`,
    ...hottest(view).map(({ share, name, ...place }) => {
      const start = `${share.padStart(SHARE + 2)}  ${padEnd(cutEnd(name, NAME), NAME)}  `
      return (
        start +
        cutStart(printable(formatPlace(place, cwd)), Math.max(8, columns - NAME - SHARE - 7))
      )
    }),
  ]
}

/** Returns the time that is left, calm enough to be redrawn. @param {number} ms */
function leftText(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return seconds < 100 ? `${seconds} s` : formatTime(ms)
}

/** Returns the display as one line. @param {State} state */
function progressText({ elapsedMs, forMs, view }) {
  const hot = hottest(view).map(({ share, name }) => `${name} ${share}`)
  return [`${formatTime(elapsedMs)} of ${formatTime(forMs)}`, ...hot].join(', ')
}

/** Returns the functions with the most self time, as texts. @param {LiveView} [view] */
function hottest(view) {
  if (view === undefined) return []
  const { javascriptMs, nativeMs, gcMs } = view.totals
  const workMs = javascriptMs + nativeMs + gcMs
  return [...view.functions]
    .sort((a, b) => b.selfMs - a.selfMs)
    .slice(0, 3)
    .filter(({ selfMs }) => selfMs > 0)
    .map(({ name, file, line, selfMs }) => ({
      share: formatShare(selfMs, workMs),
      name: printable(name),
      file,
      line,
    }))
}

/** @param {string[]} names */
function shortNames(names) {
  const shown = names.slice(0, NAMES).map(printable)
  return [...shown, ...(names.length > NAMES ? [`${names.length - NAMES} more`] : [])].join(', ')
}

module.exports = { showProgress, progressLines, progressText }
