'use strict'

// Measures the machine while specs run: how long a core stood still, load, and time that a hypervisor
// took.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const CLOCK = path.join(__dirname, 'core-clock.js')

/** @typedef {{ ms: number, core: number, stillMs: number }} Reading a second of a core; `ms` is its end */

/** Starts the measurement. */
function startMonitor() {
  const canPin = spawnSync('taskset', ['-c', '0', 'true']).status === 0
  const cores = canPin ? os.cpus().map((_, core) => core) : [0]
  /** @type {Reading[]} */
  const readings = []
  /** @type {{ ms: number, load: number }[]} */
  const loads = []
  const [stolenBefore, startMs] = [stolenMs(), Date.now()]
  const clocks = cores.map((core) => {
    const pinned = canPin ? ['taskset', '-c', String(core)] : []
    const [command, ...args] = [...pinned, process.execPath, CLOCK]
    const clock = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], env: {} })
    clock.on('error', () => {})
    clock.stdout.setEncoding('latin1').on('data', (/** @type {string} */ lines) => {
      for (const [, ms, stillMs] of lines.matchAll(/^(\d+) (\d+)$/gm)) {
        readings.push({ ms: Number(ms), core, stillMs: Number(stillMs) })
      }
    })
    clock.unref()
    return clock
  })
  const timer = setInterval(() => loads.push({ ms: Date.now(), load: os.loadavg()[0] }), 1000)
  timer.unref()
  return {
    /** Tells how the machine was in a time. @param {number} [fromMs] @param {number} [toMs] */
    describe: (fromMs = startMs, toMs = Date.now()) =>
      describe(readings, loads, { fromMs, toMs, startMs }),
    /** Ends the measurement, and tells how the machine was. */
    stop() {
      clearInterval(timer)
      for (const clock of clocks) clock.kill()
      const stolen = Math.max(0, stolenMs() - stolenBefore)
      const slice = { fromMs: startMs, toMs: Date.now(), startMs }
      return `${describe(readings, loads, slice)}, ${(stolen / 1000).toFixed(1)} s of steal time`
    },
  }
}

/**
 * @param {Reading[]} readings @param {{ ms: number, load: number }[]} loads
 * @param {{ fromMs: number, toMs: number, startMs: number }} slice
 */
function describe(readings, loads, { fromMs, toMs, startMs }) {
  // A reading is of the second before it.
  const isIn = (/** @type {{ ms: number }} */ { ms }) => ms >= fromMs && ms <= toMs + 1000
  const still = readings.filter(isIn).sort((a, b) => b.stillMs - a.stillMs)[0]
  const load = Math.max(0, ...loads.filter(isIn).map((each) => each.load))
  if (still === undefined) return `load ${load.toFixed(1)} at most`
  const at = ((still.ms - startMs) / 1000).toFixed()
  const core = `core ${still.core} stood still for ${still.stillMs} ms at most (second ${at})`
  return `${core}, load ${load.toFixed(1)} at most`
}

/** Returns the time that a hypervisor has taken from all cores, milliseconds; 0 where it is unknown. */
function stolenMs() {
  try {
    const TICK_MS = 10
    const [, ...fields] = fs.readFileSync('/proc/stat', 'latin1').split('\n')[0].split(/ +/)
    return Number(fields[7]) * TICK_MS
  } catch {
    return 0
  }
}

module.exports = { startMonitor, describe }
