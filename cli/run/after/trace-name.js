'use strict'

// Finds the name of a run's trace in a folder that other runs use too, even at the same time.

const { randomUUID } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { patiently } = require('../../system/index.js')

/**
 * Returns the name under which a trace is written, hidden from people and tools. In a folder that
 * others share, a name that they can guess could be a link of theirs to any file.
 * @param {string} dir
 */
function hiddenName(dir) {
  return path.join(dir, `.trace.${randomUUID()}.json`)
}

/**
 * Gives a trace the first free name of `trace.json`, `trace.2.json` and so on. Returns the path.
 * @param {string} file in the folder of the trace
 */
function nameTrace(file) {
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'trace.json' : `trace.${number}.json`
    const target = path.join(path.dirname(file), name)
    if (moveUnlessTaken(file, target)) return target
  }
}

/** Returns false if the target exists. @param {string} file @param {string} target */
function moveUnlessTaken(file, target) {
  try {
    // Two runs can end at once, and a rename would replace the trace of the other.
    fs.linkSync(file, target)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    // Some file systems have no links.
    if (fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false
    patiently(() => fs.renameSync(file, target))
    return true
  }
  patiently(() => fs.unlinkSync(file))
  return true
}

module.exports = { hiddenName, nameTrace }
