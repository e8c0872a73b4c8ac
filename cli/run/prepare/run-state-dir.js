'use strict'

// Creates the temporary folder of a run, which has the settings and the growing recordings.

// Watchers, and build tools that compare files, do not see recordings there.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')

/** The addon knows a run's folder by this name. */
const NAME = 'cpu-prof-run-'
/** Lasts as long as the run: a process that starts without this file is not recorded. */
const RUN_FILE = 'run.json'
/** The same, if the run is over and a process of the run goes on with its recording. */
const ENDED_FILE = 'ended.json'
const RECORDINGS = 'recordings'

/**
 * The contents of the file.
 * @typedef {object} RunInfo
 * @property {string} id of the run, in the recordings; a run within a run has the id of the outer
 * @property {Record<string, string>} variables the settings of the run's processes
 * @property {number} pid of `cpu-prof run`
 * @property {string} cwd where the run was started
 * @property {string[]} command
 */

/** Creates the folder of a run. Throws if that is not possible. */
function createRunFolder() {
  const parent = path.resolve(os.tmpdir())
  let folder
  try {
    folder = fs.mkdtempSync(path.join(parent, NAME))
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(`no folder for the run can be created in ${parent}: ${message}; set TMPDIR`)
  }
  if (!isPrivate(folder)) {
    attempt(() => fs.rmdirSync(folder))
    throw new Error(`a folder in ${parent} would not be this user's alone; set TMPDIR to another`)
  }
  const file = path.join(folder, RUN_FILE)
  return {
    path: folder,
    id: path.basename(folder),
    /** The folder for recordings that may not grow in the project. */
    recordings: path.join(folder, RECORDINGS),
    /** Begins the run. @param {RunInfo} info */
    begin: (info) => fs.writeFileSync(file, JSON.stringify(info), { flag: 'wx', mode: 0o600 }),
    /** Ends the run. The folder stays if it has recordings. */
    end() {
      const ended = path.join(folder, ENDED_FILE)
      attempt(() => fs.renameSync(file, ended))
      if (!attempt(() => removeFolder(path.join(folder, RECORDINGS)))) return
      attempt(() => fs.unlinkSync(ended))
      attempt(() => fs.rmdirSync(folder))
    },
  }
}

/**
 * Returns whether the addon will read a new folder. Some file systems give all files to one user, or
 * let all users write.
 * @param {string} folder
 */
function isPrivate(folder) {
  const { uid, mode } = fs.lstatSync(folder)
  return uid === process.geteuid?.() && (mode & 0o022) === 0
}

/** Removes an empty folder, which need not exist. @param {string} folder */
function removeFolder(folder) {
  if (fs.existsSync(folder)) fs.rmdirSync(folder)
}

/** Returns whether a change of the folder succeeded. @param {() => void} change */
function attempt(change) {
  try {
    change()
    return true
  } catch {
    return false
  }
}

/**
 * Returns what a run wrote about itself, if the environment belongs to a run that has not ended.
 * @param {NodeJS.ProcessEnv} env @returns {RunInfo | undefined}
 */
function outerRun({ NODE_OPTIONS = '' }) {
  // Most commands need no addon, which takes milliseconds to load.
  if (!NODE_OPTIONS.includes(NAME)) return undefined
  const folder = loadTools().cpuProfRunFolder(NODE_OPTIONS)
  return folder === null ? undefined : readInfo(folder, RUN_FILE)
}

/**
 * Returns what a run wrote about itself; undefined if another user can have written it.
 * @param {string} folder @param {string} file its name @returns {RunInfo | undefined}
 */
function readInfo(folder, file) {
  const text = loadTools().cpuProfReadRunFile(folder, file)
  if (text === null) return undefined
  try {
    const info = JSON.parse(text)
    return isRunInfo(info) ? info : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a value has the shape of the file's contents. @param {any} info */
function isRunInfo(info) {
  const isText = (/** @type {unknown} */ value) => typeof value === 'string'
  const { id, variables, pid, cwd, command } = info
  return (
    [id, cwd].every(isText) &&
    Number.isInteger(pid) &&
    pid > 0 &&
    Array.isArray(command) &&
    [...command, ...Object.values(variables)].every(isText)
  )
}

/**
 * A run that left recordings nobody merges.
 * @typedef {object} Remains
 * @property {string} folder of the run
 * @property {string} recordings their folder
 * @property {string[]} command
 * @property {boolean} wasKilled `cpu-prof run` was killed before it merged them; else a process
 *   went on when the run was over, and has ended since
 */

/**
 * Returns the runs of this folder that left recordings, to which nobody adds.
 * @param {string} cwd @returns {Remains[]}
 */
function findRemains(cwd) {
  const parent = path.resolve(os.tmpdir())
  return namesIn(parent)
    .filter((name) => name.startsWith(NAME))
    .flatMap((name) => remainsIn(path.join(parent, name), cwd))
}

/** @param {string} folder @param {string} cwd @returns {Remains[]} */
function remainsIn(folder, cwd) {
  const killed = readInfo(folder, RUN_FILE)
  const info = killed ?? readInfo(folder, ENDED_FILE)
  if (info?.cwd !== cwd) return []
  const recordings = path.join(folder, RECORDINGS)
  if (namesIn(recordings).every((name) => name.startsWith('.'))) return []
  if (killed === undefined ? grows(recordings) : isAlive(killed.pid)) return []
  return [{ folder, recordings, command: info.command, wasKilled: killed !== undefined }]
}

/** Returns whether a process that has a recording in the folder is alive. @param {string} folder */
function grows(folder) {
  /** @type {{ pid: number }[] | null} */
  const recorders = loadTools().cpuProfRecorders([folder])
  return recorders?.some(({ pid }) => isAlive(pid)) ?? false
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

module.exports = { NAME, createRunFolder, outerRun, findRemains }
