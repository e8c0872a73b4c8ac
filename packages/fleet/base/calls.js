'use strict'

// Calls about lakes and servers of profiles, whose answers are JSON.

const { errorOfCall } = require('../../lib/errors/defect.js')
const { callAddon } = require('../../lib/offline.js')

/** Opens what the addon keeps. @template T @param {() => T} open */
function opened(open) {
  try {
    return open()
  } catch (error) {
    throw errorOfCall(error)
  }
}

/** Returns the answer of work on another thread. @param {() => Promise<string>} work @returns {Promise<any>} */
const answerOf = async (work) => JSON.parse(await callAddon(work))

module.exports = { opened, answerOf }
