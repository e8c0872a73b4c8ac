'use strict'

// Finds the lake to which a run is added at its end.

const { variableOf } = require('../../../lib/settings.js')
const { printError } = require('../../terminal/output.js')

/**
 * Returns the lake; undefined if none is named. Throws if the text is no place for a lake, and if a lake is given
 * and the package that has lakes is missing. A lake of the environment alone must not stop the command then.
 * @param {string | undefined} given the option @returns {string | undefined}
 */
function lakeOf(given) {
  if (given === undefined && !process.env[variableOf('lake')]) return undefined
  const { loadHook } = require('../../../lib/packages.js')
  try {
    loadHook('fleet')
  } catch (error) {
    if (given !== undefined) throw error
    printError(error, { before: 'the lake of the environment gets no run: ' })
    return undefined
  }
  return loadHook('fleet').lakeOf(given)
}

module.exports = { lakeOf }
