'use strict'

// Finds the processes under a command, and what is known about the Node processes among them.

const path = require('node:path')
const { VARIABLES } = require('../../variables.js')
const { PREFIX, outerRun } = require('../prepare/run-state-dir.js')
const {
  listPids,
  readExecutable,
  readIds,
  readStat,
  readVariable,
  readWords,
} = require('./proc.js')

const NODE_NAMES = ['node', 'nodejs']
/** The folder of a run's state, at the start of a preload's path. */
const STATE_DIR = new RegExp(`/(${PREFIX}\\w+)/\\.\\./`)
/** Time in which most processes run their own program, such as a shell's last command. */
const YOUNG_MS = 1000
/** Older processes are asked again in every so many looks. */
const SELDOM = 4
/** A replaced file's path ends in this. */
const DELETED = / \(deleted\)$/
const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'busybox']

/**
 * A process under the command.
 * @typedef {object} Descendant
 * @property {number} pid
 * @property {Descendant} [parent] when the process was first seen; none for the command itself
 * @property {number} startMs milliseconds after the system's start
 * @property {string} name
 * @property {boolean} isThere whether the pid was in use at the last look
 * @property {number} foundMs when the process was first seen, on the clock of `performance.now()`
 * @property {number} seenMs when the process was last seen running, on the same clock
 * @property {NodeFacts} [node] set if the process runs a program that is called `node`
 */

/**
 * @typedef {object} NodeFacts
 * @property {string} executable absolute path
 * @property {string[]} words of the command line
 * @property {number} namespacePid the pid by which the process knows itself
 * @property {number} user
 * @property {string | null} nodeOptions the variable; null without the variable
 * @property {'this' | 'other' | undefined} run the run whose preload is in NODE_OPTIONS
 * @property {string} [under] name of the last process above that had this run's preload, if the
 *   process does not
 */

/**
 * The folders by which a process is known as one of the run.
 * @typedef {object} RunDirs
 * @property {string} stateDir of the run, absolute
 * @property {string} recordingsDir where recordings are written, absolute
 */

/** Returns the processes under a command, as far as scans see them. @param {number} root pid of the command @param {RunDirs} runDirs */
function descendantsOf(root, runDirs) {
  /** All that were seen, by pid. Ended ones stay, as they tell whose child an orphan is. @type {Map<number, Descendant>} */
  const known = new Map()
  /** @type {Set<Descendant>} */
  const living = new Set()
  /** @type {Descendant[]} */
  const nodes = []
  /** Processes that are not under the command. @type {Set<number>} */
  let strangers = new Set()
  let looks = 0

  /** Looks at all processes once. Throws if /proc cannot be read. */
  function scan() {
    const pids = listPids()
    const seenMs = performance.now()
    const present = new Set(pids)
    for (const descendant of living) {
      descendant.isThere = present.has(descendant.pid)
      if (!descendant.isThere) living.delete(descendant)
      // A process that has ended has no executable, and stays until its parent notices.
      else if (descendant.node === undefined || readExecutable(descendant.pid) !== undefined) {
        descendant.seenMs = seenMs
      }
    }
    strangers = new Set(pids.filter((pid) => strangers.has(pid)))
    addNew(pids, seenMs)
    looks++
    for (const descendant of living) {
      const isYoung = seenMs - descendant.foundMs < YOUNG_MS
      if (descendant.node !== undefined || !(isYoung || looks % SELDOM === 0)) continue
      descendant.node = readNode(descendant, runDirs)
      if (descendant.node !== undefined) nodes.push(descendant)
    }
  }

  /** @param {number[]} pids @param {number} seenMs */
  function addNew(pids, seenMs) {
    /** @type {Map<number, import('./proc.js').Stat>} */
    const fresh = new Map()
    for (const pid of pids) {
      // Ids grow up to a limit: those below the command's were there before the command.
      if (looks === 0 && pid < root) strangers.add(pid)
      if (strangers.has(pid) || known.get(pid)?.isThere) continue
      const stat = readStat(pid)
      if (stat !== undefined) fresh.set(pid, stat)
    }
    /** Sorts a new process in, after its parent. @param {number} pid */
    const add = (pid) => {
      const stat = fresh.get(pid)
      if (stat === undefined) return
      fresh.delete(pid)
      add(stat.parent)
      // The id can be that of a process that has ended.
      known.delete(pid)
      // An orphan has another parent, but stays in the group that a process of the run created.
      const relatives = [stat.parent, stat.group, stat.session]
      const parent = known.get(relatives.find((id) => known.has(id)) ?? 0)
      if (pid !== root && parent === undefined) {
        strangers.add(pid)
        return
      }
      const { startMs, name } = stat
      const times = { startMs, foundMs: seenMs, seenMs }
      const descendant = { pid, parent, name, isThere: true, ...times }
      known.set(pid, descendant)
      living.add(descendant)
    }
    for (const pid of pids) add(pid)
  }

  return { scan, nodes }
}

