'use strict'

// Records a thread that is always busy in windows of 20 ms, and prints how often a sample is missing
// at a border between two windows and elsewhere. Usage: node bench/borders.js [rounds] [node…]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { PACKAGE, median } = require('./measure.js')

const BUSY_MS = 6000
const PROGRAM = `
  const end = performance.now() + ${BUSY_MS}
  for (let x = 0; performance.now() < end; ) for (let i = 0; i < 1e6; i++) x = (x * 31 + i) | 0`

/** Records the program, and returns the times between samples, in µs. @param {string} node */
function record(node) {
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  const env = { ...process.env, CPU_PROF_FLUSH_INTERVAL: '20' }
  const { status, stderr } = spawnSync(node, ['--require', PACKAGE, '-e', PROGRAM], { cwd, env })
  if (status !== 0) throw new Error(String(stderr))
  const [file] = fs.readdirSync(cwd)
  const { traceEvents } = JSON.parse(fs.readFileSync(path.join(cwd, file), 'utf8'))
  fs.rmSync(cwd, { recursive: true })
  return { ...deltas(traceEvents), ends: traceEvents.at(-1).ts }
}

/** @param {any[]} events */
function deltas(events) {
  /** @type {number[]} */
  const borders = []
  /** @type {number[]} */
  const inside = []
  let isBorder = false
  let time = 0
  for (const { name, args } of events) {
    if (name === 'thread.flush') isBorder = true
    if (name === 'Profile') time = args.data.startTime
    if (name !== 'ProfileChunk') continue
    for (const delta of args.data.timeDeltas) {
      time += delta
      const deltas = isBorder ? borders : inside
      deltas.push(delta)
      isBorder = false
    }
  }
  return { borders, inside, last: time }
}

/** Returns the share of samples that are missing, in percent. @param {number[]} deltas @param {number} period µs */
function missing(deltas, period) {
  const missing = deltas.reduce(
    (sum, delta) => sum + Math.max(0, Math.round(delta / period) - 1),
    0,
  )
  return ((100 * missing) / (deltas.length + missing)).toFixed(1)
}

const [count, ...given] = process.argv.slice(2)
const nodes = given.length > 0 ? given.map((node) => path.resolve(node)) : [process.execPath]
/** @type {Record<string, string | number>[]} */
const rows = []
for (let round = 0; round < Number(count ?? 1); round++) {
  for (const node of nodes) {
    const { borders, inside, last, ends } = record(node)
    const period = median(inside)
    rows.push({
      node: spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim(),
      borders: borders.length,
      'missing at borders, %': missing(borders, period),
      'missing elsewhere, %': missing(inside, period),
      'equal times': [...borders, ...inside].filter((delta) => delta === 0).length,
      'from the last sample to the end, ms': ((ends - last) / 1000).toFixed(1),
    })
  }
}
console.table(rows)
