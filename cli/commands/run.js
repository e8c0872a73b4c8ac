'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { runToEnd, endAs } = require('../run/child.js')
const { VARIABLES, OUTER_RUN, settingsOf, recordedEnvironment } = require('../run/environment.js')
const { openFolder, mayBeRecorded } = require('../run/folder.js')
const { say, messageOf } = require('../terminal/output.js')

const WRONG_USAGE = 2
const CANNOT_BE_RUN = 126
const NOT_FOUND = 127

/**
 * @typedef {object} Options
 * @property {boolean} merge
 * @property {boolean} [quiet]
 * @property {string} [output]
 * @property {string} [dir]
 */

/** @param {string[]} command @param {Options & Record<string, any>} options */
async function run(command, options) {
  const { env } = process
  const isInner = isInsideOfARun(env, options)
  /** @type {string} */
  let dir
  let settings
  let output
  let folder
  try {
    dir = isInner ? (env[OUTER_RUN] ?? '') : absolute(options.dir ?? defaultDir(env), '--dir')
    settings = settingsOf({ ...options, dir })
    checkSettings(settings, env)
    const name = settings.name ?? env[VARIABLES.name]
    if (options.output !== undefined) {
      output = absolute(options.output, '--output')
      checkOutput(options.output, output)
      if (name && mayBeRecorded(output, dir, name)) {
        throw new Error(`--output=${options.output} is the name of a recording; choose another`)
      }
    }
    folder = openFolder(dir, name)
  } catch (error) {
    say(/** @type {Error} */ (error).message)
    process.exitCode = WRONG_USAGE
    return
  }

  let ending
  try {
    ending = await runToEnd(command, recordedEnvironment(env, settings))
  } catch (error) {
    folder.removeIfEmpty()
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    say(code === 'ENOENT' ? notFound(command[0]) : `${command[0]} cannot be run: ${message}`)
    process.exitCode = code === 'ENOENT' ? NOT_FOUND : CANNOT_BE_RUN
    return
  }
  const recordings = folder.recordings()
  if (recordings.length > 0 && !isInner) {
    try {
      await require('../run/summary.js').afterRun(recordings, { ...options, dir, output, ending })
    } catch (error) {
      // Whatever it is (the command may have removed this very package), the end is the command's.
      say(`no trace: ${messageOf(error)}; the recordings are in ${dir}`)
    }
  } else if (recordings.length === 0 && !options.quiet) {
    say(folder.isGone() ? `the recordings' folder is gone: ${dir}` : whyNothing(command[0]))
  }
  if (recordings.length === 0) folder.removeIfEmpty()
  endAs(ending)
}

/**
 * A command of a run can be a run itself, and then it is a part of the outer one, whose trace has
 * it all; unless it wants a folder or a trace of its own.
 * @param {NodeJS.ProcessEnv} env @param {Options} options
 */
function isInsideOfARun(env, { dir, output }) {
  const outer = env[OUTER_RUN]
  return Boolean(outer) && outer === env[VARIABLES.dir] && dir === undefined && output === undefined
}

/** @param {NodeJS.ProcessEnv} env */
function defaultDir(env) {
  // An outer run's folder is not for what stands alone.
  return (env[OUTER_RUN] ? '' : env[VARIABLES.dir]) || path.join('profiles', newName())
}

/** @param {string} file @param {string} option where it is from */
function absolute(file, option) {
  try {
    return path.resolve(file)
  } catch {
    throw new Error(`the working directory is gone; give a full path as ${option}`)
  }
}

/** Date, time and process id. */
function newName() {
  const now = new Date()
  /** @param {number[]} numbers */
  const digits = (...numbers) => numbers.map((n) => String(n).padStart(2, '0')).join('')
  const date = digits(now.getFullYear(), now.getMonth() + 1, now.getDate())
  return `${date}.${digits(now.getHours(), now.getMinutes(), now.getSeconds())}.${process.pid}`
}

/**
 * Wrong settings would stop every Node process of the command; they are found before it starts.
 * @param {Record<string, string>} settings @param {NodeJS.ProcessEnv} env
 */
function checkSettings(settings, env) {
  const isSet = (/** @type {string} */ variable) => Boolean(env[variable])
  // To load the addon takes a while, and mostly there is nothing to ask it.
  if (Object.keys(settings).length === 1 && !Object.values(VARIABLES).some(isSet)) return
  const wrong = require('../../lib/addon.js').load().checkSettings(settings)
  if (wrong === null) return
  // Settings go by their names in code.
  throw new Error(wrong.replace(/^(\w+)=/, asOption))
}

/** @param {string} all @param {string} name */
function asOption(all, name) {
  if (!(name in VARIABLES)) return all
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}=`
}

/**
 * After hours of a run is not the time to learn that its trace cannot be written.
 * @param {string} given @param {string} output the same, absolute
 */
function checkOutput(given, output) {
  const there = statOf(output)
  if (there?.isDirectory()) {
    const file = path.join(given, 'trace.json')
    throw new Error(`--output=${given} is a folder; name a file, as in ${file}`)
  }
  if (there && !there.isFile()) {
    throw new Error(`--output=${given} is no regular file; choose another`)
  }
  // What is missing will be made, in the first folder that is there.
  let parent = path.dirname(output)
  while (!statOf(parent) && parent !== path.dirname(parent)) parent = path.dirname(parent)
  if (statOf(parent)?.isDirectory() === false) {
    throw new Error(`--output=${given} cannot be written: ${parent} is no folder`)
  }
}

/** @param {string} file */
function statOf(file) {
  try {
    return fs.statSync(file)
  } catch {
    return undefined
  }
}

/** @param {string} file */
function notFound(file) {
  if (file.includes('/') && fs.existsSync(file)) {
    return `${file} cannot be run: the program that its first line names is not there`
  }
  const npx = file.includes('/') ? '' : '; is it a package of yours? Then: cpu-prof run npx …'
  return `there is no program ${file}${file.includes('/') ? '' : ' on the PATH'}${npx}`
}

/** @param {string} file */
function whyNothing(file) {
  return `no Node process was recorded: ${file} started none, or it took NODE_OPTIONS from them`
}

module.exports = { run }
