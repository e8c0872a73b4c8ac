'use strict'

const { load } = require('../../lib/addon.js')
const { say } = require('./output.js')

/** @type {NodeJS.Signals[]} */
const FATAL = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/**
 * Writes files; a signal that ends this process meanwhile leaves no half of one.
 * @template T @param {() => Promise<T>} write @param {string} [message] what is said then
 * @returns {Promise<T>}
 */
async function tidily(write, message) {
  /** @param {NodeJS.Signals} signal */
  const leave = (signal) => {
    load().abandonFiles()
    if (message !== undefined) say(message)
    // Nobody listens to it any more.
    process.kill(process.pid, signal)
  }
  for (const signal of FATAL) process.once(signal, leave)
  try {
    return await write()
  } finally {
    for (const signal of FATAL) process.off(signal, leave)
  }
}

module.exports = { tidily }
