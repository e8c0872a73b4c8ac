'use strict'

// Decides where a run records, and checks its options before the command starts.

const fs = require('node:fs')
const path = require('node:path')
const { load } = require('../../lib/addon.js')
const { SETTINGS } = require('../../lib/options.js')
const { VARIABLES, OUTER_RUN, settingsOf, recordedEnvironment } = require('./environment.js')
const { openFolder, patternIn } = require('./folder.js')

/**
 * @typedef {object} Options
 * @property {boolean} merge
 * @property {boolean} [quiet]
 * @property {string} [output]
 * @property {string} [dir]
 */

/**
 * Creates the folder of the recordings, and returns what the run needs to know. Throws if an option
 * or a variable is wrong: every Node process of the command would stop at a wrong setting, and an
 * unusable output would show only after the run.
 * @param {Options & Record<string, any>} options @param {NodeJS.ProcessEnv} env
 */
function planRun(options, env) {
  const isNested = isNestedRun(options, env)
  const dir = isNested
    ? (env[OUTER_RUN] ?? '')
    : absolute(options.dir ?? defaultDir(env), SETTINGS.dir.flag)
  const settings = settingsOf({ ...options, dir })
  checkSettings(settings, env)
  const name = settings.name ?? env[VARIABLES.name]
  const output =
    options.output === undefined ? undefined : checkOutput(options.output, { dir, name })
  const folder = openFolder(dir, name)
  return { dir, output, folder, isNested, env: recordedEnvironment(env, settings) }
}

/**
 * Returns whether the run is part of an outer run, whose trace will contain it. A run with a folder
 * or a trace of its own is not.
 * @param {Options} options @param {NodeJS.ProcessEnv} env
 */
function isNestedRun({ dir, output }, env) {
  const outer = env[OUTER_RUN]
  return Boolean(outer) && outer === env[VARIABLES.dir] && dir === undefined && output === undefined
}

/** @param {NodeJS.ProcessEnv} env */
function defaultDir(env) {
  // In an outer run, the variable names the outer run's folder.
  return (env[OUTER_RUN] ? '' : env[VARIABLES.dir]) || path.join('profiles', newName())
}

/** Returns a folder name of date, time and process id. */
function newName() {
  const now = new Date()
  /** @param {number[]} numbers */
  const digits = (...numbers) => numbers.map((n) => String(n).padStart(2, '0')).join('')
  const date = digits(now.getFullYear(), now.getMonth() + 1, now.getDate())
  return `${date}.${digits(now.getHours(), now.getMinutes(), now.getSeconds())}.${process.pid}`
}

/** @param {string} file @param {string} [option] the option that names the file */
function absolute(file, option) {
  try {
    return path.resolve(file)
  } catch {
    throw new Error(`the working directory no longer exists; use an absolute path for ${option}`)
  }
}

/** @param {Record<string, string>} settings @param {NodeJS.ProcessEnv} env */
function checkSettings(settings, env) {
  const isSet = (/** @type {string} */ variable) => Boolean(env[variable])
  // Loading the addon takes milliseconds, and most runs have only `dir`, which any text suits.
  if (Object.keys(settings).length === 1 && !Object.values(VARIABLES).some(isSet)) return
  const wrong = load().cpuProfCheckSettings(settings)
  // The addon knows an option by its name in code.
  if (wrong !== null) throw new Error(wrong.replace(/^(\w+)(?==)/, flagOf))
}

/** @param {string} name an option's, or a variable */
function flagOf(name) {
  return name in VARIABLES
    ? (SETTINGS[/** @type {keyof typeof SETTINGS} */ (name)].flag ?? name)
    : name
}

/**
 * Returns the absolute path of a trace that can be written without replacing a recording.
 * @param {string} given @param {{ dir: string, name?: string }} recordings
 */
function checkOutput(given, { dir, name }) {
  const output = absolute(given, '--output')
  const problem = outputProblem(given, output)
  if (problem !== undefined) throw new Error(`--output=${given} ${problem}`)
  if (name && load().cpuProfIsRecordingName(patternIn(dir, name), path.relative(dir, output))) {
    throw new Error(`--output=${given} is the name of a recording; choose another`)
  }
  return output
}

/** @param {string} given @param {string} output the absolute path */
function outputProblem(given, output) {
  const stat = statOf(output)
  if (stat?.isDirectory()) return `is a folder; name a file: ${path.join(given, 'trace.json')}`
  if (stat && !stat.isFile()) return 'is not a regular file; choose another'
  // Missing folders are created, inside the first folder that exists.
  let parent = path.dirname(output)
  while (!statOf(parent) && parent !== path.dirname(parent)) parent = path.dirname(parent)
  const isFolder = statOf(parent)?.isDirectory() !== false
  return isFolder ? undefined : `cannot be written: ${parent} is not a folder`
}

/** @param {string} file */
function statOf(file) {
  try {
    return fs.statSync(file)
  } catch {
    return undefined
  }
}

module.exports = { planRun }
