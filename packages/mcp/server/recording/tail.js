'use strict'

// Keeps the last lines of a stream, however much it has.

const { stripVTControlCharacters } = require('node:util')

/** Characters that are kept of an unfinished line. */
const MAX_LINE = 10_000

class Tail {
  #rest = ''
  /** @type {string[]} */
  #lines = []
  /** Count of all lines. */
  count = 0
  /** The first line, once the stream had one. @type {string | undefined} */
  first

  /** @param {import('node:stream').Readable} stream @param {number} most lines */
  constructor(stream, most) {
    stream.setEncoding('utf8')
    stream.on('data', (/** @type {string} */ text) => {
      const lines = (this.#rest + text).split(/\r?\n/)
      this.#rest = (lines.pop() ?? '').slice(-MAX_LINE)
      this.count += lines.length
      this.first ??= lines[0]
      this.#lines = [...this.#lines, ...lines.slice(-most)].slice(-most)
    })
    // The stream ends with its process.
    stream.on('error', () => {})
  }

  /** Returns the last lines, without the colours and the movements of a terminal. */
  lines() {
    const all = this.#rest === '' ? this.#lines : [...this.#lines, this.#rest]
    return all.map((line) => stripVTControlCharacters(line).trimEnd())
  }
}

module.exports = { Tail }
