'use strict'

// Removes unfinished files when a signal ends the process.

const { loadTools } = require('../../lib/addon.js')
const { endBySignal, onSignals } = require('../system/index.js')
const { printStatus } = require('./output.js')

/**
 * Calls `write`, which writes files. If a signal ends the process meanwhile, unfinished files are
 * removed.
 * @template T @param {() => Promise<T>} write @param {string} [message] printed in that case
 * @returns {Promise<T>}
 */
async function withCleanup(write, message) {
  return withSignalCleanup(write, () => {
    loadTools().cpuProfAbandonFiles()
    if (message !== undefined) printStatus(message)
  })
}

/**
 * Calls `work`. If a signal ends the process meanwhile, `clean` is called before.
 * @template T @param {() => Promise<T>} work @param {() => void} clean @returns {Promise<T>}
 */
async function withSignalCleanup(work, clean) {
  const stopListening = onSignals((signal) => {
    stopListening()
    clean()
    // Without a listener, the signal ends the process.
    endBySignal(signal)
  })
  try {
    return await work()
  } finally {
    stopListening()
  }
}

module.exports = { withCleanup, withSignalCleanup }
