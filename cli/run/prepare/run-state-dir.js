'use strict'

// The temporary folder with a run's state: the settings, and recordings while they grow.

// Watchers, and build tools that compare files, do not see recordings there.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')
const { TEMP_VARIABLE, isPrivate, patiently } = require('../../system/index.js')
const { listNames } = require('./recordings-dir.js')

/** The addon knows the folder by this start of its name. */
const PREFIX = 'cpu-prof-run-'
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

/** Creates the folder. Throws if that is not possible. */
function createRunStateDir() {
  const parent = path.resolve(os.tmpdir())
  let folder
  try {
    folder = fs.mkdtempSync(path.join(parent, PREFIX))
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(
      `no folder for the run can be created in ${parent}: ${message}; set ${TEMP_VARIABLE}`,
    )
  }
  if (!isPrivate(folder)) {
    attempt(() => fs.rmdirSync(folder))
    throw new Error(
      `a folder in ${parent} would not be this user's alone; set ${TEMP_VARIABLE} to another`,
    )
  }
  const file = path.join(folder, RUN_FILE)
  return {
    path: folder,
    id: path.basename(folder),
    /** The folder for recordings that may not grow in the project. */
    recordingsDir: path.join(folder, RECORDINGS),
    /** Begins the run. @param {RunInfo} info */
    begin: (info) => fs.writeFileSync(file, JSON.stringify(info), { flag: 'wx', mode: 0o600 }),
    /** Ends the run. The folder stays if it has recordings. */
    end() {
      const ended = path.join(folder, ENDED_FILE)
      attempt(() => fs.renameSync(file, ended))
      const recordings = path.join(folder, RECORDINGS)
      if (fs.existsSync(recordings) && !attempt(() => fs.rmdirSync(recordings))) return
      attempt(() => fs.unlinkSync(ended))
      attempt(() => fs.rmdirSync(folder))
    },
  }
}

/** Returns whether a change of the folder succeeded. @param {() => void} change */
function attempt(change) {
  try {
    patiently(change)
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
  const folder = loadTools().cpuProfRunFolder(NODE_OPTIONS)
  return folder === null ? undefined : readInfo(folder, RUN_FILE)
}

/**
 * Returns what a run wrote about itself; undefined if another user can have written it.
 * @param {string} folder @param {string} file its name @returns {RunInfo | undefined}
 */
function readInfo(folder, file) {
  const text = loadTools().cpuProfReadOwnFile(folder, file)
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

/** Returns the states of the runs of this machine, as far as their folders are there. */
function listRunStates() {
  const parent = path.resolve(os.tmpdir())
  return listNames(parent)
    .filter((name) => name.startsWith(PREFIX))
    .flatMap((name) => {
      const folder = path.join(parent, name)
      const current = readInfo(folder, RUN_FILE)
      const info = current ?? readInfo(folder, ENDED_FILE)
      if (info === undefined) return []
      const recordingsDir = path.join(folder, RECORDINGS)
      // Without an end, the run goes on or was killed.
      return [{ folder, recordingsDir, info, hasEnded: current === undefined }]
    })
}

module.exports = { PREFIX, createRunStateDir, outerRun, listRunStates }
