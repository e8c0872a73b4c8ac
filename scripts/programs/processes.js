'use strict'

// Watches /proc, and tells which Node processes a command has started. Knows nothing of the profiler.

const fs = require('node:fs')
const path = require('node:path')

const POLL_MS = 10
/** Flag of a process that was forked, and still is a copy of its parent. */
const PF_FORKNOEXEC = 0x40
/** The unit of CPU times in /proc. */
const TICK_MS = 10

/**
 * A process that belongs to the command.
 * @typedef {object} Seen
 * @property {number} pid
 * @property {number} parent
 * @property {string} command the latest command line
 * @property {number} aliveMs when it was last seen alive
 * @property {number} [firstMs] when it was first seen as a Node process
 * @property {number} [lastMs] when it was last seen as a Node process
 * @property {number} cpuMs CPU time
 */

/**
 * Starts to watch the processes under this one, and those that work in a folder: a daemon can lose
 * its parent between two polls.
 * @param {string} dir
 */
function watchProcesses(dir) {
  /** Processes that are there now; null for those of others. @type {Map<number, Seen | null>} */
  const present = new Map()
  /** @type {Seen[]} */
  const all = []
  for (const pid of pids()) present.set(pid, null)
  const poll = () => {
    const now = performance.now()
    const listed = pids()
    const gone = new Set(present.keys())
    for (const pid of listed) gone.delete(pid)
    for (const pid of gone) present.delete(pid)
    for (const pid of listed.filter((pid) => !present.has(pid))) {
      const seen = identify(pid, present, dir)
      present.set(pid, seen)
      if (seen) all.push(seen)
    }
    for (const seen of present.values()) if (seen) look(seen, now)
  }
  const timer = setInterval(poll, POLL_MS)
  return {
    all,
    /** Returns the processes that are still alive. */
    living: () => [...present.values()].filter((seen) => seen !== null && state(seen.pid)),
    stop: () => clearInterval(timer),
  }
}

/** @typedef {ReturnType<typeof watchProcesses>} Watch */

/** @returns {number[]} in ascending order, so that parents mostly come before their children */
function pids() {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .sort((a, b) => a - b)
}

/**
 * Returns a new process if it belongs to the command, else null.
 * @param {number} pid @param {Map<number, Seen | null>} present @param {string} dir
 * @returns {Seen | null}
 */
function identify(pid, present, dir) {
  const parent = state(pid)?.parent ?? 0
  const cwd = read(() => fs.readlinkSync(`/proc/${pid}/cwd`)) ?? ''
  const isOurs =
    parent === process.pid || Boolean(present.get(parent)) || `${cwd}/`.startsWith(`${dir}/`)
  return isOurs ? { pid, parent, command: '', aliveMs: 0, cpuMs: 0 } : null
}

/** Notes what a process is at the moment. @param {Seen} seen @param {number} atMs */
function look(seen, atMs) {
  const now = state(seen.pid)
  const exe = read(() => fs.readlinkSync(`/proc/${seen.pid}/exe`))
  if (now === undefined || exe === undefined) return
  seen.aliveMs = atMs
  seen.cpuMs = now.cpuMs
  if (now.isCopy) return
  const command = read(() => fs.readFileSync(`/proc/${seen.pid}/cmdline`, 'utf8'))
  if (command) seen.command = command.split('\0').join(' ').trim()
  if (path.basename(exe) !== 'node') return
  seen.firstMs ??= atMs
  seen.lastMs = atMs
}

/** Reads a process's state. Returns undefined if it has ended. @param {number} pid */
function state(pid) {
  const stat = read(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === undefined) return undefined
  // The name, in brackets, can contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [letter, parent, , , , , flags] = fields
  // A zombie has ended, and nobody has waited for it yet.
  if (letter === 'Z') return undefined
  return {
    parent: Number(parent),
    isCopy: (Number(flags) & PF_FORKNOEXEC) !== 0,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
  }
}

/** Reads something of a process that can end at any moment. @template T @param {() => T} get */
function read(get) {
  try {
    return get()
  } catch {
    return undefined
  }
}

/** Ends processes that outlived their command. @param {Watch} watch */
async function endLiving(watch) {
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGKILL'])) {
    for (const seen of watch.living()) read(() => seen && process.kill(seen.pid, signal))
    for (let polls = 0; polls < 50 && watch.living().length > 0; polls++) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS * 2))
    }
  }
}

module.exports = { watchProcesses, endLiving }
