'use strict'

// Calls about lakes and servers of profiles, whose answers are JSON.

const { errorOfCall } = require('@org/cpu-prof/own-packages').defect
const { callAddon } = require('@org/cpu-prof/own-packages').offline

/** Opens what the addon keeps. @template T @param {() => T} open */
function opened(open) {
  try {
    return open()
  } catch (error) {
    throw errorOfCall(error)
  }
}

/** Returns the variables whose names begin so. @param {NodeJS.ProcessEnv} env @param {string} prefix */
function variablesOf(env, prefix) {
  /** @type {Record<string, string>} */
  const variables = {}
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(prefix) && value !== undefined) variables[name] = value
  }
  return variables
}

/** Returns the answer of work on another thread. @param {() => Promise<string>} work @returns {Promise<any>} */
const answerOf = async (work) => JSON.parse(await callAddon(work))

module.exports = { opened, answerOf, variablesOf }
