'use strict'

// The environment variables of the settings.

const { SETTINGS } = require('../lib/options.js')

/** The settings that have an environment variable: names and variables. */
const VARIABLES = Object.fromEntries(
  Object.entries(SETTINGS).flatMap(([name, { variable }]) => (variable ? [[name, variable]] : [])),
)

module.exports = { VARIABLES }
