'use strict'

// Builds the environment that makes every Node process under a command record itself.

const path = require('node:path')
const { SETTINGS } = require('../../lib/options.js')

/** Tells a nested run in which folder the outer run records. */
const OUTER_RUN = 'CPU_PROF_RUN'

const PRELOAD = path.join(__dirname, '..', '..', 'index.js')

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
 * @param {NodeJS.ProcessEnv} env
 * @param {Record<string, string>} settings with an absolute `dir`, since children can have other
 *   working directories
 */
function recordedEnvironment(env, settings) {
  const variables = Object.entries(settings).map(([name, value]) => [VARIABLES[name], value])
  return {
    ...env,
    ...Object.fromEntries(variables),
    [OUTER_RUN]: settings.dir,
    NODE_OPTIONS: withPreload(env.NODE_OPTIONS),
  }
}

/** Adds the preload to NODE_OPTIONS. @param {string | undefined} nodeOptions */
function withPreload(nodeOptions, preload = PRELOAD) {
  const option = `--require ${quote(preload)}`
  if (!nodeOptions?.trim()) return option
  if (nodeOptions.includes(option)) return nodeOptions
  // First, so that other preloads are recorded too.
  return `${option} ${nodeOptions}`
}

/**
 * Quotes a path for NODE_OPTIONS, which Node splits at spaces. Plain paths stay unquoted, because
 * other programs that parse the variable may not understand quotes.
 * @param {string} file
 */
function quote(file) {
  return /[\s"\\]/.test(file) ? `"${file.replace(/["\\]/g, '\\$&')}"` : file
}

module.exports = { VARIABLES, OUTER_RUN, settingsOf, recordedEnvironment, withPreload }
