'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, test } = require('node:test')
const { run, tracesIn, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')
const { until } = require('../helpers/until.js')
const { assertSeen, assertWorked } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const FAST = { CPU_PROF_FLUSH_INTERVAL: '50' }
/** V8's sampling of a thread that only waits for events ends after three seconds. */
const BLOCKED_S = 5

/**
 * Waits until the only trace in a folder satisfies a test.
 * @param {string} dir @param {(events: any[]) => boolean} test
 */
function untilTrace(dir, test) {
  const isSatisfied = () => {
    const [file] = tracesIn(dir)
    return file !== undefined && test(eventsSoFar(file))
  }
  return until(isSatisfied, `the trace in ${dir} did not reach the expected state in time`)
}

/** Reads a trace, which is complete between writes, but not during a write. @param {string} file */
function eventsSoFar(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents
  } catch {
    return []
  }
}

/**
 * Returns the times of the samples with a function on the stack, which is given by its name.
 * @param {any[]} events @param {(name: string) => boolean} isWanted
 */
function timesOf(events, isWanted) {
  const ids = new Set()
  /** @type {number[]} */
  const times = []
  let us = events.find(({ name }) => name === 'Profile')?.ts
  for (const { name, args } of events) {
    if (name !== 'ProfileChunk') continue
    const { nodes = [], samples } = args.data.cpuProfile
    for (const { id, parent, callFrame } of nodes) {
      if (ids.has(parent) || isWanted(callFrame.functionName)) ids.add(id)
    }
    for (const [i, sample] of samples.entries()) {
      us += args.data.timeDeltas[i]
      if (ids.has(sample)) times.push(us)
    }
  }
  return times
}

/** Returns whether a function has samples in two windows or more. @param {any[]} events @param {string} name */
function isInWindows(events, name) {
  const times = timesOf(events, (each) => each === name)
  const ends = events.filter((event) => event.name === 'thread.flush').map(({ ts }) => ts)
  const has = (/** @type {number} */ end, /** @type {number} */ start) =>
    times.some((us) => us > start && us <= end)
  return ends.filter((end, i) => has(end, ends[i - 1] ?? 0)).length > 1
}

/**
 * Checks that there are samples in all of the equal parts of a span.
 * @param {number[]} times @param {number[]} span @param {number} parts
 */
function assertInParts(times, [from, to], parts) {
  for (let part = 0; part < parts; part++) {
    const [start, end] = [part, part + 1].map((i) => from + (i * (to - from)) / parts)
    const isInside = (/** @type {number} */ us) => us > start && us < end
    assert.ok(times.some(isInside), `no sample from ${start} to ${end}`)
  }
}

/** @param {string} name */
const isIdle = (name) => name === '(idle)'

/** Code that prints when something began and ended. @param {string} code */
const timed = (code) => `
  const times = [Number(process.hrtime.bigint() / 1000n)]
  ${code}
  times.push(Number(process.hrtime.bigint() / 1000n))
  console.log(JSON.stringify(times))`

