'use strict'

// The environment that has every Node process under a command recorded.

const path = require('node:path')

/** Options and their variables. @type {Record<string, string>} */
const VARIABLES = {
  dir: 'CPU_PROF_DIR',
  name: 'CPU_PROF_NAME',
  interval: 'CPU_PROF_INTERVAL',
  format: 'CPU_PROF_FORMAT',
  flushInterval: 'CPU_PROF_FLUSH_INTERVAL',
  ignoreList: 'CPU_PROF_IGNORE_LIST',
  maxNodes: 'CPU_PROF_MAX_NODES',
  source: 'CPU_PROF_SOURCE',
}

/** Tells a run inside of a run where the outer one records. */
const OUTER_RUN = 'CPU_PROF_RUN'

const PRELOAD = path.join(__dirname, '..', '..', 'index.js')

/** Those of a command's options that are settings of its recordings. @param {Record<string, any>} options */
function settingsOf(options) {
  const given = Object.entries(options).filter(([name]) => name in VARIABLES)
  return /** @type {Record<string, string>} */ (Object.fromEntries(given))
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Record<string, string>} settings their `dir` is absolute: children have other working
 *   directories
 */
function recordedEnvironment(env, settings) {
  const ours = Object.entries(settings).map(([name, value]) => [VARIABLES[name], value])
  return {
    ...env,
    ...Object.fromEntries(ours),
    [OUTER_RUN]: settings.dir,
    NODE_OPTIONS: withPreload(env.NODE_OPTIONS),
  }
}

/** @param {string | undefined} nodeOptions */
function withPreload(nodeOptions, preload = PRELOAD) {
  const option = `--require ${quote(preload)}`
  if (!nodeOptions?.trim()) return option
  if (nodeOptions.includes(option)) return nodeOptions
  // First, so that other preloads are recorded too.
  return `${option} ${nodeOptions}`
}

/**
 * For NODE_OPTIONS, which Node splits at spaces. Only where it must be: other programs that take
 * the variable apart know less of quotes.
 * @param {string} file
 */
function quote(file) {
  return /[\s"\\]/.test(file) ? `"${file.replace(/["\\]/g, '\\$&')}"` : file
}

module.exports = { VARIABLES, OUTER_RUN, settingsOf, recordedEnvironment, withPreload }
