'use strict'

// Measures the duration of start() and stop(), called as a test suite would call them around each
// test, and compares them with an inspector session, which is Node's own way to do this.

const fs = require('node:fs')
const inspector = require('node:inspector')
const os = require('node:os')
const path = require('node:path')
const { start, stop } = require('..')
const { spin } = require('../__test__/fixtures/spin.js')
const { quantile } = require('./measure.js')

const RECORDINGS = 1000
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
process.on('exit', () => fs.rmSync(dir, { recursive: true }))

const session = new inspector.Session()
session.connect()
session.post('Profiler.enable')

/** @type {Record<string, { start: () => void, stop: () => void }>} */
const PROFILERS = {
  'cpu-prof': { start: () => start({ dir }), stop },
  inspector: {
    start: () => session.post('Profiler.start'),
    stop: () =>
      session.post('Profiler.stop', (_, { profile }) => {
        fs.writeFileSync(path.join(dir, 'inspector.cpuprofile'), JSON.stringify(profile))
      }),
  },
}

for (const [name, profiler] of Object.entries(PROFILERS)) {
  const starts = []
  const stops = []
  for (let i = 0; i < RECORDINGS; i++) {
    starts.push(time(profiler.start))
    spin(5)
    stops.push(time(profiler.stop))
  }
  console.log(name)
  for (const [call, all] of Object.entries({ start: starts, stop: stops })) {
    const [first, ...later] = all
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(later, share).toFixed(2))
    console.log(`  ${call}: first ${first.toFixed(2)} ms, later p50 ${p50} ms, p99 ${p99} ms`)
  }
}

/** Measures a call. @param {() => void} call @returns milliseconds */
function time(call) {
  const before = performance.now()
  call()
  return performance.now() - before
}
