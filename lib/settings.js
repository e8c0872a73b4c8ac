'use strict'

// The settings of a recording, which the addons know, and their names outside of code.

const { parsed } = require('./json-result.js')

/** The folder in the working directory where runs without a `dir` are, each in a folder of its own. */
const RUNS = 'profiles'
/** The folder of one of them, for help. */
const RUN_FOLDER = `${RUNS}/<date.time.pid>`

/** What the names of traces end with that recordings write. */
const TRACE = '.trace.json'

/**
 * @typedef {object} Setting
 * @property {string} name in code
 * @property {'string' | 'number' | 'boolean'} type of the value in code
 * @property {string | null} variable its environment variable; null for a setting in code alone
 * @property {string | null} flag its option on the command line, with a name for the value
 * @property {string} help the option's description
 * @property {string} default value without one, or what happens then
 */

/** Returns all settings. @param {Pick<import('./addon.js').Tools, 'cpuProfSettings'>} addon either one @returns {Setting[]} */
const settingsOf = (addon) => parsed(addon.cpuProfSettings())

/** What the environment variables of all settings begin with. */
const PREFIX = 'CPU_PROF_'

/** Returns the environment variable of a setting. @param {string} name in code */
const variableOf = (name) => `${PREFIX}${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`

/** Returns the option of a setting on the command line. @param {string} name in code */
const flagOf = (name) => `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`

/** Returns the settings in an environment, by variable. @param {NodeJS.ProcessEnv} env */
function variablesIn(env) {
  const given = Object.entries(env).filter(([name, value]) => name.startsWith(PREFIX) && value)
  return /** @type {Record<string, string>} */ (Object.fromEntries(given))
}

module.exports = { RUNS, RUN_FOLDER, TRACE, settingsOf, variableOf, flagOf, variablesIn }
