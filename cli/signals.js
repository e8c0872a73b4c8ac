'use strict'

// The signals that end a process by default and that it can handle.

/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** Calls `listener` for each of the signals, until the returned function is called. @param {NodeJS.SignalsListener} listener */
function onSignals(listener) {
  for (const signal of SIGNALS) process.on(signal, listener)
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener)
  }
}

module.exports = { onSignals }
