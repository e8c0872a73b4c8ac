'use strict'

// Decides where and how a run records, and checks its options before the command starts.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')
const { RUNS, flagOf, variableOf, variablesIn } = require('../../../lib/settings.js')
const { TEMP_VARIABLE, isDevice } = require('../../system/index.js')
const { workingDirectory } = require('../../terminal/format.js')
const { absolutePath, checkFolder, firstExisting, newDirName } = require('./output-dir.js')
const { leadsOut, openRecordingsDir, patternIn, slashed } = require('./recordings-dir.js')
const { createRunStateDir, outerRun } = require('./run-state-dir.js')

const PRELOAD = path.join(__dirname, '..', '..', '..', 'index.js')
/** Yarn's preload, which finds the packages that all others need. */
const PNP = /^\s*(--require|-r)[ =]("[^"]*"|\S+)(?<=\.pnp\.c?js"?)(?=\s|$)/
const [DIR, NAME, START] = [variableOf('dir'), variableOf('name'), variableOf('start')]

/**
 * @typedef {object} Options
 * @property {boolean} merge
 * @property {boolean} [quiet]
 * @property {boolean} [brief] whether to say only what nobody can read in the trace
 * @property {string} [output]
 * @property {string} [html]
 * @property {string} [dir]
 * @property {string} [finalDir] the folder where the trace stays, while the recordings grow elsewhere
 * @property {boolean} [keepRecordings]
 * @property {boolean} sourceMaps
 * @property {string[]} [symbols] folders with the symbols of native modules
 * @property {string} [lake] where the run is added at its end
 * @property {boolean} [isLakeGiven] whether an option named the lake, and not the environment
 * @property {boolean} [tellsLake] whether to say so where the run is quiet
 * @property {Record<string, string>} [settings] of the recordings, without `dir`
 *
 * @typedef {ReturnType<typeof planRun>} Plan the facts that a run needs
 */

/**
 * Creates the folder of the recordings, and returns the plan. Throws if an option or a variable is
 * wrong: every Node process of the command would stop at a wrong setting, and an unusable output
 * would show only after the run.
 * @param {string[]} command @param {Options & Record<string, any>} options
 * @param {NodeJS.ProcessEnv} env
 */
function planRun(command, options, env) {
  const { dir, output, html, settings = {} } = options
  const places = [dir, output, html, options.finalDir]
  const outer = places.every((place) => place === undefined) ? outerRun(env) : undefined
  const wanted = options.finalDir === undefined ? (dir ?? (env[DIR] || undefined)) : undefined
  const given = outer?.variables[DIR] ?? wanted
  const finalDir = absolutePath(
    given ?? options.finalDir ?? path.join(RUNS, newDirName()),
    flagOf('dir'),
  )
  checkSettings({ ...settings, dir: finalDir })
  if (given === undefined && output === undefined) checkFolder(finalDir)
  const state = createRunStateDir()
  const id = outer?.id ?? state.id
  const recordingsDir = given === undefined ? state.recordingsDir : finalDir
  const chosen = Object.entries(settings).map(([name, value]) => [variableOf(name), value])
  /** @type {Record<string, string>} */
  const variables = {
    ...(outer?.variables ?? variablesIn(env)),
    ...Object.fromEntries(chosen),
    [DIR]: recordingsDir,
  }
  // A name that leads out of the folder leads out of the folder that the user knows.
  if (variables[NAME] && leadsOut(finalDir, variables[NAME])) {
    variables[NAME] = path.resolve(finalDir, variables[NAME])
  }
  const recordings = { dir: recordingsDir, name: variables[NAME] }
  try {
    const plan = {
      id,
      /** The folder where the trace and the recordings stay, absolute. */
      finalDir,
      /** The trace, and the page, absolute. */
      output: checkOutput('--output', output, recordings),
      html: checkOutput('--html', html, recordings),
      /** Where the recordings grow. */
      recordingsDir: openRecordingsDir(recordingsDir, id, variables[NAME]),
      /** Whether the recordings grow in a temporary folder. */
      isHidden: given === undefined,
      /** Whether the run is part of an outer run, whose trace will contain it. */
      isNested: outer !== undefined,
      /** Whether the processes record only when that is asked for. */
      isArmed: (variables[START] || 'on') !== 'on',
      /** Of the command. */
      env: recordedEnvironment(env, state.path),
      /** When the run was planned: milliseconds after 1970. */
      plannedMs: Date.now(),
      /** Ends the run: processes that start later are not recorded. */
      end: state.end,
    }
    state.begin({ id, variables, pid: process.pid, cwd: workingDirectory(), command })
    return plan
  } catch (error) {
    state.end()
    throw error
  }
}

