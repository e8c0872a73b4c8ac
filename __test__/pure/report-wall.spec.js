'use strict'

// Critical time and the chain: the wall time of a run by what had it, on recordings with known times.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { seededRandom } = require('../helpers/random.js')
const { profileText, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */
/** @typedef {import('../helpers/written.js').Recorded} Recorded */

const BLOCKED = { cpuMs: 0 }
/** Half of each sample's 10 ms was waiting for a core. */
const waiting = (/** @type {number} */ ms) => ({ cpuMs: ms / 2, waitMs: ms / 2, everyMs: 10 })

/**
 * Reports on threads that start some milliseconds after the first.
 * @param {(Recorded & { at?: number })[]} threads @param {object} [options]
 */
async function reportOn(threads, options) {
  const cwd = temporaryDirectory()
  for (const [index, { at = 0, ...thread }] of threads.entries()) {
    const start = 1e9 + 1000 * at
    writeTrace(path.join(cwd, `${index}.trace.json`), { start, flushMs: 100, ...thread })
  }
  return report(cwd, { top: Number.POSITIVE_INFINITY, ...options })
}

/** Returns the critical times by the names of functions. @param {import('../../index.js').Report} result */
const criticalOf = ({ functions }) =>
  Object.fromEntries(functions.map(({ name, criticalMs }) => [name, criticalMs]))

const NONE = { workMs: 0, waitingMs: 0, blockedMs: 0, idleMs: 0 }

test('a function that works alone has its whole time critical, and idle time is of nobody', async () => {
  const result = await reportOn([
    {
      spans: [
        ['main a.js:1 > work a.js:2', 100],
        ['(idle)', 50],
        ['(garbage collector)', 20],
        ['(program)', 10],
        ['main a.js:1', 30],
      ],
    },
  ])
  assert.deepEqual(criticalOf(result), { work: 100, main: 30 })
  assert.deepEqual(result.wall, { ...NONE, workMs: 160, idleMs: 50 })
  const [file] = result.files
  assert.deepEqual([file.selfMs, file.criticalMs], [130, 130])
  assert.deepEqual([result.packages[0].criticalMs, result.owners[0].criticalMs], [130, 130])
})

test('one of four functions in parallel has a quarter of its time', async () => {
  const names = ['a', 'b', 'c', 'd']
  const result = await reportOn([
    // Two processes, one with three threads.
    ...names.slice(1).map((name, tid) => {
      const spans = /** @type {Span[]} */ ([[`${name} ${name}.js:1`, 400]])
      return { tid, spans }
    }),
    {
      pid: 8,
      spans: [
        ['a a.js:1', 400],
        ['alone a.js:5', 100],
      ],
    },
  ])
  assert.deepEqual(criticalOf(result), { a: 100, b: 100, c: 100, d: 100, alone: 100 })
  assert.deepEqual(result.wall, { ...NONE, workMs: 500 })
  assert.equal(result.durationMs, 500)
})

test('a call that is blocked while a child works is not critical; the work of the child is', async () => {
  const result = await reportOn([
    { spans: [['main a.js:1 > spawnSync', 400, BLOCKED]] },
    { pid: 8, ppid: 7, ancestors: [7, 1], at: 100, spans: [['work b.js:1', 200]] },
  ])
  // While the child does not run yet, and after its end, the parent waits for nobody that is known.
  assert.deepEqual(criticalOf(result), { spawnSync: 200, work: 200 })
  assert.deepEqual(result.wall, { ...NONE, workMs: 200, blockedMs: 200 })
})

test('calls that are blocked while nobody works share that time', async () => {
  const result = await reportOn([
    { spans: [['sleep a.js:1', 300, BLOCKED]] },
    { pid: 8, at: 100, spans: [['read b.js:1 > readSync', 100, BLOCKED]] },
  ])
  assert.deepEqual(criticalOf(result), { sleep: 250, readSync: 50 })
  assert.deepEqual(result.wall, { ...NONE, blockedMs: 300 })
})

test('a thread that waits for a core has a share, which is no time of a function', async () => {
  const result = await reportOn([
    { spans: [['work a.js:1', 400]] },
    { pid: 8, spans: [['starved b.js:1', 400, waiting(400)]] },
  ])
  assert.deepEqual(criticalOf(result), { work: 200, starved: 100 })
  assert.deepEqual(result.wall, { ...NONE, workMs: 300, waitingMs: 100 })
  const starved = result.functions.find(({ name }) => name === 'starved')
  assert.deepEqual([starved?.selfMs, starved?.waitingMs], [200, 200])
})

test('a worker that waits for a task in its own file is idle', async () => {
  const worker = { tid: 1, script: 'worker.js' }
  const result = await reportOn([
    { spans: [['main a.js:1', 100]] },
    {
      ...worker,
      spans: [
        ['loop worker.js:1', 300, BLOCKED],
        ['loop worker.js:1 > task b.js:1', 100, BLOCKED],
      ],
    },
  ])
  assert.deepEqual([result.totals.idleMs, result.totals.blockedMs], [300, 100])
  assert.deepEqual(criticalOf(result), { main: 100, task: 100 })
  assert.deepEqual(result.wall, { ...NONE, workMs: 100, blockedMs: 100, idleMs: 200 })
})

test('the parts of the wall time are its duration, whatever the threads did', async (t) => {
  const random = seededRandom(t)
  const whole = (/** @type {number} */ from, /** @type {number} */ to) =>
    Math.floor(from + random() * (to - from))
  for (let round = 0; round < 10; round++) {
    const threads = Array.from({ length: whole(1, 7) }, (_, index) => ({
      pid: 7 + (index % 3),
      tid: index,
      at: index === 0 ? 0 : whole(0, 300),
      spans: Array.from({ length: whole(1, 8) }, (_, part) => {
        const ms = 10 * whole(1, 30)
        const stack = `main a.js:1 > f${index}${part} b.js:${10 * index + part + 1}`
        return /** @type {Span[]} */ ([
          [stack, ms],
          [stack, ms, BLOCKED],
          [stack, ms, waiting(ms)],
          ['(idle)', ms],
        ])[whole(0, 4)]
      }),
    }))
    const { wall = NONE, durationMs, functions } = await reportOn(threads)
    const { workMs, waitingMs, blockedMs, idleMs } = wall
    const sum = workMs + waitingMs + blockedMs + idleMs
    assert.ok(Math.abs(sum - durationMs) < 0.001, `${sum} of ${durationMs} ms`)
    const criticalMs = functions.reduce((sum, each) => sum + each.criticalMs, 0)
    // Each function is rounded to microseconds.
    const rest = Math.abs(criticalMs - workMs - blockedMs)
    assert.ok(rest < 0.001 * (functions.length + 1), `${criticalMs} of ${workMs + blockedMs} ms`)
  }
})

test('a filter leaves the shares as they are, and a slice has its own', async () => {
  const threads = [
    { label: 'one', spans: /** @type {Span[]} */ ([['a a.js:1', 200]]) },
    { label: 'two', pid: 8, at: 100, spans: /** @type {Span[]} */ ([['b b.js:1', 200]]) },
  ]
  const wall = { ...NONE, workMs: 300 }
  const one = await reportOn(threads, { process: 'one' })
  assert.deepEqual([criticalOf(one), one.wall], [{ a: 150 }, wall])
  const slice = await reportOn(threads, { from: 50, to: 150 })
  assert.deepEqual(criticalOf(slice), { a: 75, b: 25 })
  assert.deepEqual(slice.wall, { ...NONE, workMs: 100 })
})

test('a profile that only counts samples has no wall time', async () => {
  const { samples, timeDeltas, ...counted } = JSON.parse(profileText([['work a.js:1', 100]]))
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  fs.writeFileSync(file, JSON.stringify(counted))
  const { wall, chain, functions } = await report(file)
  assert.deepEqual([wall, chain, functions[0].selfMs > 0], [undefined, [], true])
})
