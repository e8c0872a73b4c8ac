'use strict'

// Finds the recordings that `top` watches: those of a process, of a run that goes on, or in a folder.

const fs = require('node:fs')
const { chooseInputs } = require('../report/inputs.js')
const { headersOf } = require('../run/prepare/recordings-dir.js')
const { listRunStates } = require('../run/prepare/run-state-dir.js')
const { RUNS } = require('../../lib/settings.js')
const { isSamePath, openFilesOf, takeSnapshot } = require('../system/index.js')
const { workingDirectory } = require('../terminal/format.js')

/** Time between two searches for the files of processes, milliseconds: a process can have many files. */
const SEARCH_MS = 4000
const TRACE = '.trace.json'

/**
 * @typedef {object} Target
 * @property {string} title
 * @property {() => string[]} inputs returns files and folders, which can be others each time
 */

/**
 * Returns what the words name, or nothing if there is nothing to watch, which is told. Throws an error for
 * the user if a process has no recording.
 * @param {string[]} words @param {boolean} [hasTree] whether the children of processes belong to them
 * @returns {Target | undefined}
 */
function findTarget(words, hasTree = false) {
  if (words.length === 0) return lastTarget()
  const isPid = (/** @type {string} */ word) => /^[1-9]\d*$/.test(word) && !fs.existsSync(word)
  const paths = words.filter((word) => !isPid(word))
  const ofProcesses = words.filter(isPid).map((word) => processFiles(Number(word), hasTree))
  return {
    title: words.map((word) => (isPid(word) ? `process ${word}` : word)).join(' '),
    inputs: () => [...paths, ...ofProcesses.flatMap((list) => list())],
  }
}

/** Returns the newest run that was started here and goes on, or else the last one. @returns {Target | undefined} */
function lastTarget() {
  const cwd = workingDirectory()
  const [newest] = goingRuns()
    .filter(({ info }) => isSamePath(info.cwd, cwd))
    .sort((a, b) => fs.statSync(b.recordingsDir).mtimeMs - fs.statSync(a.recordingsDir).mtimeMs)
  if (newest !== undefined) {
    const { info, recordingsDir } = newest
    return { title: `run ${info.command.join(' ')}`, inputs: () => [recordingsDir] }
  }
  const inputs = chooseInputs([])
  return inputs.length === 0 ? undefined : { title: inputs.join(' '), inputs: () => inputs }
}

/** Returns the runs that go on and record into their own folder. */
function goingRuns() {
  return listRunStates().filter(
    ({ hasEnded, info, recordingsDir }) =>
      !hasEnded && isAlive(info.pid) && fs.existsSync(recordingsDir),
  )
}

/** Returns a function that returns the recordings of a process. Throws if there is none now. @param {number} pid @param {boolean} hasTree @returns {() => string[]} */
function processFiles(pid, hasTree) {
  if (!isAlive(pid)) throw new Error(`there is no process ${pid}`)
  const run = goingRuns().find(({ info }) => info.pid === pid)
  if (run !== undefined) return () => [run.recordingsDir]
  let files = findFiles(pid, hasTree)
  let searched = Date.now()
  if (files.length === 0) {
    throw new Error(
      `process ${pid} has no growing recording${hasTree ? ', and none of its children has' : ''}: ` +
        'record it from its start with cpu-prof run, name the folder of its recordings, or add ' +
        '--tree for its children',
    )
  }
  return () => {
    if (Date.now() - searched > SEARCH_MS || files.some((file) => !fs.existsSync(file))) {
      const found = findFiles(pid, hasTree)
      // Those of a process that has ended stay on the screen.
      if (found.length > 0) files = found
      searched = Date.now()
    }
    return files
  }
}

/** @param {number} pid @param {boolean} hasTree */
function findFiles(pid, hasTree) {
  const pids = hasTree ? withDescendants(pid) : [pid]
  const lists = pids.map(openFilesOf)
  // Where the system does not tell, the headers of the recordings do.
  if (lists.includes(undefined)) {
    const places = [RUNS, ...goingRuns().map(({ recordingsDir }) => recordingsDir)]
    return headersOf(places.filter((place) => fs.existsSync(place)))
      .filter((header) => header.isGrowing && pids.includes(header.pid ?? 0))
      .map(({ file }) => file)
  }
  return lists.flatMap((list) => list ?? []).filter((file) => file.endsWith(TRACE))
}

/** @param {number} root */
function withDescendants(root) {
  const pids = [root]
  const { pids: all, readStat } = takeSnapshot()
  const parents = all.map((pid) => [pid, readStat(pid)?.parent])
  // The list grows while it is walked.
  for (const above of pids) {
    for (const [pid, parent] of parents) if (parent === above && pid) pids.push(pid)
  }
  return pids
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

module.exports = { findTarget }
