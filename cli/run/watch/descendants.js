'use strict'

// Finds the processes under a command, and the Node processes among them.

const { readNode } = require('./node-facts.js')
const { listPids, readExecutable, readStat } = require('./proc.js')

/** @typedef {import('./node-facts.js').NodeFacts} NodeFacts */
/** @typedef {import('./node-facts.js').RunDirs} RunDirs */

/** Time in which most processes run their own program, such as a shell's last command. */
const YOUNG_MS = 1000
/** Older processes are asked again in every so many looks. */
const SELDOM = 4

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

module.exports = { descendantsOf }
