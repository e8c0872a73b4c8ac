'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run, message, nowUs } = require('../helpers/run.js')
const { NEEDS_INTERRUPT, NEEDS_SAMPLING_THREAD } = require('../helpers/source.js')
const { assertWorked } = require('../helpers/work.js')

// With this interval a thread of V8 that has to wait for a core for some milliseconds does not look
// like a lost sample.
const INTERVAL_US = 10_000
const FLUSH_MS = 80
const FUNCTIONS = 100
/** A window that is lost takes a whole function with it: functions are shorter than half a window. */
const TICKS = 3
/** V8 samples by itself where it replaces code, up to so many times. */
const OWN_SAMPLES = 15

/**
 * Works in one function after the other. Each ends once V8's sampling thread has gone to sleep a few
 * times: it does so after each signal, so V8 has a sample. Signals of several ticks come as one or two
 * where the working thread stood still.
 */
const PROGRAM = `
  const fs = require('node:fs')
  const LIMIT_MS = 120_000
  const tasks = '/proc/self/task/'
  const sampler = fs.readdirSync(tasks).find((id) =>
    fs.readFileSync(tasks + id + '/comm', 'utf8') === 'v8:ProfEvntProc\\n')
  const status = fs.openSync(tasks + sampler + '/status')
  const buffer = Buffer.alloc(4096)
  function sleeps() {
    const length = fs.readSync(status, buffer, 0, buffer.length, 0)
    return Number(/\\nvoluntary_ctxt_switches:\\s+(\\d+)/.exec(buffer.latin1Slice(0, length))[1])
  }
  // Nothing is allocated here: collections have no stack.
  function burn(times) {
    let sum = 0
    for (let i = 0; i < times; i++) sum = (sum + i * 7) & 1023
    return sum
  }
  let ticks = 0
  let merged = 0
  function workUntilTicked() {
    let last = sleeps()
    for (const enough = ticks + merged + ${TICKS}; ticks + merged < enough; ) {
      burn(200_000)
      const now = sleeps()
      if (now === last + 1) ticks++
      else if (now > last) merged++
      last = now
      if (performance.now() > LIMIT_MS) throw new Error('V8 does not sample')
    }
  }
  burn(1e7)
  for (let i = 0; i < ${FUNCTIONS}; i++) {
    // The loops are in functions that stay, so V8 has no new code to replace, which it also samples.
    new Function('f', 'return function work' + i + '() { f() }')(workUntilTicked)()
  }
  process.send({ ticks, merged })`

/**
 * What the program saw: ticks that gave a sample each, and groups of ticks that gave one sample or two.
 * @typedef {{ ticks: number, merged: number }} Done
 * @typedef {{ us: number, work: number }} Sample its time, and the number of the function; -1 without one
 */

/** Returns the samples of each window. @param {any} trace @returns {Sample[][]} */
function windowsOf({ events, samples, nodes, startUs }) {
  /** @type {Sample[][]} */
  const windows = [[]]
  let us = startUs
  let next = 0
  for (const { name, args } of events) {
    if (name === 'thread.flush') windows.push([])
    if (name !== 'ProfileChunk') continue
    for (const _ of args.data.timeDeltas) {
      const sample = samples[next++]
      us += sample.us
      windows.at(-1)?.push({ us, work: workOf(sample.node, nodes) })
    }
  }
  return windows.filter((window) => window.length > 0)
}

/** @param {any} node @param {Map<number, any>} nodes */
function workOf(node, nodes) {
  for (let at = node; at !== undefined; at = nodes.get(at.parent)) {
    const number = /^work(\d+)$/.exec(at.callFrame.functionName)?.[1]
    if (number !== undefined) return Number(number)
  }
  return -1
}

/** Checks that windows have the samples of the program, each once. @param {Sample[][]} windows @param {Done} done */
function assertWhole(windows, done) {
  const samples = windows.flat()
  const isWork = samples.map(({ work }) => work >= 0)
  const fromWork = samples.slice(isWork.indexOf(true), isWork.lastIndexOf(true) + 1)
  assertOrder(fromWork)
  assertCount(fromWork.length, done)
  assertBorders(windows)
}

/** Checks that the functions follow each other, and that nothing else has the time. @param {Sample[]} samples */
function assertOrder(samples) {
  const works = samples.map(({ work }) => work).filter((work) => work >= 0)
  const order = works.filter((work, i) => work !== works[i - 1])
  assert.deepEqual(
    order,
    Array.from({ length: FUNCTIONS }, (_, i) => i),
  )
  let [allUs, workUs] = [0, 0]
  for (const [i, { us, work }] of samples.slice(0, -1).entries()) {
    const lastsUs = samples[i + 1].us - us
    assert.ok(lastsUs > 0, 'two samples have the same time')
    allUs += lastsUs
    if (work >= 0) workUs += lastsUs
  }
  assert.ok(workUs > 0.9 * allUs, `${workUs} of ${allUs} µs are work`)
}

/** Checks that there is a sample for each tick. @param {number} count of the samples @param {Done} done */
function assertCount(count, { ticks, merged }) {
  // A stopped profile can lack its last sample if V8's thread is late.
  const least = 0.95 * (ticks + merged)
  const most = ticks + 2 * merged + OWN_SAMPLES
  assert.ok(count > least && count < most, `${count} samples of ${ticks} ticks, ${merged} merged`)
}

