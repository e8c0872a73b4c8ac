'use strict'

// Finds the runs in a folder: what `cpu-prof run` wrote there, one run after the other.

const fs = require('node:fs')
const path = require('node:path')

/** The folder of a run, as `cpu-prof run` names it: date, time and process id. */
const RUN_FOLDER = /^(\d{8}\.\d{6})\.(\d+)$/

/** The trace of a run. A later run with the same `--dir` writes `trace.2.json`, and so on. */
const RUN_TRACE = /^trace(?:\.(\d+))?\.json$/

/** The folder of one of several runs of a command, as `cpu-prof run --repeat` names it. */
const REPEATED = /^run-(\d+)$/

/** A file that can be a recording or a trace. */
const RECORDING = /\.(json|cpuprofile|trace)(\.gz)?$/i

/**
 * The last run in a folder.
 * @typedef {object} LastRun
 * @property {string} path of its folder or trace
 * @property {number} count of all runs
 * @property {boolean} hasOthers whether the folder also has other recordings
 */

/**
 * Returns the last of the runs in a folder; undefined if there is none.
 * @param {string} input a path @returns {LastRun | undefined}
 */
function lastRun(input) {
  const runs = runsIn(input)
  const last = runs.at(-1)
  if (last === undefined) return undefined
  const entries = list(input)
  const others = entries.filter((entry) => {
    return !isRunFolder(entry) && !runs.includes(path.join(input, entry.name))
  })
  return { path: last, count: runs.length, hasOthers: others.some((e) => hasRecording(input, e)) }
}

/**
 * Returns the runs of an input, the oldest first: those in a folder of runs, or the input itself.
 * @param {string} input a path
 */
function allRunsOf(input) {
  const runs = runsIn(input)
  return runs.length > 0 ? runs : [input]
}

/** Returns the runs in a folder, the oldest first; none if the path is not a folder of runs. @param {string} input @returns {string[]} */
function runsIn(input) {
  const entries = list(input)
  const folders = runFolders(input, entries)
  return folders.length === 0 ? runTraces(input, entries) : folders.flatMap(runsOf)
}

/**
 * Returns the inputs that stand for everything in a folder. Beside recordings, readers leave out
 * traces that are no inputs themselves; so those that can hold more than these recordings are.
 * @param {string} input a path
 */
function allRuns(input) {
  const entries = list(input)
  const folders = [input, ...runFolders(input, entries)]
  return [...folders.flatMap(ownTraces), input]
}

/** Returns the traces of runs in a folder; none if it has one with its recordings. @param {string} folder */
function ownTraces(folder) {
  const entries = list(folder)
  const traces = runTraces(folder, entries)
  const isOther = (/** @type {fs.Dirent} */ entry) =>
    !traces.includes(path.join(folder, entry.name))
  const hasOthers = entries.some((entry) => isOther(entry) && hasRecording(folder, entry))
  return traces.length > 1 || !hasOthers ? traces : []
}

/** Returns the paths of the runs in a run's own folder, mostly one. @param {string} folder */
function runsOf(folder) {
  const runs = runsIn(folder)
  return runs.length > 1 ? runs : [folder]
}

/** Returns the folders of runs, the oldest first. @param {string} parent @param {fs.Dirent[]} entries */
function runFolders(parent, entries) {
  return entries
    .filter((entry) => isRunFolder(entry) && hasRecording(parent, entry))
    .map(({ name }) => name)
    .sort(byStart)
    .map((name) => path.join(parent, name))
}

/** @param {fs.Dirent} entry */
function isRunFolder(entry) {
  return entry.isDirectory() && (RUN_FOLDER.test(entry.name) || REPEATED.test(entry.name))
}

/** Compares names of run folders. @param {string} a @param {string} b */
function byStart(a, b) {
  const [numberA, numberB] = [a, b].map((name) => Number(REPEATED.exec(name)?.[1] ?? 0))
  if (numberA !== numberB) return numberA - numberB
  const [[, timeA, pidA], [, timeB, pidB]] = [a, b].map((name) => RUN_FOLDER.exec(name) ?? [])
  // Of runs that started in one second, the system mostly gave the later one the higher id.
  return timeA === timeB ? Number(pidA) - Number(pidB) : timeA < timeB ? -1 : 1
}

/** Returns the traces that runs wrote into a folder, the oldest first. @param {string} folder @param {fs.Dirent[]} entries */
function runTraces(folder, entries) {
  const traces = entries.flatMap(({ name }) => {
    const number = RUN_TRACE.exec(name)
    return number ? [{ file: path.join(folder, name), number: Number(number[1] ?? 0) }] : []
  })
  // `merge --split` numbers the parts of one trace from 1.
  if (traces.some(({ number }) => number === 1)) return []
  // Not by the numbers alone: a run takes the first number that is free.
  const timed = traces.map((trace) => ({ ...trace, writtenMs: writtenMs(trace.file) }))
  timed.sort((a, b) => a.writtenMs - b.writtenMs || a.number - b.number)
  return timed.map(({ file }) => file)
}

/** Returns when a file was written. @param {string} file */
function writtenMs(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Returns whether a folder has a recording, also in folders below. @param {string} folder @returns {boolean} */
function hasRecordings(folder) {
  return list(folder).some((entry) => hasRecording(folder, entry))
}

/** Returns whether an entry is a recording, or a folder that has one. @param {string} parent @param {fs.Dirent} entry */
function hasRecording(parent, entry) {
  const { name } = entry
  // The same entries as the readers skip.
  if (name.startsWith('.') || name === 'node_modules') return false
  if (!entry.isDirectory()) return RECORDING.test(name)
  return hasRecordings(path.join(parent, name))
}

/** Returns the entries of a folder; none if the path is no folder, or cannot be read. @param {string} folder */
function list(folder) {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

module.exports = { lastRun, allRuns, allRunsOf, hasRecordings }
