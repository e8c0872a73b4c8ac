'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { readMerged } = require('./merged.js')

/** Returns the merged traces of the runs under a folder. @param {string} cwd */
function runTraces(cwd) {
  const profiles = path.join(cwd, 'profiles')
  const runs = fs.readdirSync(profiles).filter((name) => name !== '.gitignore')
  return runs.map((run) => path.join(profiles, run, 'trace.json'))
}

/**
 * @typedef {{ pid: number, tid: number, url: string, name: string, functions: Set<string>, startUs: number }} Thread
 *   `url`: the label of the process
 */

/** Reads and checks a merged trace, and returns its threads. @param {string} file @returns {Promise<Thread[]>} */
async function readThreads(file) {
  return (await readMerged(file)).threads
}

module.exports = { runTraces, readThreads }