/** Checks that samples at borders are late or early as rarely as others. @param {Sample[][]} windows */
function assertBorders(windows) {
  /** Times before the first sample of a window, and before all others. @type {[number[], number[]]} */
  const [borders, inside] = [[], []]
  for (const [w, window] of windows.entries()) {
    for (const [i, { us }] of window.entries()) {
      const before = i > 0 ? window[i - 1] : windows[w - 1]?.at(-1)
      if (before !== undefined) (i === 0 ? borders : inside).push(us - before.us)
    }
  }
  assert.ok(borders.length > 20, `${borders.length} borders`)
  for (const isOff of [
    (/** @type {number} */ us) => us > 1.6 * INTERVAL_US,
    (/** @type {number} */ us) => us < 0.4 * INTERVAL_US,
  ]) {
    const share = (/** @type {number[]} */ times) => times.filter(isOff).length / times.length
    assert.ok(share(borders) < share(inside) + 0.2, `${share(borders)}, inside ${share(inside)}`)
  }
}

/** @type {Promise<{ trace: any, done: Done }> | undefined} */
let recording

/** Records the program, once. */
const recorded = () => {
  recording ??= record()
  return recording
}

async function record() {
  const env = {
    CPU_PROF_INTERVAL: String(INTERVAL_US),
    CPU_PROF_FLUSH_INTERVAL: String(FLUSH_MS),
  }
  /** @type {Promise<Done> | undefined} */
  let told
  const { code, stderr, traces } = await run(['-e', PROGRAM], {
    env,
    during: (child) => {
      told = message(child)
      told.catch(() => {})
    },
  })
  assert.equal(code, 0, stderr)
  return { trace: traces[0], done: /** @type {Done} */ (await told) }
}

test('rotations lose no window, double none and invent none; samples at borders are late or early at most 20 percent points more often than others', {
  skip: NEEDS_INTERRUPT || NEEDS_SAMPLING_THREAD,
}, async () => {
  const { trace, done } = await recorded()
  assertWhole(windowsOf(trace), done)
  assert.ok(trace.ended)
  assert.ok(trace.events.at(-1).ts >= trace.endUs, 'a sample is later than the end')
})

/** What a wrong rotation would leave. @type {Record<string, (windows: Sample[][]) => Sample[][]>} */
const FAULTS = {
  'a lost window': (windows) => windows.filter((_, i) => i !== 20),
  'the lost first sample of each window': (windows) => windows.map((window) => window.slice(1)),
  'the lost last sample of each window': (windows) => windows.map((window) => window.slice(0, -1)),
  'a window twice': (windows) => windows.flatMap((each, i) => (i === 20 ? [each, each] : [each])),
  'a sample of the next window in each window': (windows) =>
    windows.map((window, i) => [...window, ...(windows[i + 1] ?? []).slice(0, 1)]),
  'a sample of V8 at the start of each window': (windows) =>
    windows.map((window) => [{ ...window[0], us: window[0].us - 100 }, ...window]),
}

/** Returns the windows of a thread that never stands still. */
function writtenWindows() {
  const LENGTH = FLUSH_MS / (INTERVAL_US / 1000)
  const samples = Array.from({ length: FUNCTIONS * TICKS }, (_, i) => ({
    us: i * INTERVAL_US,
    work: Math.floor(i / TICKS),
  }))
  const count = Math.ceil(samples.length / LENGTH)
  return Array.from({ length: count }, (_, i) => samples.slice(i * LENGTH, (i + 1) * LENGTH))
}

test('the check passes written windows, and finds every fault in them', () => {
  const done = { ticks: FUNCTIONS * TICKS, merged: 0 }
  assertWhole(writtenWindows(), done)
  for (const [fault, plant] of Object.entries(FAULTS)) {
    assert.throws(() => assertWhole(plant(writtenWindows()), done), fault)
  }
})

test('a recording that stops during a rotation keeps its samples', {
  skip: NEEDS_INTERRUPT || NEEDS_SAMPLING_THREAD,
}, async () => {
  // At this interval a rotation takes longer than the time between two flushes.
  const INTERVAL_US = 200_000
  const [WARM_MS, WORK_MS] = [500, 2000]
  const env = { CPU_PROF_INTERVAL: String(INTERVAL_US), CPU_PROF_FLUSH_INTERVAL: '10' }
  const script = `
    const startUs = Number(process.hrtime.bigint() / 1000n)
    function work() {
      const cpuMs = () => process.cpuUsage().user / 1000
      const start = cpuMs()
      for (let ms = 0, sum = 0; ms < ${WORK_MS}; ms = cpuMs() - start) {
        // V8 misses the caller of a function that has just been entered, so there are few calls.
        for (let i = 0; i < 1e6; i++) sum = (sum + i) & 1023
      }
    }
    work()
    process.send(startUs)`
  let warmUs = nowUs()
  const { traces } = await run(['-e', script], {
    env,
    during: (child) =>
      child.once('message', (us) => {
        // A branch in the loop for this would be new to V8, which would replace the code again, and sample.
        warmUs = Number(us) + WARM_MS * 1000
      }),
  })
  const [trace] = traces
  let us = trace.startUs
  const later = trace.samples.filter((sample) => {
    us += sample.us
    return us > warmUs
  })
  // V8 also samples where it replaces the code of the running loop, as with `--cpu-prof`: on Node 26 up to
  // six times before the program is warm, and then seldom. Doubles, and samples of V8 at the start of
  // each profile, would be twice as many.
  const most = (trace.endUs - warmUs) / INTERVAL_US + 4
  assert.ok(later.length <= most, `${later.length} samples, ${most} at most`)
  assertWorked(trace, WORK_MS)
})
