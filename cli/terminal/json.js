'use strict'

// Renders JSON that can be printed to a terminal.

const { CONFUSING } = require('./format.js')

/**
 * Returns a value as JSON. The characters of names that would control a terminal, or change the
 * direction of what follows, are escaped: a parser gets the same value.
 * @param {unknown} value
 */
function jsonText(value) {
  const escaped = (/** @type {string} */ character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(value, null, 2).replace(CONFUSING, escaped)}\n`
}

module.exports = { jsonText }
