'use strict'

// Builds the environment that makes every Node process under a command record itself.

const path = require('node:path')

const PRELOAD = path.join(__dirname, '..', '..', '..', 'index.js')

/**
 * Returns the environment of a run's processes. `NODE_OPTIONS` is all that they need: tools that
 * filter the environment of their tasks pass this variable on.
 *
 * The path of the preload begins with the run's folder, where the addon finds the settings, and climbs
 * out of the folder. Node does not look at the folder, so a daemon that outlives the run can still
 * start processes once the folder is gone.
 * @param {NodeJS.ProcessEnv} env @param {string} stateDir of the run, absolute
 */
function recordedEnvironment(env, stateDir) {
  const preload = `${stateDir}/${path.relative(stateDir, PRELOAD)}`
  return { ...env, NODE_OPTIONS: withPreload(env.NODE_OPTIONS, preload) }
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

module.exports = { recordedEnvironment, withPreload }
