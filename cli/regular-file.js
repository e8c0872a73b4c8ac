'use strict'

// Reads files that somebody else can have made: a pipe would never end, and a device has no end.

const fs = require('node:fs')
const { loadTools } = require('../lib/addon.js')

/**
 * Calls `read` with the descriptor of a regular file. Throws if the file is none.
 * @template T @param {string} file @param {(fd: number) => T} read @returns {T}
 */
function withRegularFile(file, read) {
  const fd = loadTools().cpuProfOpenRegularFile(file)
  if (fd === null) throw new Error(`${file} is not a regular file, or cannot be read`)
  try {
    return read(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Returns the beginning of a regular file; undefined if the file is none.
 * @param {string} file @param {number} most bytes
 */
function readRegularFile(file, most) {
  try {
    const bytes = Buffer.alloc(most)
    const length = withRegularFile(file, (fd) => fs.readSync(fd, bytes, 0, most, 0))
    return bytes.toString('utf8', 0, length)
  } catch {
    return undefined
  }
}

module.exports = { withRegularFile, readRegularFile }
