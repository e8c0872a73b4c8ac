'use strict'

// Opens the folder of a run, and finds the run's recordings in it.

const fs = require('node:fs')
const path = require('node:path')

/**
 * Hides a new folder from version control and from file watchers. A recording is written twice a
 * second, and a watcher such as nx's daemon would scan the whole workspace each time.
 */
const IGNORE_FILE = '.gitignore'

/**
 * Creates the folder if it is missing. Throws if recordings cannot be written into it.
 * @param {string} dir absolute
 * @param {string} [name] the pattern of the recordings' names, which can hold subfolders
 */
function openFolder(dir, name = '') {
  /** The outermost folder that was created. @type {string | undefined} */
  let created
  try {
    created = fs.mkdirSync(dir, { recursive: true })
    if (created !== undefined) fs.writeFileSync(path.join(dir, IGNORE_FILE), '*\n')
    fs.accessSync(dir, fs.constants.W_OK | fs.constants.X_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(`recordings cannot be written into ${dir}: ${message}; choose another --dir`)
  }
  // Not the whole tree: the folder can be a user's workspace.
  const depth = name.split('/').length - 1
  // Files of other runs.
  const earlier = new Set(created === undefined ? list(dir, depth) : [])

  return {
    /** Returns the files recorded since, one for each thread, sorted by name. */
    recordings() {
      const files = list(dir, depth).filter((file) => !earlier.has(file))
      const traces = files.filter((file) => file.endsWith('.trace.json'))
      // With both formats, each thread has a file of either kind.
      const chosen =
        traces.length > 0 ? traces : files.filter((file) => file.endsWith('.cpuprofile'))
      return chosen.sort().map((file) => path.join(dir, file))
    },
    isGone: () => !fs.existsSync(dir),
    /** Removes the folders that were created, if they are empty. */
    removeIfEmpty() {
      if (created === undefined || list(dir, 0).some((file) => file !== IGNORE_FILE)) return
      try {
        // rmSync would take 5 ms to load.
        fs.unlinkSync(path.join(dir, IGNORE_FILE))
        for (let at = dir; at.length >= created.length; at = path.dirname(at)) fs.rmdirSync(at)
      } catch {
        // A folder is not empty, or no longer exists.
      }
    },
  }
}

/**
 * Lists the entries of a folder and of its subfolders down to a depth, relative to the folder.
 * @param {string} dir @param {number} depth @param {string} [within] a subfolder @returns {string[]}
 */
function list(dir, depth, within = '') {
  return read(path.join(dir, within)).flatMap((entry) => {
    const name = path.join(within, entry.name)
    return depth > 0 && entry.isDirectory() ? list(dir, depth - 1, name) : [name]
  })
}

/** @param {string} dir */
function read(dir) {
  try {
    return fs.readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}

module.exports = { openFolder }
