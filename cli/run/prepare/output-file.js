'use strict'

// Checks the files that a run is asked to write, before the command starts.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('../../../lib/addon.js')
const { absolutePath, firstExisting } = require('./output-dir.js')
const { patternIn } = require('./recordings-dir.js')

/**
 * Returns the absolute path of a file that can be written without replacing a recording.
 * @param {string} flag @param {string} given @param {{ dir: string, name?: string }} recordings
 */
function checkOutput(flag, given, { dir, name }) {
  const output = absolutePath(given, flag)
  const problem = outputProblem(flag, given, output)
  if (problem !== undefined) throw new Error(`${flag}=${given} ${problem}`)
  if (
    name &&
    loadTools().cpuProfIsRecordingName(patternIn(dir, name), path.relative(dir, output))
  ) {
    throw new Error(`${flag}=${given} is the name of a recording; choose another`)
  }
  return output
}

/** @param {string} flag @param {string} given @param {string} output the absolute path */
function outputProblem(flag, given, output) {
  const stat = statOf(output)
  const example = path.join(given, flag === '--html' ? 'report.html' : 'trace.json')
  if (stat?.isDirectory()) return `is a folder; name a file: ${example}`
  if (stat && !stat.isFile()) return 'is not a regular file; choose another'
  // Missing folders are created, inside the first folder that exists.
  const parent = firstExisting(path.dirname(output))
  const isFolder = statOf(parent)?.isDirectory() !== false
  return isFolder ? undefined : `cannot be written: ${parent} is not a folder`
}

/** @param {string} file */
function statOf(file) {
  try {
    return fs.statSync(file)
  } catch {
    return undefined
  }
}

module.exports = { checkOutput }
