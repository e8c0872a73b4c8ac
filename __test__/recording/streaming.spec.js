'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, tracesIn, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const FAST = { CPU_PROF_FLUSH_INTERVAL: '50' }

/** Waits until the only trace in `dir` satisfies `test`. */
async function until(/** @type {string} */ dir, /** @type {(events: any[]) => boolean} */ test) {
  for (let tries = 0; tries < 2000; tries++) {
    const [file] = tracesIn(dir)
    if (file !== undefined && test(eventsSoFar(file))) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`the trace in ${dir} did not reach the expected state in time`)
}

/** Reads a trace, which is complete between writes, but not during a write. @param {string} file */
function eventsSoFar(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents
  } catch {
    return []
  }
}

/** Counts the samples on top of which a function was. @param {any[]} events @param {string} name */
const samplesOf = (events, name) => {
  const ids = new Set()
  let count = 0
  for (const event of events) {
    if (event.name !== 'ProfileChunk') continue
    const { nodes = [], samples } = event.args.data.cpuProfile
    for (const node of nodes) if (node.callFrame.functionName === name) ids.add(node.id)
    for (const sample of samples) if (ids.has(sample)) count++
  }
  return count
}

/** Returns the idle time up to the last heartbeat. @param {any[]} events */
function idleMs(events) {
  const ids = new Set()
  let at = 0
  let idleSince = 0
  let idleUs = 0
  const move = (/** @type {number} */ to, /** @type {boolean} */ isIdle) => {
    if (idleSince > 0) idleUs += to - idleSince
    idleSince = isIdle ? to : 0
  }
  for (const { name, ts, args } of events) {
    if (name === 'Profile') at = ts
    if (name !== 'ProfileChunk') continue
    const { nodes = [], samples } = args.data.cpuProfile
    for (const node of nodes) if (node.callFrame.functionName === '(idle)') ids.add(node.id)
    for (const [i, sample] of samples.entries()) {
      at += args.data.timeDeltas[i]
      move(at, ids.has(sample))
    }
  }
  if (events.length > 0) move(Math.max(at, events[events.length - 1].ts), false)
  return idleUs / 1000
}

for (const [state, code, top, skip] of /** @type {const} */ ([
  ['busy', 'for (;;) Math.sqrt(Math.random())', '(anonymous)', NEEDS_INTERRUPT],
  ['idle', 'setInterval(() => {}, 1e6)', '(idle)', false],
])) {
  const title = `a ${state} program's samples are written while it runs, and survive SIGKILL`
  test(title, { skip }, async () => {
    const source = `process.send(0, () => { ${code} })`
    const { traces, signal, stderr } = await run(['-e', source], {
      env: FAST,
      during: async (child, dir) => {
        const name = top === '(anonymous)' ? '' : top
        await until(dir, (events) =>
          name === '(idle)' ? idleMs(events) > 1000 : samplesOf(events, name) > 300,
        )
        child.kill('SIGKILL')
      },
    })
    assert.equal(signal, 'SIGKILL')
    assert.equal(stderr, '')
    assert.equal(traces.length, 1)
    assert.ok(!traces[0].ended)
    const share =
      top === '(idle)' ? traces[0].selfShare('(idle)') : 1 - traces[0].selfShare('(idle)')
    assert.ok(share > 0.5, `${share}`)
  })
}

test('the samples of a thread blocked in native code come with the next window', async () => {
  const source = `
    require('node:child_process').execFileSync('sleep', ['0.7'])
    process.send(0)
  `
  const { traces } = await run(['-e', source], { env: FAST })
  assert.ok(traces[0].durationUs > 700_000)
  // The number of samples depends on the machine, but there must be no long gap.
  const longest = Math.max(...traces[0].samples.map(({ us }) => us))
  assert.ok(longest < 350_000, `${longest} µs without a sample`)
  assert.ok(traces[0].totalShare((frame) => frame.url === '[eval]') > 0.8)
})

test('threads that are blocked for ten seconds are recorded, and end normally', async () => {
  const source = `
    const { Worker } = require('node:worker_threads')
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000)'
    new Worker(wait, { eval: true })
    require('node:child_process').execFileSync('sleep', ['10'])
    require(${SPIN}).spin(100)`
  const { code, stderr, traces } = await run(['-e', source])
  assert.equal(code, 0)
  assert.equal(stderr, '')
  assert.equal(traces.length, 2)
  for (const trace of traces) {
    assert.ok(trace.ended)
    assert.ok(trace.durationUs > 9e6, `${trace.label}: ${trace.durationUs} µs`)
  }
})

test('a call tree that exceeds its limit is reset, and the trace stays correct', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const source = `
    const functions = Array.from({ length: 2000 }, (_, i) => new Function(
      'return function made' + i + '() {' +
      '  let sum = 0; for (let i = 0; i < 3e4; i++) sum += Math.sqrt(i); return sum }')())
    const end = Date.now() + 1500
    while (Date.now() < end) for (const f of functions) f()
  `
  const options = { env: { ...FAST, CPU_PROF_MAX_NODES: '1000', CPU_PROF_INTERVAL: '100' } }
  const { traces } = await run(['-e', source], options)
  const [trace] = traces
  const places = [...trace.nodes.values()].map((node) =>
    JSON.stringify([node.parent, node.callFrame]),
  )
  assert.ok(trace.nodes.size > 1000)
  assert.ok(new Set(places.map((place) => place.replace(/^\[\d+/, ''))).size < trace.nodes.size)
  assert.ok(trace.totalShare((frame) => frame.functionName.startsWith('made')) > 0.5)
  const metas = [...trace.nodes.values()].filter(
    (node) => node.callFrame.functionName === '(program)',
  )
  assert.ok(metas.length <= 1)
})
