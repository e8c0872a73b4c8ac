'use strict'

// Finds the recordings that `top` watches: of processes, of a run that goes on, or in folders.

const fs = require('node:fs')
const { severalText, withText } = require('../control/choose.js')
const { listArmed } = require('../control/processes.js')
const { isBelow, readParents } = require('../control/tree.js')
const { chooseInputs } = require('../report/inputs.js')
const { headersOf } = require('../run/prepare/recordings-dir.js')
const { listRunStates } = require('../run/prepare/run-state-dir.js')
const { RUNS, TRACE } = require('../../lib/settings.js')
const { isAlive, isSamePath, openFilesOf } = require('../system/index.js')
const { workingDirectory } = require('../terminal/format.js')

/** Time between two searches for the files of processes, milliseconds: a process can have many files. */
const SEARCH_MS = 4000

/**
 * @typedef {object} Target
 * @property {string} title
 * @property {() => Promise<string[]>} inputs returns files and folders, which can be others each time
 */

/**
 * Returns what the words name, or nothing if there is nothing to watch, which is told. Throws an error for
 * the user if a word names nothing, or a process has no recording.
 * @param {string[]} words @param {boolean} [hasTree] whether the children of processes belong to them
 * @returns {Promise<Target | undefined>}
 */
async function findTarget(words, hasTree = false) {
  if (words.length === 0) return lastTarget()
  const found = await Promise.all(words.map((word) => targetOf(word, hasTree)))
  return {
    title: found.map(({ title }) => title).join(' '),
    inputs: async () => (await Promise.all(found.map(({ inputs }) => inputs()))).flat(),
  }
}

/** @param {string} word @param {boolean} hasTree @returns {Promise<Target>} */
async function targetOf(word, hasTree) {
  const place = fs.statSync(word, { throwIfNoEntry: false })
  // The script of a process is a file too.
  const isOfRecordings = place?.isDirectory() || (place !== undefined && word.endsWith('.json'))
  const pid = isOfRecordings ? undefined : await findProcess(word, hasTree)
  if (pid !== undefined) {
    return { title: `process ${pid}`, inputs: await followProcess(pid, hasTree) }
  }
  if (place !== undefined) return { title: word, inputs: async () => [word] }
  throw new Error(
    `${word} does not exist: name a process by its pid or a text, or files or folders of recordings`,
  )
}

/** Returns the process id that a word is, or that of the armed process with the text. @param {string} word @param {boolean} hasTree */
async function findProcess(word, hasTree) {
  if (/^[1-9]\d*$/.test(word)) return Number(word)
  const world = { armed: await listArmed(), parents: readParents() }
  const found = withText(word, world, hasTree)
  if (found.length > 1) throw new Error(severalText(word, world, found, hasTree))
  return found[0]?.pid
}

/** Returns the newest run that was started here and goes on, or else the last one. @returns {Target | undefined} */
function lastTarget() {
  const cwd = workingDirectory()
  const [newest] = goingRuns()
    .filter(({ info }) => isSamePath(info.cwd, cwd))
    .sort((a, b) => b.startMs - a.startMs)
  if (newest !== undefined) {
    const { info, recordingsDir } = newest
    return { title: info.command.join(' '), inputs: async () => [recordingsDir] }
  }
  const inputs = chooseInputs([])
  return inputs.length === 0 ? undefined : { title: inputs.join(' '), inputs: async () => inputs }
}

/** Returns the runs that go on and record into their own folder. */
function goingRuns() {
  return listRunStates().flatMap((run) => {
    const folder = fs.statSync(run.recordingsDir, { throwIfNoEntry: false })
    const isGoing = folder !== undefined && !run.hasEnded && isAlive(run.info.pid)
    return isGoing ? [{ ...run, startMs: folder.birthtimeMs }] : []
  })
}

/**
 * Returns a function that returns the recordings of a process. Throws if there are none now.
 * @param {number} pid @param {boolean} hasTree @returns {Promise<() => Promise<string[]>>}
 */
async function followProcess(pid, hasTree) {
  if (!isAlive(pid)) throw new Error(`there is no process ${pid}; cpu-prof ps lists the armed ones`)
  const run = goingRuns().find(({ info }) => info.pid === pid)
  if (run !== undefined) return async () => [run.recordingsDir]
  let files = await findFiles(pid, hasTree)
  if (files.length === 0) throw new Error(await explainNone(pid, hasTree))
  let searchedMs = performance.now()
  return async () => {
    if (performance.now() - searchedMs > SEARCH_MS || !files.every(fs.existsSync)) {
      const found = await findFiles(pid, hasTree)
      // Those of a process that has ended stay on the screen.
      if (found.length > 0) files = found
      searchedMs = performance.now()
    }
    return files
  }
}

/** @param {number} pid @param {boolean} hasTree */
async function findFiles(pid, hasTree) {
  const pids = hasTree ? [pid, ...processesBelow(pid)] : [pid]
  const lists = pids.map(openFilesOf)
  if (!lists.includes(undefined)) {
    return lists.flatMap((list) => list ?? []).filter((file) => file.endsWith(TRACE))
  }
  // Where the system does not tell, the processes and the headers of recordings do.
  const armed = (await listArmed()).filter((one) => pids.includes(one.pid))
  const places = [RUNS, ...goingRuns().map(({ recordingsDir }) => recordingsDir)]
  const headers = headersOf(places.filter((place) => fs.existsSync(place)))
  const growing = headers.filter(({ isGrowing, pid }) => isGrowing && pids.includes(pid ?? 0))
  const files = armed.flatMap(({ status }) => status?.recording?.files ?? [])
  return [...new Set([...files, ...growing.map(({ file }) => file)])]
}

/** @param {number} pid */
function processesBelow(pid) {
  const parents = readParents()
  return [...parents.keys()].filter((child) => isBelow(child, pid, parents))
}

/** Returns why a process has no recording to watch, and what to do. @param {number} pid @param {boolean} hasTree */
async function explainNone(pid, hasTree) {
  const armed = (await listArmed()).some((one) => one.pid === pid)
  if (armed) {
    const start = `cpu-prof start ${pid}${hasTree ? ' --tree' : ''}`
    return `process ${pid} is armed, and not recording; to start it: ${start}`
  }
  const other = hasTree ? '' : ', or add --tree for its children'
  return (
    `process ${pid} is not recorded, or is another user's; record it from its start with ` +
    `cpu-prof run, or now with cpu-prof record ${pid}${other}`
  )
}

module.exports = { findTarget }
