'use strict'

// Makes texts that users, CI systems and repositories give fit for a column of a lake.

/** The most characters of a fact. */
const MAX_LENGTH = 200
/** The largest number of a 32-bit column. */
const MAX_NUMBER = 2 ** 31 - 1
/** Control characters, line separators, and those that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
const UNWANTED = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Returns a text without what no column should have; undefined if nothing is left.
 * @param {unknown} value
 */
function cleanText(value) {
  if (typeof value !== 'string') return undefined
  // Halves of characters are no UTF-8.
  const whole = Buffer.from(value.replace(UNWANTED, '')).toString()
  const text = [...whole.trim()].slice(0, MAX_LENGTH).join('').trim()
  return text === '' ? undefined : text
}

/** Returns the hash of a commit in lower case; undefined for any other text. @param {unknown} value */
function cleanCommit(value) {
  const text = cleanText(value)
  return text !== undefined && /^[0-9a-f]{7,64}$/i.test(text) ? text.toLowerCase() : undefined
}

/** Returns a count; undefined for what is none. @param {unknown} value a number or its digits */
function cleanCount(value) {
  const text = String(value ?? '').trim()
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return number <= MAX_NUMBER ? number : undefined
}

module.exports = { MAX_NUMBER, cleanText, cleanCommit, cleanCount }
