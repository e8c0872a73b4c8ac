'use strict'

// Names, checks and creates the folder where a run's trace and recordings stay.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')

/** Hides a new folder from version control and from watchers: a big trace is nothing for either. */
const IGNORE_FILE = '.gitignore'
const IGNORE_ALL = '*\n'

/**
 * Creates a folder if it is missing. Returns the outermost folder that was created, and the ignore
 * file that was written. `profiles` gets the file rather than each run below, because the nx daemon
 * ends when an ignore file appears in its workspace.
 * @param {string} dir
 */
function createFolder(dir) {
  const created = withoutPrefix(fs.mkdirSync(dir, { recursive: true }))
  const parent = path.dirname(dir)
  if (created === undefined || isIgnored(parent)) return { created }
  const ignoreFile = path.join(created === parent ? parent : dir, IGNORE_FILE)
  fs.writeFileSync(ignoreFile, IGNORE_ALL, { flag: 'wx' })
  return { created, ignoreFile }
}

/**
 * Returns a path as people write it: Windows gives its folders the prefix of long paths.
 * @param {string | undefined} file
 */
function withoutPrefix(file) {
  return file?.replace(/^\\\\\?\\(UNC(\\))?/, '$2$2')
}

/** Returns whether a folder is hidden already. @param {string} dir */
function isIgnored(dir) {
  const file = path.join(dir, IGNORE_FILE)
  // By the addon: somebody else can have made the file, and a pipe would never end.
  return loadTools().cpuProfReadRegularFile(file, IGNORE_ALL.length) === IGNORE_ALL
}

/** Returns the innermost folder of a path that exists, or the file there. @param {string} dir absolute */
function firstExisting(dir) {
  let existing = dir
  while (!fs.existsSync(existing) && existing !== path.dirname(existing)) {
    existing = path.dirname(existing)
  }
  return existing
}

/** Throws if a folder can neither be written nor created. @param {string} dir absolute */
function checkFolder(dir) {
  const existing = firstExisting(dir)
  try {
    fs.accessSync(existing, fs.constants.W_OK | fs.constants.X_OK)
    if (!fs.statSync(existing).isDirectory()) throw new Error(`${existing} is not a folder`)
  } catch (error) {
    const { code = '', message } = /** @type {NodeJS.ErrnoException} */ (error)
    const isReadOnly = ['EACCES', 'EROFS', 'EPERM'].includes(code)
    const why = isReadOnly ? `${existing} is read-only for this user` : message
    throw new Error(`the run cannot be written into ${dir}: ${why}; choose another --dir`)
  }
}

/**
 * Returns an absolute path. Throws if the working directory is gone.
 * @param {string} file @param {string} [option] the option that names the file
 */
function absolutePath(file, option) {
  try {
    return path.resolve(file)
  } catch {
    throw new Error(`the working directory no longer exists; use an absolute path for ${option}`)
  }
}

/** Returns a name of date, time and process id for the folder of a run. */
function newDirName() {
  const now = new Date()
  /** @param {number[]} numbers */
  const digits = (...numbers) => numbers.map((n) => String(n).padStart(2, '0')).join('')
  const date = digits(now.getFullYear(), now.getMonth() + 1, now.getDate())
  return `${date}.${digits(now.getHours(), now.getMinutes(), now.getSeconds())}.${process.pid}`
}

module.exports = {
  IGNORE_FILE,
  absolutePath,
  createFolder,
  withoutPrefix,
  firstExisting,
  checkFolder,
  newDirName,
}