/** @param {Record<string, string>} settings */
function checkSettings(settings) {
  const wrong = loadTools().cpuProfCheckSettings(settings)
  // The addon knows an option by its name in code.
  if (wrong !== null)
    throw new Error(
      wrong.replace(/^[a-z]\w*(?==)/i, (/** @type {string} */ name) =>
        name in settings ? flagOf(name) : name,
      ),
    )
}

/**
 * Returns the absolute path of a file, if one is given, that can be written without replacing a recording.
 * @param {string} flag @param {string | undefined} given @param {{ dir: string, name?: string }} recordings
 */
function checkOutput(flag, given, { dir, name }) {
  if (given === undefined) return undefined
  const output = absolutePath(given, flag)
  const problem = outputProblem(flag, given, output)
  if (problem !== undefined) throw new Error(`${flag}=${given} ${problem}`)
  if (name && loadTools().cpuProfIsRecordingName(patternIn(dir, name), patternIn(dir, output))) {
    throw new Error(`${flag}=${given} is the name of a recording; choose another`)
  }
  return output
}

/** @param {string} flag @param {string} given @param {string} output the absolute path */
function outputProblem(flag, given, output) {
  if (isDevice(given)) return 'is a device; choose another'
  const stat = fs.existsSync(output) ? fs.statSync(output) : undefined
  const example = path.join(given, flag === '--html' ? 'report.html' : 'trace.json')
  if (stat?.isDirectory()) return `is a folder; name a file: ${example}`
  if (stat && !stat.isFile()) return 'is not a regular file; choose another'
  // Missing folders are created, inside the first folder that exists.
  const parent = firstExisting(path.dirname(output))
  return fs.statSync(parent).isDirectory()
    ? undefined
    : `cannot be written: ${parent} is not a folder`
}

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
  return { ...env, NODE_OPTIONS: withPreload(env.NODE_OPTIONS, preloadPath(stateDir, PRELOAD)) }
}

/**
 * Returns the path of the preload, with slashes: programs that parse NODE_OPTIONS may take a backslash
 * for an escape. On Windows no path climbs from one drive to another. There the folder's own path, with
 * `C$` for `C:`, hangs below the package, and the addon turns it back.
 * @param {string} stateDir @param {string} preload absolute @param {path.PlatformPath} [paths]
 */
function preloadPath(stateDir, preload, paths = path) {
  const relative = paths.relative(stateDir, preload)
  if (!paths.isAbsolute(relative)) return slashed(`${stateDir}/${relative}`, paths)
  if (!/^[a-z]:/i.test(stateDir)) {
    throw new Error(
      `${stateDir} is on a network share; set ${TEMP_VARIABLE} to a folder of a drive`,
    )
  }
  const hung = slashed(stateDir.replace(':', '$'), paths)
  const climb = hung.replace(/[^/]+/g, '..')
  const { dir, base } = paths.parse(preload)
  return slashed(`${paths.join(dir, hung)}/${climb}/${base}`, paths)
}

/** Adds a preload to NODE_OPTIONS. @param {string | undefined} nodeOptions @param {string} preload */
function withPreload(nodeOptions, preload) {
  const option = `--require ${quote(preload)}`
  if (!nodeOptions?.trim()) return option
  const [pnp] = PNP.exec(nodeOptions) ?? []
  // First, so that other preloads are recorded too.
  if (pnp === undefined) return `${option} ${nodeOptions}`
  return `${pnp} ${option}${nodeOptions.slice(pnp.length)}`
}

/**
 * Quotes a path for NODE_OPTIONS, which Node splits at spaces. Plain paths stay unquoted, because
 * other programs that parse the variable may not understand quotes.
 * @param {string} file
 */
function quote(file) {
  return /[\s"\\]/.test(file) ? `"${file.replace(/["\\]/g, '\\$&')}"` : file
}

module.exports = { checkOutput, planRun, preloadPath, withPreload }
