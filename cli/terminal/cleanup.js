'use strict'

// Removes unfinished files when a signal ends the process.

const { load } = require('../../lib/addon.js')
const { listen } = require('../signals.js')
const { printStatus } = require('./output.js')

/**
 * Calls `write`, which writes files. If a signal ends the process meanwhile, unfinished files are
 * removed.
 * @template T @param {() => Promise<T>} write @param {string} [message] printed in that case
 * @returns {Promise<T>}
 */
async function withCleanup(write, message) {
  const stopListening = listen((signal) => {
    stopListening()
    load().cpuProfAbandonFiles()
    if (message !== undefined) printStatus(message)
    // Without a listener, the signal ends the process.
    process.kill(process.pid, signal)
  })
  try {
    return await write()
  } finally {
    stopListening()
  }
}

module.exports = { withCleanup }
