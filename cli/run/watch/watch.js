'use strict'

// Watches the processes under a command while the command runs, at a small and limited cost.

const path = require('node:path')
const system = require('../../system/index.js')
const { PREFIX, outerRun } = require('../prepare/run-state-dir.js')

/** The first look: a Node program takes longer to start. */
const FIRST_MS = 30
/** Shortest time between two looks. */
const MIN_PAUSE_MS = 50
/** CPU time that may be spent at any time, so that the beginning of a run is watched closely. */
const FREE_US = 30_000
/** Share of the run's time that may be spent beyond that. */
const SHARE = 0.004
/** The id of the innermost run, which comes first in NODE_OPTIONS. */
const RUN = new RegExp(`${PREFIX}\\w+`)

/** @typedef {import('../../system/index.js').Snapshot} Snapshot */

/**
 * A process under the command.
 * @typedef {object} Descendant
 * @property {number} pid
 * @property {Descendant} [parent] when the process was first seen; none for the command itself
 * @property {Descendant[]} children that were seen, also those that have ended
 * @property {number} startMs as the system tells
 * @property {number} lifeMs from the start until the process was last seen running
 * @property {boolean} isRunning at the last look
 * @property {number} cpuMs CPU time when the process was last seen; 0 where the system does not tell
 * @property {boolean} [hasNone] whether it was waited in vain for a recording of the process
 * @property {NodeProcess} [node] set if the process runs a program that is called `node`
 *
 * @typedef {object} Origin
 * @property {'this' | 'other'} [run] the run whose preload is in NODE_OPTIONS
 * @property {string} [under] name of the nearest Node process above that has a run's preload, if the
 *   process has none
 *
 * @typedef {import('../../system/index.js').NodeFacts & Origin} NodeProcess
 * @typedef {Descendant & { node: NodeProcess }} Seen
 */

/**
 * Begins to watch. Returns a function that looks a last time, and returns the Node processes that were
 * seen: none where the system does not tell about processes.
 * @param {number} root pid of the command @param {string} id of the run
 * @param {() => Snapshot} takeSnapshot
 */
