'use strict'

// Compares an idle server, and other loads with waits, without a profiler, with the built-in and with
// cpu-prof: node bench/idle.js [seconds] [load,…] [rounds]. Linux only. `visits` is a server that answers one
// request a second.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { PACKAGE, rounds, median } = require('./measure.js')

const LOAD = path.join(PACKAGE, '__test__', 'fixtures', 'load.js')
const seconds = Number(process.argv[2] ?? 20)
const loads = (process.argv[3] ?? 'idle,bursts,tls,zlib,busy').split(',')
const count = Number(process.argv[4] ?? 3)

/** @typedef {{ from: number, to: number, wallUs: number, cpuUs: number, waitUs: number, switches: number, processCpuUs: number, utilization: number }} Own */

/** @param {string} load @param {string} where @param {{ nodeArgs: string[], env: NodeJS.ProcessEnv }} variant @param {string} dir */
function measure(load, where, { nodeArgs, env }, dir) {
  const args = [...nodeArgs, LOAD, load, String(seconds * 1000), where]
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  /** @type {Own} */
  const own = JSON.parse(stdout)
  const thread = where === 'worker' ? '1' : '0'
  const name = fs.readdirSync(dir).find((file) => file.split('.')[4] === thread)
  const file = name === undefined ? undefined : path.join(dir, name)
  const result = {
    ...own,
    idle: file === undefined ? Number.NaN : idleShare(read(file), own),
    bytes: file === undefined ? 0 : fs.statSync(file).size,
  }
  for (const each of fs.readdirSync(dir)) fs.rmSync(path.join(dir, each))
  return result
}

/** Reads the samples of a trace or a `.cpuprofile`. @param {string} file */
function read(file) {
  const json = JSON.parse(fs.readFileSync(file, 'utf8'))
  const isTrace = json.traceEvents !== undefined
  const events = isTrace
    ? json.traceEvents
    : [{ name: 'ProfileChunk', args: { data: whole(json) } }]
  const start = isTrace
    ? events.find((/** @type {any} */ { name }) => name === 'Profile').ts
    : json.startTime
  /** @type {Map<number, string>} */
  const names = new Map()
  /** @type {{ at: number, name: string | undefined }[]} */
  const samples = []
  let at = start
  for (const { name, args } of events) {
    if (name !== 'ProfileChunk') continue
    const { cpuProfile, timeDeltas } = args.data
    for (const { id, callFrame } of cpuProfile.nodes ?? []) names.set(id, callFrame.functionName)
    for (const [i, id] of cpuProfile.samples.entries()) {
      at += timeDeltas[i]
      samples.push({ at, name: names.get(id) })
    }
  }
  return samples
}

/** @param {any} profile */
const whole = (profile) => ({ cpuProfile: profile, timeDeltas: profile.timeDeltas })

/** @param {ReturnType<typeof read>} samples @param {Own} slice */
function idleShare(samples, { from, to }) {
  let idleUs = 0
  for (const [i, { at, name }] of samples.entries()) {
    const until = Math.min(samples[i + 1]?.at ?? to, to)
    if (name === '(idle)') idleUs += Math.max(0, until - Math.max(at, from))
  }
  return idleUs / (to - from)
}

/** @param {number} share */
const percent = (share) => (100 * share).toFixed(2).padStart(6)

async function main() {
  console.log(`Node ${process.version}, ${seconds} s, medians of ${count} rounds`)
  console.log(
    'load    thread variant   utilization %  without CPU %  asleep %  (idle) %  switches/s  CPU ms  bytes',
  )
  for (const load of loads) {
    for (const where of ['main', 'worker']) {
      const results = await rounds(count, 1000, (variant, dir) =>
        measure(load, where, variant, dir),
      )
      for (const [name, all] of Object.entries(results)) {
        /** @param {(one: typeof all[0]) => number} of */
        const middle = (of) => median(all.map(of))
        console.log(
          load.padEnd(7),
          where.padEnd(6),
          name.padEnd(9),
          percent(middle((one) => one.utilization)).padStart(13),
          percent(middle((one) => 1 - one.cpuUs / one.wallUs)).padStart(16),
          // Without waiting for a core, too.
          percent(middle((one) => 1 - (one.cpuUs + one.waitUs) / one.wallUs)).padStart(9),
          percent(middle((one) => one.idle)).padStart(9),
          middle((one) => one.switches / seconds)
            .toFixed(1)
            .padStart(11),
          middle((one) => one.processCpuUs / 1000)
            .toFixed(0)
            .padStart(7),
          String(middle((one) => one.bytes)).padStart(7),
        )
      }
    }
  }
}

main()
