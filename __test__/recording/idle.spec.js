'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, message, nowUs, tracesIn, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

const LOAD = path.join(FIXTURES, 'load.js')

/**
 * By how much shares of two seconds can differ that two clocks give: a core that stands still at the
 * wrong moment is idle for one of them.
 */
const ROOM = 0.15

/** How much more often than unprofiled an idle thread may be woken in half a second. */
const MORE_SWITCHES = 4

/** Recordings by load, length and thread: specs of the same load share one. @type {Map<string, ReturnType<typeof recordLoad>>} */
const recordings = new Map()

/**
 * Records a thread under a load. Returns what the thread says of itself, and its trace.
 * @param {string} load @param {number} ms @param {'main' | 'worker'} where
 */
function record(load, ms, where) {
  const key = `${load} ${ms} ${where}`
  const recording = recordings.get(key) ?? recordLoad(load, ms, where)
  recordings.set(key, recording)
  return recording
}

/** @param {string} load @param {number} ms @param {'main' | 'worker'} where */
async function recordLoad(load, ms, where) {
  const { own, traces } = await runLoad(load, ms, where)
  const trace = traces.find(({ tid }) => (tid === 0) === (where === 'main'))
  assert.ok(trace)
  return { own, trace }
}

/** @param {string} load @param {number} ms @param {'main' | 'worker'} where @param {string[]} [preload] */
async function runLoad(load, ms, where, preload = ['--require', PACKAGE]) {
  const env = { LOOK_MS: '500' }
  const { stdout, stderr, traces } = await run([LOAD, load, String(ms), where], { preload, env })
  assert.equal(stderr, '')
  return { own: JSON.parse(stdout), traces }
}

/**
 * Returns the share of a function of V8's own between two times.
 * @param {any} trace @param {{ from: number, to: number }} slice @param {string} [name]
 */
function shareOf({ startUs, samples }, { from, to }, name = '(idle)') {
  let at = startUs
  let us = 0
  for (const sample of samples) {
    at += sample.us
    if (sample.node.callFrame.functionName !== name) continue
    us += Math.max(0, Math.min(at + sample.lastsUs, to) - Math.max(at, from))
  }
  return us / (to - from)
}

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

for (const where of /** @type {const} */ (['main', 'worker'])) {
  const options = { skip: NEEDS_INTERRUPT }
  test(
    `an idle ${where} thread sleeps, and its utilization is that of an unprofiled thread`,
    options,
    async () => {
      const [{ own, trace }, plain] = await Promise.all([
        record('idle', 3000, where),
        runLoad('idle', 3000, where, []),
      ])
      const utilizations = `utilization: ${own.utilization}, unprofiled ${plain.own.utilization}`
      assert.ok(Math.abs(own.utilization - plain.own.utilization) < ROOM, utilizations)
      // A thread that has just worked, in a start that was slow, is sampled for some 20 ms more.
      const [switches, plainSwitches] = [own, plain.own].map((each) => median(each.switchesEach))
      assert.ok(
        switches <= plainSwitches + MORE_SWITCHES,
        `voluntary switches: ${own.switchesEach}, unprofiled ${plain.own.switchesEach}`,
      )
      assert.ok(shareOf(trace, own) > 1 - ROOM, `idle: ${shareOf(trace, own)}`)
    },
  )
}

// Waits of a tenth of a second, waits that are shorter than the interval, and native work in the
// callbacks of the loop, which V8 calls idle.
for (const load of ['bursts', 'ripples', 'tls', 'zlib', 'busy']) {
  for (const where of /** @type {const} */ (['main', 'worker'])) {
    test(`idle time is the time that the loop waited: ${load}, ${where} thread`, async () => {
      // Both recordings are made at the same time.
      const both = { main: record(load, 2000, 'main'), worker: record(load, 2000, 'worker') }
      await Promise.all(Object.values(both))
      const { own, trace } = await both[where]
      const idle = shareOf(trace, own)
      const waited = 1 - own.utilization
      // Where a thread waits for a core, before or after an event, loop and samples can differ.
      const withoutCore = own.waitUs / own.wallUs
      const numbers = `idle: ${idle}, waited: ${waited}, without a core: ${withoutCore}`
      assert.ok(Math.abs(idle - waited) < ROOM + withoutCore, numbers)
    })
  }
}

test('native work in a callback of the loop is not idle', async () => {
  const { own, trace } = await record('tls', 2000, 'main')
  const busy = own.cpuUs / own.wallUs
  const idle = shareOf(trace, own)
  // The thread's CPU time is the least that cannot have been idle.
  assert.ok(idle < 1 - busy + ROOM, `idle: ${idle}, CPU: ${busy}`)
})

