'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, message, tracesIn, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

const LOAD = path.join(FIXTURES, 'load.js')

/**
 * Records a thread under a load. Returns what the thread says of itself, and its trace.
 * @param {string} load @param {number} ms @param {'main' | 'worker'} where
 */
async function record(load, ms, where) {
  const { stdout, stderr, traces } = await run([LOAD, load, String(ms), where])
  assert.equal(stderr, '')
  const trace = traces.find(({ tid }) => (tid === 0) === (where === 'main'))
  assert.ok(trace)
  return { own: JSON.parse(stdout), trace }
}

/** Returns the share of `(idle)` between two times. @param {any} trace @param {{ from: number, to: number }} slice */
function idleShare({ startUs, samples }, { from, to }) {
  let at = startUs
  let idleUs = 0
  for (const { node, us, lastsUs } of samples) {
    at += us
    if (node.callFrame.functionName !== '(idle)') continue
    idleUs += Math.max(0, Math.min(at + lastsUs, to) - Math.max(at, from))
  }
  return idleUs / (to - from)
}

for (const where of /** @type {const} */ (['main', 'worker'])) {
  const options = { skip: NEEDS_INTERRUPT }
  test(
    `an idle ${where} thread sleeps, and its utilization is that of an unprofiled thread`,
    options,
    async () => {
      const { own, trace } = await record('idle', 3000, where)
      assert.ok(own.utilization < 0.01, `utilization: ${own.utilization}`)
      const perSecond = own.switches / (own.wallUs / 1e6)
      assert.ok(perSecond < 3, `${perSecond} voluntary switches a second`)
      assert.ok(idleShare(trace, own) > 0.99, `idle: ${idleShare(trace, own)}`)
    },
  )
}

// Waits of a tenth of a second, waits that are shorter than the interval, and native work in the
// callbacks of the loop, which V8 calls idle.
for (const load of ['bursts', 'ripples', 'tls', 'zlib', 'busy']) {
  for (const where of /** @type {const} */ (['main', 'worker'])) {
    test(`idle time is the time that the loop waited: ${load}, ${where} thread`, async () => {
      const { own, trace } = await record(load, 2000, where)
      const idle = idleShare(trace, own)
      const waited = 1 - own.utilization
      // Where a thread waits for a core, before or after an event, loop and samples can differ.
      const withoutCore = own.waitUs / own.wallUs
      const numbers = `idle: ${idle}, waited: ${waited}, without a core: ${withoutCore}`
      assert.ok(Math.abs(idle - waited) < 0.08 + withoutCore, numbers)
    })
  }
}

test('native work in a callback of the loop is not idle', async () => {
  const { own, trace } = await record('tls', 2000, 'main')
  const busy = own.cpuUs / own.wallUs
  const idle = idleShare(trace, own)
  // The thread's CPU time is the least that cannot have been idle.
  assert.ok(idle < 1 - busy + 0.05, `idle: ${idle}, CPU: ${busy}`)
})

test('a wait that a signal ends is idle', { skip: NEEDS_INTERRUPT }, async () => {
  const script = `
    process.on('SIGUSR2', () => process.exit())
    setInterval(() => {}, 1e6)
    process.send('ready')`
  const { stderr, traces } = await run(['-e', script], {
    during: async (child) => {
      await message(child)
      setTimeout(() => child.kill('SIGUSR2'), 2000)
    },
  })
  assert.equal(stderr, '')
  const [{ selfShare, durationUs }] = traces
  assert.ok(durationUs > 1.9e6, `${durationUs} µs`)
  assert.ok(selfShare('(program)') < 0.05, `program: ${selfShare('(program)')}`)
  assert.ok(selfShare('(idle)') > 0.9, `idle: ${selfShare('(idle)')}`)
})

test('the event loop is not delayed', { skip: NEEDS_INTERRUPT }, async () => {
  const script = `
    const { monitorEventLoopDelay } = require('node:perf_hooks')
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    setTimeout(() => {
      const { voluntaryContextSwitches } = process.resourceUsage()
      console.log(JSON.stringify([delay.percentile(50) / 1e6, delay.count]))
      process.exit()
    }, 1500)`
  const { stdout, stderr } = await run(['-e', script])
  assert.equal(stderr, '')
  const [median, count] = JSON.parse(stdout)
  // Each entry is the time between two timers of 10 ms.
  assert.ok(median > 9 && median < 13, `${median} ms in ${count} entries`)
})

test('an idle trace does not grow, and each heartbeat replaces the last', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  /** @type {number[]} */
  const sizes = []
  /** @type {Set<number>} */
  const heartbeats = new Set()
  const { signal, traces } = await run(
    ['-e', 'process.send(0, () => setInterval(() => {}, 1e6))'],
    {
      env: { CPU_PROF_FLUSH_INTERVAL: '50' },
      during: async (child, dir) => {
        for (let tries = 0; heartbeats.size < 40 && tries < 2000; tries++) {
          await new Promise((resolve) => setTimeout(resolve, 10))
          const [file] = tracesIn(dir)
          if (file === undefined) continue
          sizes.push(fs.statSync(file).size)
          const last = lastEvent(file)
          if (last !== undefined) heartbeats.add(last.ts)
        }
        child.kill('SIGKILL')
      },
    },
  )
  assert.equal(signal, 'SIGKILL')
  assert.ok(heartbeats.size >= 40, `${heartbeats.size} heartbeats`)
  const settled = sizes.slice(sizes.length / 2)
  const grown = Math.max(...settled) - Math.min(...settled)
  // Twenty heartbeats that stayed would be larger than the one window that ends V8's sampling, which
  // comes within this time on a slow machine.
  assert.ok(grown < 1500, `${grown} bytes more than ${settled[0]}`)
  const [trace] = traces
  assert.ok(trace.selfShare('(idle)') > 0.8, `${trace.selfShare('(idle)')}`)
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
  const script = `
    const { execFileSync } = require('node:child_process')
    const work = 'let sum = 0; while (process.cpuUsage().user < 400_000) for (let i = 0; i < 1e5; i++) sum = (sum + i) & 1023'
    execFileSync(process.execPath, ['-e', work], { env: {} })
    const enough = process.cpuUsage().user + 300_000
    let sum = 0
    while (process.cpuUsage().user < enough) for (let i = 0; i < 1e5; i++) sum = (sum + i) & 1023
    process.send(0)`
  const { traces } = await run(['-e', script])
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
  assert.ok(grown('cpuUs') > 250, `thread: ${grown('cpuUs')} ms`)
  assert.ok(grown('processCpuUs') >= grown('cpuUs') - 20, `process: ${grown('processCpuUs')} ms`)
  assert.ok(grown('childrenCpuUs') > 390, `children: ${grown('childrenCpuUs')} ms`)
})
