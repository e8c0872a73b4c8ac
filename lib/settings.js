'use strict'

// The settings of a recording, which the addons know, and their names outside of code.

/** The folder in the working directory where runs without a `dir` are, each in a folder of its own. */
const RUNS = 'profiles'

/**
 * @typedef {object} Setting
 * @property {string} name in code
 * @property {'string' | 'number' | 'boolean'} type of the value in code
 * @property {string | null} variable its environment variable; null for a setting in code alone
 * @property {string | null} flag its option on the command line, with a name for the value
 * @property {string} help the option's description
 * @property {string} default as the help tells it
 */

/** Returns all settings. @param {any} addon either one @returns {Setting[]} */
const settingsOf = (addon) => JSON.parse(addon.cpuProfSettings())

/** Returns the environment variable of a setting. @param {string} name in code */
const variableOf = (name) => `CPU_PROF_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`

module.exports = { RUNS, settingsOf, variableOf }
