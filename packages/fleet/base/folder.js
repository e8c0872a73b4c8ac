'use strict'

// Makes folders for files that go to another place.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { withSignalCleanup } = require('@org/cpu-prof/own-packages').cleanup

/**
 * Calls `work` with a folder that only this user can read, and that is removed afterwards, also if a signal
 * ends the process.
 * @template T @param {(folder: string) => Promise<T>} work @returns {Promise<T>}
 */
async function withFolder(work) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-lake-'))
  const remove = () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    return await withSignalCleanup(() => work(folder), remove)
  } finally {
    remove()
  }
}

module.exports = { withFolder }
