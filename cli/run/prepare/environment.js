'use strict'

// Builds the environment that makes every Node process under a command record itself.

const path = require('node:path')
const { SETTINGS } = require('../../../lib/options.js')

const PRELOAD = path.join(__dirname, '..', '..', '..', 'index.js')

/** The settings that have an environment variable: names and variables. */
const VARIABLES = Object.fromEntries(
  Object.entries(SETTINGS).flatMap(([name, { variable }]) => (variable ? [[name, variable]] : [])),
)

/** Returns the settings among a command's options. @param {Record<string, any>} options */
function settingsOf(options) {
  const given = Object.entries(options).filter(([name]) => name in VARIABLES)
  return /** @type {Record<string, string>} */ (Object.fromEntries(given))
}

/**
 * Returns the variables of a run: those of the environment, and above them the settings.
 * @param {NodeJS.ProcessEnv} env @param {Record<string, string>} settings
 */
function variablesOf(env, settings) {
  const given = Object.values(VARIABLES).flatMap((name) => (env[name] ? [[name, env[name]]] : []))
  const chosen = Object.entries(settings).map(([name, value]) => [VARIABLES[name], value])
  return /** @type {Record<string, string>} */ (Object.fromEntries([...given, ...chosen]))
}

/**
 * Returns the environment of a run's processes. `NODE_OPTIONS` is all that they need: tools that
 * filter the environment of their tasks pass this variable on.
 * @param {NodeJS.ProcessEnv} env @param {string} folder of the run, absolute
 */
function recordedEnvironment(env, folder) {
  return { ...env, NODE_OPTIONS: withPreload(env.NODE_OPTIONS, preloadOf(folder)) }
}

/**
 * Returns the path of the preload. The path begins with the run's folder, where the addon finds the
 * settings, and climbs out of the folder. Node does not look at the folder, so a daemon that
 * outlives the run can still start processes once the folder is gone.
 * @param {string} folder
 */
function preloadOf(folder) {
  return `${folder}/${path.relative(folder, PRELOAD)}`
}

/** Adds a preload to NODE_OPTIONS. @param {string | undefined} nodeOptions @param {string} preload */
function withPreload(nodeOptions, preload) {
  const option = `--require ${quote(preload)}`
  // First, so that other preloads are recorded too.
  return nodeOptions?.trim() ? `${option} ${nodeOptions}` : option
}

/**
 * Quotes a path for NODE_OPTIONS, which Node splits at spaces. Plain paths stay unquoted, because
 * other programs that parse the variable may not understand quotes.
 * @param {string} file
 */
function quote(file) {
  return /[\s"\\]/.test(file) ? `"${file.replace(/["\\]/g, '\\$&')}"` : file
}

module.exports = { VARIABLES, settingsOf, variablesOf, recordedEnvironment, withPreload }
