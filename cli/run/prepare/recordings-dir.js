'use strict'

// Opens the folder where a run's recordings grow, and finds the recordings in it.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')
const { parsed } = require('../../../lib/json-result.js')
const { TRACE } = require('../../../lib/settings.js')
const { IGNORE_FILE, createFolder } = require('./output-dir.js')

/**
 * What is known of one file of a recording.
 * @typedef {object} Header
 * @property {string} file
 * @property {number | null} pid as the process itself sees its id; null if nothing tells it
 * @property {number | null} [thread] Node's thread id, 0 for the main thread
 * @property {number | null} startMs as the system tells
 * @property {number | null} [parentPid]
 * @property {string | null} [cwd] working directory of the process
 * @property {string | null} run the id of the run that the process belonged to
 * @property {string | null} recording what the segments of one recording have in common
 * @property {boolean} isGrowing whether a living process still writes the file
 */

/** Returns the headers of files, and of the files in folders. @param {string[]} files @returns {Header[]} */
const headersOf = (files) => parsed(loadTools().cpuProfHeaders(files))

/**
 * Creates the folder if it is missing. Throws if recordings cannot be written into it.
 * @param {string} dir absolute
 * @param {string} run the id of the run; others can record into the folder at the same time
 * @param {string} [name] the pattern of the recordings' names, which can lead into other folders
 */
function openRecordingsDir(dir, run, name = '') {
  /** @type {ReturnType<typeof createFolder>} */
  let made
  try {
    made = createFolder(dir)
    fs.accessSync(dir, fs.constants.W_OK | fs.constants.X_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(`recordings cannot be written into ${dir}: ${message}; choose another --dir`)
  }
  const outside = placeOutside(dir, name)
  // Not the whole tree: the folder can be a user's workspace.
  const inside = { at: dir, depth: outside ? 0 : depthOf(patternIn(dir, name)) }
  const listAll = () => [...filesAt(inside), ...(outside ? filesAt(outside) : [])]
  // Files of other runs.
  const earlier = new Set(listAll())

  return {
    /** The folder that the recordings' names lead to. */
    path: outside?.at ?? dir,
    /** Returns the files recorded since, sorted by name. @returns {Header[]} */
    listRecordings() {
      const isRecording = (/** @type {string} */ file) =>
        file.endsWith(TRACE) || file.endsWith('.cpuprofile')
      const files = listAll().filter((file) => isRecording(file) && !earlier.has(file))
      return headersOf(files.sort()).filter((header) => [null, run].includes(header.run))
    },
    isGone: () => !fs.existsSync(dir),
    /** Removes the folders that were created, if they are empty. */
    removeIfEmpty() {
      const { created, ignoreFile } = made
      if (created === undefined || listNames(dir).some((file) => file !== IGNORE_FILE)) return
      try {
        // rmSync would take 5 ms to load.
        if (ignoreFile !== undefined) fs.unlinkSync(ignoreFile)
        for (let at = dir; at.length >= created.length; at = path.dirname(at)) fs.rmdirSync(at)
      } catch {
        // A folder is not empty, or no longer exists.
      }
    },
  }
}

/**
 * A folder with recordings.
 * @typedef {object} Place
 * @property {string} at absolute
 * @property {number} depth levels of subfolders in which recordings can be
 * @property {string} [pattern] of the recordings' paths in the folder, if it has other files too
 */

/**
 * Returns where the recordings are, if their names lead out of `dir`: the last folder without a
 * placeholder.
 * @param {string} dir @param {string} name @param {path.PlatformPath} [paths] @returns {Place | undefined}
 */
function placeOutside(dir, name, paths = path) {
  if (!leadsOut(dir, name, paths)) return undefined
  const whole = paths.resolve(dir, name)
  const { root } = paths.parse(whole)
  const parts = slashed(whole.slice(root.length), paths).split('/')
  const first = parts.findIndex((part) => /%|\$\{pid\}/.test(part))
  const end = first === -1 ? parts.length - 1 : Math.min(first, parts.length - 1)
  const pattern = parts.slice(end).join('/')
  return { at: paths.join(root, ...parts.slice(0, end)), depth: depthOf(pattern), pattern }
}

/**
 * Returns a pattern of names, relative to `dir` and in its shortest form. The addon's patterns have
 * slashes on all systems.
 * @param {string} dir @param {string} name @param {path.PlatformPath} [paths]
 */
function patternIn(dir, name, paths = path) {
  return slashed(paths.relative(dir, paths.resolve(dir, name)), paths)
}

/** Returns whether names lead out of a folder. @param {string} dir @param {string} name @param {path.PlatformPath} [paths] */
function leadsOut(dir, name, paths = path) {
  const pattern = patternIn(dir, name, paths)
  // No relative path leads to another drive.
  return pattern.startsWith('../') || paths.isAbsolute(pattern)
}

/** Returns a path of this system with slashes in place of its separators. @param {string} file @param {path.PlatformPath} [paths] */
function slashed(file, { sep } = path) {
  return file.replaceAll(sep, '/')
}

/** @param {string} pattern */
function depthOf(pattern) {
  return pattern.split('/').length - 1
}

/** Returns the absolute paths of the files that can be recordings. @param {Place} place */
function filesAt({ at, depth, pattern }) {
  const files = listNames(at, depth)
  const chosen =
    pattern === undefined
      ? files
      : files.filter((file) => loadTools().cpuProfIsRecordingName(pattern, slashed(file)))
  return chosen.map((file) => path.join(at, file))
}

/**
 * Lists the entries of a folder and of its subfolders down to a depth, relative to the folder. A folder
 * that cannot be read has none.
 * @param {string} dir @param {number} [depth] @param {string} [within] a subfolder @returns {string[]}
 */
function listNames(dir, depth = 0, within = '') {
  let entries
  try {
    entries = fs.readdirSync(path.join(dir, within), { withFileTypes: true })
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    const name = path.join(within, entry.name)
    return depth > 0 && entry.isDirectory() ? listNames(dir, depth - 1, name) : [name]
  })
}

module.exports = {
  headersOf,
  openRecordingsDir,
  placeOutside,
  listNames,
  patternIn,
  leadsOut,
  slashed,
}
