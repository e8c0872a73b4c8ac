'use strict'

// Tells which Node processes under a run left no recording, and why.

const fs = require('node:fs')
const { headersOf } = require('../headers.js')
const { readStat } = require('../watch/proc.js')
const { withRegularFile } = require('../../regular-file.js')

/** @typedef {import('../watch/descendants.js').Descendant} Descendant */
/** @typedef {Descendant & { node: import('../watch/node-facts.js').NodeFacts }} NodeProcess */
/**
 * A process without a recording.
 * @typedef {object} Missing
 * @property {NodeProcess} process
 * @property {number} lifeMs from the process's start until the process was last seen
 * @property {boolean} isRunning
 * @property {string} why the likely cause, and what to do
 */

/** With these options Node runs no program in this process, and preloads nothing. */
const WITHOUT_PROGRAM = [
  '--version',
  '-v',
  '--v8-options',
  '--completion-bash',
  '--experimental-sea-config',
  '--build-sea',
  '--run',
  '--watch',
  '--watch-path',
]
/** Options whose value is the next word. */
const WITH_VALUE = ['-r', '--require', '--import', '-C', '--conditions', '--loader', '--title']
/** A living process that is younger may have its preload still ahead. */
const STARTING_MS = 5000
/** A process that ended sooner mostly ended before its preload. */
const SHORT_MS = 300
/** Every Node calls this function, or has it. Other programs that are called `node` do not. */
const NODE_SYMBOL = '_ZN4node5Start'
/** Node's symbols are in the first part of its executable, bytes. */
const SYMBOLS_END = 32 << 20
const BLOCK = 1 << 20

/**
 * Returns the Node processes of a run that left no recording, and the count of all. Finds none if
 * a recording does not tell its process.
 * @param {Descendant[]} nodes that were seen @param {string[]} recordings files
 * @returns {{ missing: Missing[], total: number }}
 */
function findMissing(nodes, recordings) {
  const headers = headersOf(recordings)
  if (headers.some(({ pid }) => pid === null)) return { missing: [], total: 0 }
  const recorded = new Set(headers.map(({ pid, startMs }) => keyOf(pid, startMs)))
  const clockStartMs = clockStart()
  const isTraced = recordings.every((file) => file.endsWith('.trace.json'))
  const missing = nodes.flatMap((descendant) => {
    const process = /** @type {NodeProcess} */ (descendant)
    const { node, startMs, seenMs } = process
    const isRecorded = [startMs, null].some((ms) => recorded.has(keyOf(node.namespacePid, ms)))
    if (isRecorded || node.run === 'other' || runsNoProgram(node.words)) return []
    const lifeMs = Math.max(0, seenMs - (startMs - clockStartMs))
    const isRunning = isAlive(process)
    // A `.cpuprofile` is written at the end: a killed or running process has none.
    const isLate = (isRunning && lifeMs < STARTING_MS) || !isTraced
    if (node.run === 'this' && isLate) return []
    if (!isNode(node.executable)) return []
    return [{ process, lifeMs, isRunning, why: whyMissing(node, lifeMs) }]
  })
  return { missing, total: recorded.size + missing.length }
}

/** @param {number | null} pid @param {number | null} startMs */
function keyOf(pid, startMs) {
  return `${pid} ${startMs}`
}

/** Returns when the clock of `performance.now()` started: milliseconds after the system's start. */
function clockStart() {
  return readStat(process.pid)?.startMs ?? 0
}

/** @param {Descendant} process */
function isAlive({ pid, startMs }) {
  const stat = readStat(pid)
  // The id can be that of a process that started later.
  return stat !== undefined && !stat.hasEnded && stat.startMs === startMs
}

/** Returns the options of Node itself on a command line. @param {string[]} words */
function optionsOf([, ...args]) {
  const options = []
  for (let at = 0; at < args.length && args[at].startsWith('-'); at++) {
    options.push(args[at])
    if (WITH_VALUE.includes(args[at])) at++
  }
  return options
}

/** @param {string[]} words */
function runsNoProgram(words) {
  return optionsOf(words).some((option) => WITHOUT_PROGRAM.includes(option.split('=')[0]))
}

/** @type {Map<string, boolean>} */
const executables = new Map()

/** Returns whether an executable is Node, whatever its name. @param {string} file */
function isNode(file) {
  const known = executables.get(file) ?? hasSymbol(file)
  executables.set(file, known)
  return known
}

/** @param {string} file */
function hasSymbol(file) {
  try {
    return withRegularFile(file, (fd) => {
      const block = Buffer.alloc(BLOCK + NODE_SYMBOL.length)
      for (let at = 0; at < SYMBOLS_END; at += BLOCK) {
        const length = fs.readSync(fd, block, 0, block.length, at)
        if (block.subarray(0, length).includes(NODE_SYMBOL)) return true
        if (length < block.length) return false
      }
      return false
    })
  } catch {
    // The file was removed, or replaced by one that is not readable.
    return false
  }
}

/**
 * Returns the likely cause, and what to do.
 * @param {import('../watch/node-facts.js').NodeFacts} node @param {number} lifeMs
 */
function whyMissing({ nodeOptions, run, under, words, user }, lifeMs) {
  if (user >= 0 && user !== process.getuid?.()) {
    return `another user's process takes no settings from this run; ${howToChangeUser(under)}`
  }
  if (nodeOptions === null) return `its environment has no NODE_OPTIONS; ${howToPassOn(under)}`
  if (run === undefined) {
    return 'its NODE_OPTIONS was replaced; add to the variable instead of replacing it'
  }
  const options = [...optionsOf(words), ...nodeOptions.split(' ')]
  if (options.some((option) => /^--(experimental-)?permission$/.test(option))) {
    return '--permission forbids the profiler; add --allow-addons and --allow-fs-read=*'
  }
  if (options.includes('--no-addons')) {
    return '--no-addons forbids the profiler; leave the option out'
  }
  if (options.includes('--build-snapshot')) return 'Node preloads nothing with --build-snapshot'
  return lifeMs < SHORT_MS
    ? 'ended before its preload, by a kill or by a wrong option of Node'
    : 'the preload failed (a line on stderr says why), or a kill came first'
}

/** @param {string} [under] name of the process that took NODE_OPTIONS away */
function howToPassOn(under) {
  if (under === 'turbo') return 'start turbo with --env-mode=loose'
  return 'pass NODE_OPTIONS on'
}

/** @param {string} [under] name of the process that changed the user */
function howToChangeUser(under) {
  return under === 'sudo' ? 'start cpu-prof under sudo' : 'start cpu-prof as that user'
}

module.exports = { findMissing }
