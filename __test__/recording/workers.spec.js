'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory } = require('../helpers/run.js')
const { isInspector, NEEDS_INTERRUPT } = require('../helpers/source.js')
const { assertSeen } = require('../helpers/work.js')

const ENDS = [
  { how: 'natural', code: 0, workerCode: 0 },
  { how: 'exit', code: 0, workerCode: 5 },
  { how: 'throw', code: 0, workerCode: 1 },
  { how: 'terminate', code: 0, workerCode: 1 },
  { how: 'main-exit', code: 3 },
  { how: 'main-throw', code: 1 },
]

/** Runs of workers.js by their end. @type {Map<string, ReturnType<typeof run>>} */
const runs = new Map()

/** Records workers.js, once for each end. @param {string} how */
function recorded(how) {
  const result = runs.get(how) ?? run(['workers.js', how])
  runs.set(how, result)
  return result
}

for (const { how, code, workerCode } of ENDS) {
  test(`workers that end by ${how} leave finished traces`, async () => {
    const result = await recorded(how)
    assert.equal(result.code, code, result.stderr)
    assert.deepEqual(
      result.traces.map((trace) => trace.tid),
      [0, 1, 2],
    )
    for (const trace of result.traces) assert.ok(trace.ended, trace.file)
    for (const worker of result.traces.slice(1)) {
      // In the other cases the worker ends in the middle of its work.
      if (isInspector && !['natural', 'exit', 'throw'].includes(how)) continue
      assertSeen(worker, 'crunch')
    }
    if (workerCode !== undefined) {
      const lines = result.stdout.trim().split('\n').sort()
      const expected = [1, 2].map((id) => `worker ${id} ended with ${workerCode}`)
      assert.deepEqual(lines, expected)
    }
  })
}

test('threads are named after their process and script', { skip: NEEDS_INTERRUPT }, async () => {
  const { traces, pid } = await run(['workers.js', 'terminate'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '100' },
  })
  const [main, ...workers] = traces
  assert.equal(main.processLabel, `workers.js: terminate (pid ${pid})`)
  const names = main.events.filter((/** @type {any} */ event) => event.name === 'thread_name')
  assert.deepEqual(
    names.map((/** @type {any} */ event) => event.args.name),
    [`workers.js (pid ${pid}) - main`, 'CrRendererMain'],
  )
  for (const worker of workers) {
    assert.equal(worker.label, `workers.js (pid ${pid}) - worker ${worker.tid}: workers.js`)
    assert.equal(worker.processLabel, main.processLabel)
  }
})

test('workers without a script file are recorded, without an error', async () => {
  const source = `
    const { Worker } = require('node:worker_threads')
    new Worker(new URL('data:text/javascript,await 0')).on('error', fail)
    new Worker('0', { eval: true }).on('error', fail)
    new Worker('process.argv = null; 0', { eval: true }).on('error', fail)
    function fail(error) { console.error(error) }
  `
  const { traces, code, stderr } = await run(['-e', source])
  assert.equal(stderr, '')
  assert.equal(code, 0)
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1, 2, 3],
  )
})

test('module hooks work as without the profiler', async (t) => {
  if (typeof require('node:module').register !== 'function') {
    return t.skip('this Node has no module.register()')
  }
  const source = `
    require('node:module').register('data:text/javascript,export function load(u, c, n) { return n(u, c) }')
    import('node:fs').then(() => console.log('loaded'))
  `
  const plain = await run(['-e', source], { preload: null })
  const { traces, code, stdout, stderr } = await run(['-e', source])
  assert.equal(code, 0)
  assert.equal(stdout, 'loaded\n')
  assert.equal(stderr.replace(/\d+/g, ''), plain.stderr.replace(/\d+/g, ''))
  assert.ok(traces.some((trace) => trace.tid === 0 && trace.ended))
})

test('a worker inside a worker is recorded', async () => {
  const source = `
    const { Worker, isMainThread, workerData } = require('node:worker_threads')
    const depth = isMainThread ? 0 : workerData
    if (depth < 2) new Worker(__filename, { workerData: depth + 1 })
  `
  const file = path.join(temporaryDirectory(), 'nested.js')
  fs.writeFileSync(file, source)
  const { traces, code } = await run([file])
  assert.equal(code, 0)
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1, 2],
  )
})

test('threads never share a script id', async () => {
  const { traces } = await recorded('natural')
  /** @type {Map<string, number>} */
  const owner = new Map()
  for (const { nodes, tid } of traces) {
    for (const { callFrame } of nodes.values()) {
      if (callFrame.scriptId === '0') continue
      assert.ok(Number(callFrame.scriptId) > 1e9)
      assert.equal(owner.get(callFrame.scriptId) ?? tid, tid)
      owner.set(callFrame.scriptId, tid)
    }
  }
})