describe('a trace is written while its program runs:', { concurrency: true }, () => {
  test("a busy program's samples are written while it runs, and survive SIGKILL", {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const source = `
      function busy() { for (;;) Math.sqrt(Math.random()) }
      process.send(0, busy)`
    /** @type {any[]} */
    let before = []
    const { traces, signal, stderr } = await run(['-e', source], {
      env: FAST,
      during: (child, dir) =>
        untilTrace(dir, (events) => {
          before = events
          return isInWindows(events, 'busy')
        }).finally(() => child.kill('SIGKILL')),
    })
    assert.equal(signal, 'SIGKILL')
    assert.equal(stderr, '')
    assert.equal(traces.length, 1)
    const [{ ended, events }] = traces
    assert.ok(!ended)
    assert.ok(isInWindows(before, 'busy'))
    const [written, kept] = [before, events].map((all) => timesOf(all, (name) => name === 'busy'))
    assert.deepEqual(kept.slice(0, written.length), written)
  })

  test("an idle program's samples are written while it runs, and survive SIGKILL", async () => {
    const source = `process.send(0, () => setInterval(() => {}, 1e6))`
    let writtenUs = 0
    const { traces, signal, stderr } = await run(['-e', source], {
      env: FAST,
      during: (child, dir) =>
        untilTrace(dir, (events) => {
          const [idleSinceUs = Number.NaN] = timesOf(events, isIdle)
          writtenUs = events.at(-1)?.ts
          return writtenUs - idleSinceUs > 500_000
        }).finally(() => child.kill('SIGKILL')),
    })
    assert.equal(signal, 'SIGKILL')
    assert.equal(stderr, '')
    assert.equal(traces.length, 1)
    const [{ ended, events, samples }] = traces
    assert.ok(!ended)
    assert.ok(events.at(-1).ts >= writtenUs)
    const idle = samples.map(({ node }) => isIdle(node.callFrame.functionName))
    const waiting = samples.slice(idle.indexOf(true))
    const sum = (/** @type {typeof samples} */ some) =>
      some.reduce((us, { lastsUs }) => us + lastsUs, 0)
    const idleUs = sum(waiting.filter(({ node }) => isIdle(node.callFrame.functionName)))
    assert.ok(idleUs > 0.5 * sum(waiting), `${idleUs} of ${sum(waiting)} µs are idle`)
  })

  test('the samples of a thread blocked in native code come with the next window', async () => {
    const source = `${timed("require('node:child_process').execFileSync('sleep', ['1.2'])")}
      process.send(0)`
    const { traces, stdout } = await run(['-e', source], { env: FAST })
    const [from, to] = JSON.parse(stdout)
    const [{ events }] = traces
    const isBetween = (/** @type {number} */ us) => us > from && us < to
    const times = timesOf(events, (name) => name === 'execFileSync').filter(isBetween)
    assertInParts(times, [from, to], 2)
    // No other samples, except of what comes before and after the wait.
    const all = timesOf(events, () => true).filter(isBetween)
    assert.ok(times.length > 0.8 * all.length, `${times.length} of ${all.length} samples`)
  })

  test(`threads that are blocked for ${BLOCKED_S} seconds, longer than V8 samples a waiting thread, are recorded and end normally`, async () => {
    const cell = 'new Int32Array(new SharedArrayBuffer(4))'
    const wait = timed(`Atomics.wait(${cell}, 0, 0, ${1000 * BLOCKED_S})`)
    const source = `
      const { Worker } = require('node:worker_threads')
      new Worker(${JSON.stringify(wait)}, { eval: true })
      ${timed("require('node:child_process').execFileSync('sleep', [process.argv[1]])")}
      require(${SPIN}).spin(200)`
    const { code, stdout, stderr, traces } = await run(['-e', source, `${BLOCKED_S}`])
    assert.equal(code, 0, stderr)
    assert.equal(stderr, '')
    assert.equal(traces.length, 2)
    const spans = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    // The code of the worker has no name.
    for (const [i, blocked] of ['execFileSync', ''].entries()) {
      const { ended, label, events } = traces[i]
      assert.ok(ended, label)
      assert.ok(events.at(-1).ts >= spans[i][1], label)
      const times = timesOf(events, (name) => name === blocked)
      assertInParts(times, spans[i], BLOCKED_S)
    }
    assertSeen(traces[0], 'spin')
  })

  test('a call tree that exceeds its limit is reset, and the trace stays correct', {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const MADE = 2000
    const WORK_MS = 1000
    const source = `
      const functions = Array.from({ length: ${MADE} }, (_, i) => new Function(
        'return function made' + i + '() {' +
        '  let sum = 0; for (let i = 0; i < 3e4; i++) sum += Math.sqrt(i); return sum }')())
      const { existsSync } = require('node:fs')
      const workedMs = () => process.cpuUsage().user / 1000
      function work() {
        const enough = workedMs() + ${WORK_MS}
        do for (const f of functions) f()
        while (!existsSync('enough') || workedMs() < enough)
      }
      work()`
    const options = { env: { ...FAST, CPU_PROF_MAX_NODES: '1000', CPU_PROF_INTERVAL: '100' } }
    const { traces } = await run(['-e', source], {
      ...options,
      during: (_, dir) =>
        untilTrace(dir, (events) => isReset(nodesOf(events))).finally(() =>
          fs.writeFileSync(path.join(dir, 'enough'), ''),
        ),
    })
    const [trace] = traces
    const nodes = [...trace.nodes.values()]
    assert.ok(isReset(nodes))
    assertWorked(trace, WORK_MS)
    const metas = nodes.filter((node) => node.callFrame.functionName === '(program)')
    assert.ok(metas.length <= 1)
  })
})

/** @param {any[]} events @returns {any[]} */
const nodesOf = (events) =>
  events
    .filter(({ name }) => name === 'ProfileChunk')
    .flatMap(({ args }) => args.data.cpuProfile.nodes ?? [])

/** Returns whether a call tree was begun anew: a place in the tree is there twice. @param {any[]} nodes */
function isReset(nodes) {
  /** @type {Map<number, string>} */
  const places = new Map()
  for (const { id, parent, callFrame } of nodes) {
    places.set(id, `${places.get(parent)} ${JSON.stringify(callFrame)}`)
  }
  return nodes.length > 1000 && new Set(places.values()).size < nodes.length
}