test('a wait that a signal ends is idle', { skip: NEEDS_INTERRUPT }, async () => {
  const script = `
    process.on('SIGUSR2', () => process.exit())
    setInterval(() => {}, 1e6)
    process.send('ready')`
  const wait = { from: 0, to: 0 }
  const { stderr, traces } = await run(['-e', script], {
    during: async (child) => {
      await message(child)
      wait.from = nowUs()
      setTimeout(() => {
        wait.to = nowUs()
        child.kill('SIGUSR2')
      }, 3000)
    },
  })
  assert.equal(stderr, '')
  const [idle, program] = ['(idle)', '(program)'].map((name) => shareOf(traces[0], wait, name))
  assert.ok(program < ROOM, `program: ${program}`)
  assert.ok(idle > 1 - ROOM, `idle: ${idle}`)
})

test('the event loop is not slower than without the profiler', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const script = `
    const { monitorEventLoopDelay } = require('node:perf_hooks')
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    setTimeout(() => {
      console.log(delay.percentile(50) / 1e6)
      process.exit()
    }, 2000)`
  // At the same time, on the same machine. Each entry is the time between two timers of 10 ms.
  const results = await Promise.all([run(['-e', script]), run(['-e', script], { preload: null })])
  for (const { stderr } of results) assert.equal(stderr, '')
  const [median, plain] = results.map(({ stdout }) => Number(stdout))
  assert.ok(median > 0 && median < 1.5 * plain, `median: ${median} ms, unprofiled ${plain} ms`)
})

test('an idle trace does not grow, and each heartbeat replaces the last', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  /** @type {number[]} */
  const sizes = []
  /** Heartbeats by their times. @type {Map<number, any>} */
  const heartbeats = new Map()
  const wait = { from: 0, to: 0 }
  const { signal, traces } = await run(
    ['-e', 'process.send(0, () => setInterval(() => {}, 1e6))'],
    {
      env: { CPU_PROF_FLUSH_INTERVAL: '50' },
      during: async (child, dir) => {
        await message(child)
        wait.from = nowUs()
        for (const end = Date.now() + 30_000; heartbeats.size < 40 && Date.now() < end; ) {
          await new Promise((resolve) => setTimeout(resolve, 10))
          const [file] = tracesIn(dir)
          if (file === undefined) continue
          sizes.push(fs.statSync(file).size)
          const last = lastEvent(file)
          if (last?.name === 'thread.flush') heartbeats.set(last.ts, last)
        }
        child.kill('SIGKILL')
      },
    },
  )
  assert.equal(signal, 'SIGKILL')
  assert.ok(heartbeats.size >= 40, `${heartbeats.size} heartbeats`)
  const settled = sizes.slice(sizes.length / 2)
  const grown = Math.max(...settled) - Math.min(...settled)
  // The window that ends V8's sampling can come within this time. It is smaller than a few heartbeats
  // that stay.
  const bytes = Math.max(...[...heartbeats.values()].map((each) => JSON.stringify(each).length))
  assert.ok(grown < 10 * bytes, `${grown} bytes more than ${settled[0]}`)
  const [trace] = traces
  const stayed = trace.events.filter((/** @type {any} */ { ts }) => heartbeats.has(ts))
  assert.ok(stayed.length < 10, `${stayed.length} heartbeats are still in the trace`)
  wait.to = Math.max(...heartbeats.keys())
  assert.ok(shareOf(trace, wait) > 0.75, `idle: ${shareOf(trace, wait)}`)
})

/** Returns the last event, unless the file is just being written. @param {string} file */
function lastEvent(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents.at(-1)
  } catch {
    return undefined
  }
}

test('heartbeats have the CPU times of the thread, the process and its children', async () => {
  const spin = `require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))}).spin`
  const script = `
    const { execFileSync } = require('node:child_process')
    const work = ${JSON.stringify(`${spin}(500); const { user, system } = process.cpuUsage(); console.log(user + system)`)}
    const childUs = execFileSync(process.execPath, ['-e', work], { env: {} })
    ${spin}(500)
    console.log(Number(childUs))`
  const { stdout, traces } = await run(['-e', script])
  const { events } = traces[0]
  /** @param {string} name */
  const named = (name) => events.filter((/** @type {any} */ event) => event.name === name)
  const [start] = named('thread.start').map((/** @type {any} */ { args }) => args.data)
  const flushes = named('thread.flush').map((/** @type {any} */ { args }) => args.data)
  const last = flushes.at(-1)
  for (const key of ['cpuUs', 'waitUs', 'processCpuUs', 'childrenCpuUs']) {
    const values = [start, ...flushes].map((times) => times[key])
    assert.ok(values.every(Number.isFinite), `${key}: ${values}`)
    assert.deepEqual(
      values,
      [...values].sort((a, b) => a - b),
      key,
    )
  }
  const grown = (/** @type {string} */ key) => (last[key] - start[key]) / 1000
  assert.ok(grown('cpuUs') >= 500, `thread: ${grown('cpuUs')} ms`)
  // The two clocks are not read at the same moment.
  assert.ok(grown('processCpuUs') > 0.9 * grown('cpuUs'), `process: ${grown('processCpuUs')} ms`)
  const childMs = Number(stdout) / 1000
  assert.ok(
    grown('childrenCpuUs') >= childMs,
    `children: ${grown('childrenCpuUs')} of ${childMs} ms`,
  )
})
