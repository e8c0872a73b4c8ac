'use strict'

// Gives the tools stdin as a file: they read their inputs more than once.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pipeline } = require('node:stream/promises')
const { withSignalCleanup } = require('./cleanup.js')

const STDIN = '-'

/**
 * Calls `work` with the paths of the inputs, where `-` is a file with the contents of stdin. The file
 * is removed afterwards, also if a signal ends the process.
 * @template T @param {string[]} inputs @param {(paths: string[]) => Promise<T>} work @returns {Promise<T>}
 */
async function withInputs(inputs, work) {
  if (!inputs.includes(STDIN)) return work(inputs)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-stdin-'))
  const remove = () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const file = path.join(folder, 'stdin')
  try {
    return await withSignalCleanup(async () => {
      await pipeline(process.stdin, fs.createWriteStream(file))
      return work(inputs.map((input) => (input === STDIN ? file : input)))
    }, remove)
  } finally {
    remove()
  }
}

module.exports = { withInputs }