/**
 * Returns what is known about a Node process; undefined if the process is none, or not yet.
 * @param {Descendant} descendant @param {RunDirs} runDirs @returns {NodeFacts | undefined}
 */
function readNode({ pid, parent, startMs }, runDirs) {
  const executable = readExecutable(pid)?.replace(DELETED, '')
  if (executable === undefined || !NODE_NAMES.includes(path.basename(executable))) return undefined
  const stat = readStat(pid)
  // The child of a Node process is a copy of Node until the child runs its own program.
  if (stat === undefined || stat.isCopy || stat.startMs !== startMs) return undefined
  const words = readWords(pid)
  const nodeOptions = readVariable(pid, 'NODE_OPTIONS')
  if (words.length === 0 || nodeOptions === undefined) return undefined
  const run = runOf(nodeOptions, runDirs)
  const facts = { executable, words, ...readIds(pid), nodeOptions }
  if (run !== undefined) return { ...facts, run }
  const holder = nearestHolder(parent, runDirs)
  return { ...facts, run: holder.run === 'other' ? 'other' : undefined, under: holder.name }
}

/**
 * Returns which run's preload is in NODE_OPTIONS. A run inside a run, with a folder of its own,
 * answers for its processes itself.
 * @param {string | null} nodeOptions @param {RunDirs} runDirs @returns {NodeFacts['run']}
 */
function runOf(nodeOptions, { stateDir, recordingsDir }) {
  if (nodeOptions === null) return undefined
  // The innermost run comes first.
  const name = STATE_DIR.exec(nodeOptions)?.[1]
  if (name === undefined) return undefined
  if (name === path.basename(stateDir)) return 'this'
  const run = outerRun({ NODE_OPTIONS: nodeOptions })
  return run?.variables[VARIABLES.dir] === recordingsDir ? 'this' : 'other'
}

/**
 * Finds the nearest process above that has a run's preload. The process, or a shell below, took
 * the preload away.
 * @param {Descendant | undefined} from @param {RunDirs} runDirs
 */
function nearestHolder(from, runDirs) {
  /** @type {string | undefined} */
  let name
  for (let process = from; process !== undefined; process = process.parent) {
    const run =
      process.node?.run ?? runOf(readVariable(process.pid, 'NODE_OPTIONS') ?? null, runDirs)
    if (run === undefined) continue
    name = nameOf(process)
    // A shell says little: the program that started the shell is better known.
    if (run === 'other' || !SHELLS.includes(name)) return { run, name }
  }
  return { run: undefined, name }
}

/** Returns the name of a process for people. @param {Descendant} process */
function nameOf({ pid, name, node }) {
  if (node === undefined) return readStat(pid)?.name ?? name
  const script = node.words.slice(1).find((word) => !word.startsWith('-'))
  // A program that sets its title has a single word: `npm run build`.
  const title = node.words[0].split(' ')[0]
  return path.basename(script ?? title).replace(/\.[cm]?js$/, '')
}

module.exports = { descendantsOf }
