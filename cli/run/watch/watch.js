'use strict'

// Watches the processes under a command while the command runs, at a small and limited cost.

const { isProcReadable } = require('./proc.js')

/** @typedef {import('./descendants.js').Descendant} Descendant */
/** @typedef {import('./node-facts.js').RunDirs} RunDirs */

/** The first look: a Node program takes longer to start. */
const FIRST_MS = 30
/** Shortest time between two looks. */
const MIN_PAUSE_MS = 50
/** CPU time that may be spent at any time, so that the beginning of a run is watched closely. */
const FREE_US = 30_000
/** Share of the run's time that may be spent beyond that. */
const SHARE = 0.004

/** Returns a watcher, which does nothing where /proc does not tell about processes. @param {RunDirs} runDirs */
function createWatcher(runDirs) {
  /** @type {ReturnType<import('./descendants.js')['descendantsOf']> | undefined} */
  let descendants
  let beganMs = 0
  let cpuAtStart = process.cpuUsage()
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  /** @param {number} pid */
  function watch(pid) {
    beganMs = performance.now()
    cpuAtStart = process.cpuUsage()
    try {
      if (!isProcReadable()) return
      // Loaded while the command runs, which must not wait for a watcher.
      descendants = require('./descendants.js').descendantsOf(pid, runDirs)
      look()
    } catch {
      // For example, the command removed this package.
      descendants = undefined
    }
  }

  /** Looks once, and again after a pause that keeps the cost within its limits. */
  function look() {
    try {
      descendants?.scan()
    } catch {
      descendants = undefined
    }
    if (descendants === undefined) return
    // All that this process spends, since it only waits for the command otherwise.
    const { user, system } = process.cpuUsage(cpuAtStart)
    const affordableAtMs = beganMs + (user + system - FREE_US) / 1000 / SHARE
    startTimer(look, Math.max(MIN_PAUSE_MS, affordableAtMs - performance.now()))
  }

  /** @param {() => void} callback @param {number} ms */
  function startTimer(callback, ms) {
    timer = setTimeout(callback, ms)
    // The command alone decides how long this process lives.
    timer.unref()
  }

  return {
    /** Begins to watch soon. @param {number} pid of the command */
    begin(pid) {
      startTimer(() => watch(pid), FIRST_MS)
    },
    /** Looks a last time, and returns the Node processes that were seen. @returns {Descendant[]} */
    end() {
      look()
      clearTimeout(timer)
      return descendants?.nodes ?? []
    },
  }
}

module.exports = { createWatcher }