function watch(root, id, takeSnapshot = system.takeSnapshot) {
  const beganMs = performance.now()
  const cpuAtStart = process.cpuUsage()
  /** All that were seen, by pid. Ended ones stay, as they tell whose child an orphan is. @type {Map<number, Descendant>} */
  const known = new Map()
  /** @type {Seen[]} */
  const nodes = []
  /** The ids of all processes at the last look. @type {Set<number> | undefined} */
  let present

  /** Looks once, and again after a pause that keeps the cost within its limits. */
  function look() {
    try {
      scan()
    } catch {
      // The system does not tell about processes, or the command removed this package.
      return
    }
    // All that this process spends, since it only waits for the command otherwise.
    const { user, system } = process.cpuUsage(cpuAtStart)
    const affordableAtMs = beganMs + (user + system - FREE_US) / 1000 / SHARE
    lookAfter(Math.max(MIN_PAUSE_MS, affordableAtMs - performance.now()))
  }

  /** @type {NodeJS.Timeout} */
  let timer
  const lookAfter = (/** @type {number} */ ms) => {
    // The command alone decides how long this process lives.
    timer = setTimeout(look, ms).unref()
  }
  lookAfter(FIRST_MS)

  function scan() {
    const snapshot = takeSnapshot()
    const { pids } = snapshot
    const before = present ?? new Set(snapshot.pidsBefore(root))
    present = new Set(pids)
    // A child can have a lower id than its parent.
    let rest = pids.filter((pid) => !before.has(pid))
    for (let count = Infinity; rest.length < count; ) {
      count = rest.length
      rest = rest.filter((pid) => !add(pid, snapshot))
    }
    for (const pid of rest) addDaemon(pid, snapshot)
    // When the clock of `performance.now()` started, by the clock of the starts.
    const clockStartMs = Number(snapshot.readStat(process.pid)?.startMs)
    for (const descendant of known.values()) {
      const { pid, startMs } = descendant
      // A process that has ended has no executable, and stays until its parent notices.
      const executable = present.has(pid) ? snapshot.readExecutable(pid) : undefined
      descendant.isRunning = executable !== undefined
      if (present.has(pid)) descendant.cpuMs = snapshot.readStat(pid)?.cpuMs ?? 0
      if (executable === undefined) continue
      descendant.lifeMs = Math.max(0, clockStartMs + performance.now() - startMs)
      if (descendant.node === undefined) {
        addNode(descendant, snapshot.readNode(pid, executable, startMs))
      }
    }
  }

  /**
   * Adds a new process, if it is under the command. Returns whether it is known now.
   * @param {number} pid @param {Snapshot} snapshot
   */
  function add(pid, snapshot) {
    // The id can be that of a process that has ended.
    known.delete(pid)
    const stat = snapshot.readStat(pid)
    if (stat === undefined) return false
    const { startMs, ...ids } = stat
    // An orphan has another parent, but stays in the group that a process of the run created.
    const relative = [ids.parent, ids.group, ids.session].find((id) => known.has(id))
    const parent = known.get(relative ?? 0)
    if (parent === undefined && pid !== root) return false
    remember({ pid, parent, startMs })
    return true
  }

  /** @param {Pick<Descendant, 'pid' | 'parent' | 'startMs'>} facts */
  function remember(facts) {
    const descendant = { ...facts, children: [], lifeMs: 0, isRunning: true, cpuMs: 0 }
    known.set(facts.pid, descendant)
    facts.parent?.children.push(descendant)
  }

  /**
   * Adds a new Node process that is in a session of its own, and whose parent has ended before anybody saw both: its
   * environment tells the run.
   * @param {number} pid @param {Snapshot} snapshot
   */
  function addDaemon(pid, snapshot) {
    const executable = snapshot.readExecutable(pid)
    const stat = executable === undefined ? undefined : snapshot.readStat(pid)
    if (executable === undefined || stat === undefined) return
    const facts = snapshot.readNode(pid, executable, stat.startMs)
    if (runOf(facts?.nodeOptions ?? '', id) !== 'this') return
    remember({ pid, startMs: stat.startMs })
  }

  /** @param {Descendant} descendant @param {import('../../system/index.js').NodeFacts} [facts] */
  function addNode(descendant, facts) {
    if (facts === undefined) return
    const run = runOf(facts.nodeOptions ?? '', id)
    let above = descendant.parent
    while (above !== undefined && above.node?.run === undefined) above = above.parent
    const under = run === undefined && above?.node ? nameOf(above.node) : undefined
    const node = { ...facts, run, under }
    const seen = Object.assign(descendant, { node })
    // A run inside a run, with a folder of its own, answers for its processes itself.
    if ((run ?? above?.node?.run) !== 'other') nodes.push(seen)
  }

  return () => {
    clearTimeout(timer)
    // Not for a command that ended before the first look.
    if (present !== undefined) look()
    clearTimeout(timer)
    return nodes
  }
}

/** Returns which run's preload is in NODE_OPTIONS. @param {string} nodeOptions @param {string} id @returns {Origin['run']} */
function runOf(nodeOptions, id) {
  const name = RUN.exec(nodeOptions)?.[0]
  if (name === undefined) return undefined
  // A run that is part of this one has the same id.
  return name === id || outerRun({ NODE_OPTIONS: nodeOptions })?.id === id ? 'this' : 'other'
}

/** Returns the name of a process for people. @param {NodeProcess} node */
function nameOf({ words }) {
  const script = words.slice(1).find((word) => !word.startsWith('-'))
  // A program that sets its title has a single word: `npm run build`.
  return path.basename(script ?? words[0].split(' ')[0]).replace(/\.[cm]?js$/, '')
}

module.exports = { watch }
