'use strict'

// Asks many processes for the same.

const { nameOf } = require('../control/choose.js')
const { failWith } = require('../terminal/output.js')

/** @typedef {import('../control/processes.js').Armed} Armed */

/**
 * Asks all processes at once. Returns the answers, and says which processes gave none and why, which sets
 * the exit code.
 * @template T @param {Armed[]} targets @param {(target: Armed) => Promise<T>} ask
 * @param {string} [failure] what it means that a process gave no answer
 * @returns {Promise<T[]>}
 */
async function askAll(targets, ask, failure = '') {
  const answers = await Promise.all(
    targets.map(async (target) => {
      try {
        return [await ask(target)]
      } catch (error) {
        failWith(error, { before: `${nameOf(target)}${failure}: ` })
        return []
      }
    }),
  )
  return answers.flat()
}

module.exports = { askAll }
