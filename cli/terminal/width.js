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
/** Combining marks and format characters, which take no column. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/gu

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
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0)
}

/** @param {string} text @param {number} width in columns */
function padEnd(text, width) {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

/** Keeps the beginning. @param {string} text @param {number} width in columns */
function cutEnd(text, width) {
  return displayWidth(text) <= width ? text : `${fitting(graphemes(text), width - 1).join('')}…`
}

/** Keeps the end, which distinguishes paths. @param {string} text @param {number} width in columns */
function cutStart(text, width) {
  if (displayWidth(text) <= width) return text
  return `…${fitting(graphemes(text).reverse(), width - 1)
    .reverse()
    .join('')}`
}

/** Returns lines as a text of limited width. @param {string[]} lines @param {number} width in columns */
function cutLines(lines, width) {
  return `${lines.map((line) => cutEnd(line, width)).join('\n')}\n`
}

/**
 * Returns a sentence as lines that fit, broken between words. A word that is too long has a line of its own.
 * @param {string} text @param {number} width in columns @param {string} [indent] of all lines but the first
 */
function wrapWords(text, width, indent = '') {
  const [start] = /^ */.exec(text) ?? ['']
  const [first, ...words] = text.slice(start.length).split(' ')
  const lines = [start + first]
  for (const word of words) {
    const longer = `${lines[lines.length - 1]} ${word}`
    if (displayWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(`${start}${indent}${word}`)
  }
  return lines
}

/** Returns the first graphemes that fit. @param {string[]} all @param {number} width in columns */
function fitting(all, width) {
  let left = width
  const end = all.findIndex((grapheme) => {
    left -= graphemeWidth(grapheme)
    return left < 0
  })
  return end < 0 ? all : all.slice(0, end)
}

/** Splits a text into what a reader sees as characters. @param {string} text */
function graphemes(text) {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
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
