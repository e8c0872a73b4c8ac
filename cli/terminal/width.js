'use strict'

// Measures the screen, and measures, pads and cuts texts by the columns that they take on it.

const { getEAW } = require('meaw')

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Columns of `formatTime()` and of `formatShare()`. */
const TIME = 8
const SHARE = 6

const ASCII = /^[ -~]*$/
/** A character followed by the emoji variation selector, or a flag. */
const EMOJI_SEQUENCE = /\ufe0f|^\p{RI}{2}/u
/** The first half of a character, at the end of a text that goes on. */
const HALF = /(?<=.)[\ud800-\udbff]$/s
/** Combining marks and format characters, which take no column. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/gu

/** UTF-16 units that are split at once: the time of Node before 22 grows with the square of them. */
const PIECE = 64
/** The most UTF-16 units for a column of a text that is cut at its start. The longest emoji has 15. */
const UNITS = 16

const MIN_COLUMNS = 50
const MAX_COLUMNS = 160

/**
 * Returns the size and the abilities of the terminal behind a stream.
 * @param {NodeJS.WriteStream} stream
 * @param {NodeJS.ProcessEnv} [env]
 */
function screen(stream, env = process.env) {
  const { FORCE_COLOR } = env
  const columns = stream.isTTY ? stream.columns : Number(env.COLUMNS)
  return {
    columns: Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns || 100)),
    /** Undefined if the stream is not a terminal. */
    rows: stream.isTTY ? stream.rows || 24 : undefined,
    // hasColors() reads NO_COLOR and TERM.
    colours:
      FORCE_COLOR === undefined
        ? Boolean(stream.isTTY && stream.hasColors?.())
        : !['0', 'false'].includes(FORCE_COLOR),
  }
}

/** Returns the columns that a text takes. @param {string} text */
function displayWidth(text) {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme)
  return width
}

/** @param {string} text @param {number} width in columns */
function padEnd(text, width) {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

/** Keeps the beginning. @param {string} text @param {number} width in columns */
function cutEnd(text, width) {
  const { length, isWhole } = fitting(graphemes(text), width)
  return isWhole ? text : `${text.slice(0, length)}…`
}

/** Keeps the end, which distinguishes paths. @param {string} text @param {number} width in columns */
function cutStart(text, width) {
  const end = text.slice(-UNITS * width)
  const all = [...graphemes(end)]
  // The first character can be the rest of one.
  if (end.length < text.length) all[0] = ' '.repeat(width + 1)
  const { length, isWhole } = fitting(all.reverse(), width)
  return isWhole ? text : `…${text.slice(text.length - length)}`
}

/** Returns lines as a text of limited width. @param {string[]} lines @param {number} width in columns */
function cutLines(lines, width) {
  return `${lines.map((line) => cutEnd(line, width)).join('\n')}\n`
}

/**
 * Returns a sentence as lines that fit, broken between words. A word that is too long has a line of its own.
 * @param {string} text @param {number} width in columns
 */
function wrapWords(text, width) {
  const [start] = /^ */.exec(text) ?? ['']
  const [first, ...words] = text.slice(start.length).split(' ')
  const lines = [start + first]
  for (const word of words) {
    const longer = `${lines[lines.length - 1]} ${word}`
    if (displayWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(start + word)
  }
  return lines
}

/**
 * Returns whether all graphemes fit, and otherwise the UTF-16 units of the first that do, with a column for
 * the mark of what is cut.
 * @param {Iterable<string>} all @param {number} width in columns
 */
function fitting(all, width) {
  let [columns, length, units] = [0, 0, 0]
  for (const grapheme of all) {
    columns += graphemeWidth(grapheme)
    if (columns > width) return { isWhole: false, length }
    units += grapheme.length
    if (columns < width) length = units
  }
  return { isWhole: true, length }
}

/** Splits a text into what a reader sees as characters, a piece at a time. @param {string} text */
function* graphemes(text) {
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + PIECE).replace(HALF, '')
    const isLast = at + piece.length >= text.length
    const parts = Array.from(segmenter.segment(piece), ({ segment }) => segment)
    // The last character of a piece can go on in the next one.
    if (!isLast && parts.length > 1) parts.pop()
    yield* parts
    for (const part of parts) at += part.length
  }
}

/** @param {string} grapheme */
function graphemeWidth(grapheme) {
  const eastAsianWidth = getEAW(grapheme)
  const isWide = eastAsianWidth === 'W' || eastAsianWidth === 'F'
  if (isWide || EMOJI_SEQUENCE.test(grapheme)) return 2
  return Array.from(grapheme.replace(ZERO_WIDTH, '')).length
}

module.exports = {
  TIME,
  SHARE,
  screen,
  displayWidth,
  padEnd,
  cutEnd,
  cutStart,
  cutLines,
  wrapWords,
}
