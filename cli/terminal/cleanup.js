'use strict'

// Answers signals, and removes unfinished files when one ends the process.

const { loadTools } = require('../../lib/addon.js')
const { printStatus } = require('./output.js')

/** The signals that end a process by default and that it can handle. @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** Calls `listener` for each of the signals, until the returned function is called. @param {NodeJS.SignalsListener} listener */
function onSignals(listener) {
  for (const signal of SIGNALS) process.on(signal, listener)
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener)
  }
}

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
    process.kill(process.pid, signal)
  })
  try {
    return await work()
  } finally {
    stopListening()
  }
}

module.exports = { onSignals, withCleanup, withSignalCleanup }
