'use strict'

// Decides where a run records, and checks its options before the command starts.

const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')
const { RUNS, flagOf, variableOf, variablesIn } = require('../../../lib/settings.js')
const { workingDirectory } = require('../../terminal/format.js')
const { absolutePath, checkFolder, newDirName } = require('./output-dir.js')
const { variablesOf, recordedEnvironment } = require('./environment.js')
const { openRecordingsDir, patternIn } = require('./recordings-dir.js')
const { createRunStateDir, outerRun } = require('./run-state-dir.js')

const [DIR, NAME] = [variableOf('dir'), variableOf('name')]

/**
 * @typedef {object} Options
 * @property {boolean} merge
 * @property {boolean} [quiet]
 * @property {string} [output]
 * @property {string} [html]
 * @property {string} [dir]
 * @property {string} [finalDir] the folder where the trace stays, while the recordings grow elsewhere
 * @property {boolean} [keepRecordings]
 * @property {boolean} sourceMaps
 * @property {Record<string, string>} [settings] of the recordings, without `dir`
 */

/**
 * The facts that a run needs.
 * @typedef {object} Plan
 * @property {string} finalDir the folder where the trace and the recordings stay, absolute
 * @property {string} [output] the trace, absolute
 * @property {string} [html] the page, absolute
 * @property {ReturnType<typeof openRecordingsDir>} recordingsDir where the recordings grow
 * @property {boolean} isHidden whether the recordings grow in a temporary folder
 * @property {boolean} isNested whether the run is part of an outer run, whose trace will contain it
 * @property {NodeJS.ProcessEnv} env of the command
 * @property {import('../watch/node-facts.js').RunDirs} runDirs
 * @property {() => void} end ends the run: processes that start later are not recorded
 */

/**
 * Creates the folder of the recordings, and returns the plan. Throws if an option or a variable is
 * wrong: every Node process of the command would stop at a wrong setting, and an unusable output
 * would show only after the run.
 * @param {string[]} command @param {Options & Record<string, any>} options
 * @param {NodeJS.ProcessEnv} env @returns {Plan}
 */
function planRun(command, options, env) {
  const places = [options.dir, options.output, options.html, options.finalDir]
  const outer = places.every((place) => place === undefined) && outerRun(env)
  if (outer) return planNested(command, outer, options, env)
  const given =
    options.finalDir === undefined ? (options.dir ?? (env[DIR] || undefined)) : undefined
  const finalDir = absolutePath(
    given ?? options.finalDir ?? path.join(RUNS, newDirName()),
    flagOf('dir'),
  )
  const settings = { ...options.settings, dir: finalDir }
  checkSettings(settings, env)
  if (given === undefined && options.output === undefined) checkFolder(finalDir)
  const variables = variablesOf(env, settings)
  /** @param {string} recordingsDir @param {string} id of the run */
  const preparePlaces = (recordingsDir, id) => {
    variables[DIR] = recordingsDir
    const name = variables[NAME]
    // A name that leads out of the folder leads out of the folder that the user knows.
    if (name && patternIn(finalDir, name).startsWith('../')) {
      variables[NAME] = path.resolve(finalDir, name)
    }
    /** Returns a checked path. Most runs name no file. @param {string} flag @param {string} [file] */
    const checked = (flag, file) => {
      if (file === undefined) return undefined
      const { checkOutput } = require('./output-file.js')
      return checkOutput(flag, file, { dir: recordingsDir, name })
    }
    return {
      output: checked('--output', options.output),
      html: checked('--html', options.html),
      recordingsDir: openRecordingsDir(recordingsDir, id, variables[NAME]),
    }
  }
  const isHidden = given === undefined
  const dir = isHidden ? undefined : finalDir
  const begun = beginRun(command, variables, env, dir, preparePlaces)
  return { finalDir, isHidden, isNested: false, ...begun }
}

/**
 * Plans a run whose recordings belong to an outer run.
 * @param {string[]} command @param {import('./run-state-dir.js').RunInfo} outer
 * @param {Options & Record<string, any>} options @param {NodeJS.ProcessEnv} env @returns {Plan}
 */
function planNested(command, outer, options, env) {
  const { settings = {} } = options
  checkSettings({ ...settings, dir: '' }, env)
  const variables = { ...outer.variables, ...variablesOf({}, settings) }
  const dir = outer.variables[DIR]
  const name = variables[NAME]
  const preparePlaces = () => ({ recordingsDir: openRecordingsDir(dir, outer.id, name) })
  const begun = beginRun(command, variables, env, dir, preparePlaces, outer.id)
  return { finalDir: dir, isHidden: false, isNested: true, ...begun }
}

/**
 * Creates the folder of the run's state, by which the run's processes find their settings.
 * @template T @param {string[]} command @param {Record<string, string>} variables
 * @param {NodeJS.ProcessEnv} env
 * @param {string | undefined} dir where recordings grow; in the folder of the state if undefined
 * @param {(dir: string, id: string) => T} preparePlaces @param {string} [outerId]
 */
function beginRun(command, variables, env, dir, preparePlaces, outerId) {
  const stateDir = createRunStateDir()
  const id = outerId ?? stateDir.id
  try {
    const places = preparePlaces(dir ?? stateDir.recordingsDir, id)
    stateDir.begin({ id, variables, pid: process.pid, cwd: workingDirectory(), command })
    const { end } = stateDir
    const runDirs = { stateDir: stateDir.path, recordingsDir: variables[DIR] }
    return { ...places, env: recordedEnvironment(env, stateDir.path), runDirs, end }
  } catch (error) {
    stateDir.end()
    throw error
  }
}

/** @param {Record<string, string>} settings @param {NodeJS.ProcessEnv} env */
function checkSettings(settings, env) {
  // Loading the addon takes milliseconds, and most runs have only `dir`, which any text suits.
  if (Object.keys(settings).length === 1 && Object.keys(variablesIn(env)).length === 0) return
  const wrong = loadTools().cpuProfCheckSettings(settings)
  // The addon knows an option by its name in code.
  if (wrong !== null)
    throw new Error(
      wrong.replace(/^[a-z]\w*(?==)/i, (/** @type {string} */ name) =>
        name in settings ? flagOf(name) : name,
      ),
    )
}

module.exports = { planRun }
