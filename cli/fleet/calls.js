'use strict'

// Calls about lakes and servers of profiles: errors have the package's name, and answers are JSON.

const { callAddon } = require('../../lib/offline.js')

/** Opens what the addon keeps. @template T @param {() => T} open */
function opened(open) {
  try {
    return open()
  } catch (error) {
    throw new Error(`cpu-prof: ${/** @type {Error} */ (error).message}`)
  }
}

/** Returns the answer of work on another thread. @param {() => Promise<string>} work @returns {Promise<any>} */
const answerOf = async (work) => JSON.parse(await callAddon(work))

module.exports = { opened, answerOf }
