'use strict'

// Calls about lakes and servers of profiles.

const { errorOfCall } = require('@org/cpu-prof/own-packages').defect

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

module.exports = { opened, variablesOf }
