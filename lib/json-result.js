'use strict'

// Reads the results of the addons that are JSON text: trees and lists.

/**
 * Returns the value of a result. Its type is that of the place that takes it.
 * @template T @param {string} json @returns {T}
 */
const parsed = (json) => JSON.parse(json)

/** Returns the value of the result of work on another thread. @template T @param {() => Promise<string>} work @returns {Promise<T>} */
const resultOf = async (work) => parsed(await callAddon(work))

/** Calls an addon for work on another thread. @template T @param {() => Promise<T>} work */
async function callAddon(work) {
  try {
    return await work()
  } catch (error) {
    // Here, because `start()` reads the settings with this file.
    const { errorOfCall } = require('./errors/defect.js')
    throw errorOfCall(error)
  }
}

module.exports = { callAddon, parsed, resultOf }
