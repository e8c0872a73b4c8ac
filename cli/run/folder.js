'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * Keeps a new folder out of version control, and out of the sight of what watches the sources:
 * a recording is written twice a second, and nx's daemon, for one, would look at the whole
 * workspace again each time.
 */
const HIDDEN = '.gitignore'

/**
 * The folder of a run. Made here, so that what is wrong with it is known before the command starts.
 * @param {string} dir absolute
 * @param {string} [name] the recordings' pattern, which may lead into folders of this one
 */
function openFolder(dir, name = '') {
  /** The outermost folder that was made. @type {string | undefined} */
  let made
  try {
    made = fs.mkdirSync(dir, { recursive: true })
    if (made !== undefined) fs.writeFileSync(path.join(dir, HIDDEN), '*\n')
    fs.accessSync(dir, fs.constants.W_OK | fs.constants.X_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(`recordings cannot be written into ${dir}: ${message}; choose another --dir`)
  }
  // No deeper than they can be: it may be somebody's whole workspace.
  const depth = name.split('/').length - 1
  // What is there already belongs to other runs.
  const others = new Set(made === undefined ? list(dir, depth) : [])

  return {
    /** What was recorded since, a file a thread, by name. */
    recordings() {
      const files = list(dir, depth).filter((file) => !others.has(file))
      const traces = files.filter((file) => file.endsWith('.trace.json'))
      // Where there are both, they hold the same.
      const chosen =
        traces.length > 0 ? traces : files.filter((file) => file.endsWith('.cpuprofile'))
      return chosen.sort().map((file) => path.join(dir, file))
    },
    isGone: () => !fs.existsSync(dir),
    /** Takes back what was made. */
    removeIfEmpty() {
      if (made === undefined || list(dir, 0).some((file) => file !== HIDDEN)) return
      try {
        // Not rmSync, which takes 5 ms to be loaded.
        fs.unlinkSync(path.join(dir, HIDDEN))
        for (let at = dir; at.length >= made.length; at = path.dirname(at)) fs.rmdirSync(at)
      } catch {
        // Not empty, or gone.
      }
    },
  }
}

/**
 * Whether a recording may get this path.
 * @param {string} file absolute @param {string} dir @param {string} name a valid pattern
 */
function mayBeRecorded(file, dir, name) {
  const stem = name
    .replace(/(\.trace\.json|\.cpuprofile)$/, '')
    .split(/(%.)/)
    .map((part) =>
      /^%[^%]/.test(part) ? '\\d+' : part.replace(/^%%$/, '%').replace(SPECIAL, '\\$&'),
    )
  // A name that is taken gets a number.
  const names = new RegExp(`^${stem.join('')}(\\.\\d{3,})?(\\.trace\\.json|\\.cpuprofile)$`)
  return names.test(path.relative(dir, file))
}

/** What a regular expression does not take as it is. */
const SPECIAL = /[\\^$.*+?()[\]{}|]/g

/**
 * What is in a folder, and in its folders down to a depth.
 * @param {string} dir @param {number} depth @param {string} [within] of the folder @returns {string[]}
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

module.exports = { openFolder, mayBeRecorded }
