'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

// With this interval a thread of V8 that has to wait for a core for some milliseconds does not look
// like a lost sample.
const INTERVAL_US = 10_000
const BUSY = `
  const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2))
  const end = performance.now() + 5000
  while (performance.now() < end) fibonacci(20)
  process.send(0)`

test('a rotation loses no sample, doubles none and invents none', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const env = { CPU_PROF_INTERVAL: String(INTERVAL_US), CPU_PROF_FLUSH_INTERVAL: '40' }
  const { traces } = await run(['-e', BUSY], { env })
  const [{ events, samples, startUs, durationUs, totalShare }] = traces
  /** Times before the first sample of a window, and before all others. @type {[number[], number[]]} */
  const [borders, inside] = [[], []]
  let isFirst = false
  for (const { name, args } of events) {
    if (name === 'thread.flush') isFirst = true
    if (name !== 'ProfileChunk') continue
    for (const delta of args.data.timeDeltas) {
      if (isFirst) borders.push(delta)
      else inside.push(delta)
      isFirst = false
    }
  }
  assert.ok(borders.length > 50, `${borders.length} windows`)
  // A late sample is not a lost one; samples are late on a loaded machine, at borders as elsewhere.
  const lost = (/** @type {number[]} */ deltas) =>
    deltas.filter((delta) => delta > 1.6 * INTERVAL_US).length / deltas.length
  assert.ok(lost(borders) < lost(inside) + 0.2, `${lost(borders)}, inside ${lost(inside)}`)
  const early = (/** @type {number[]} */ deltas) =>
    deltas.filter((delta) => delta < 0.4 * INTERVAL_US).length / deltas.length
  assert.ok(early(borders) < early(inside) + 0.2, `${early(borders)}, inside ${early(inside)}`)
  for (const { us } of samples.slice(1)) assert.ok(us > 0, 'two samples have the same time')
  const end = events.at(-1)
  assert.equal(end.name, 'trace.end')
  const rest = end.ts - startUs - durationUs
  assert.ok(rest >= 0 && rest < 20 * INTERVAL_US, `${rest} µs after the last sample`)
  // V8 takes a sample of its own at each start of a profile, while the profiler is at work.
  assert.ok(totalShare(({ functionName }) => functionName === 'fibonacci') > 0.9)
})

test('a recording that stops during a rotation keeps its samples', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  // At this interval a rotation takes longer than the time between two flushes.
  const INTERVAL_US = 200_000
  const env = { CPU_PROF_INTERVAL: String(INTERVAL_US), CPU_PROF_FLUSH_INTERVAL: '10' }
  const script = `
    const work = (ms) => {
      const end = performance.now() + ms
      // V8 misses the caller of a function that has just been entered, so there are few calls.
      for (let sum = 0; performance.now() < end; ) for (let i = 0; i < 1e6; i++) sum = (sum + i) & 1023
    }
    work(2000)
    process.send(0)`
  const { traces } = await run(['-e', script], { env })
  const [{ samples, durationUs, totalMs }] = traces
  // V8 also samples where it replaces the code of the running loop: up to six times on Node 26, as with
  // `--cpu-prof`, and in the first half of a second.
  const FIRST_US = 700_000
  let time = 0
  const later = samples.filter(({ us }) => {
    time += us
    return time > FIRST_US
  })
  // Doubles, and samples of V8 at the start of each profile, would be twice as many.
  const most = (durationUs - FIRST_US) / INTERVAL_US + 2
  assert.ok(later.length <= most, `${later.length} samples, ${most} at most`)
  assert.ok(totalMs(({ functionName }) => functionName === 'work') > 900)
})
