'use strict'

// The events beside the profile: collections, memory and long tasks.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { run, temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/**
 * Three tasks with waits between them: a short one, a long one, and one that only a signal may end.
 * Prints the times of the long tasks and of the waits.
 */
const PROGRAM = `
  const { spin } = require(${SPIN})
  let kept = []
  const spans = { work: [], waits: [] }
  const nowUs = () => Number(process.hrtime.bigint() / 1000n)
  const cpuMs = () => process.cpuUsage().user / 1000
  function churn(ms) {
    const start = nowUs()
    for (const enough = cpuMs() + ms; cpuMs() < enough; ) {
      const rows = []
      for (let i = 0; i < 2000; i++) rows.push({ i, text: 'row ' + i })
      kept.push(rows)
      if (kept.length > 300) kept = []
    }
    spans.work.push([start, nowUs()])
  }
  async function wait(ms) {
    const start = nowUs()
    await new Promise((resolve) => setTimeout(resolve, ms))
    spans.waits.push([start, nowUs()])
  }
  async function main() {
    await wait(100)
    spin(5)
    await wait(100)
    churn(400)
    await wait(500)
    churn(700)
    console.log(JSON.stringify(spans))
    if (process.argv[2]) process.send(0)
    while (process.argv[2]) churn(100)
  }
  main()`

/**
 * Runs the program. With a signal, the program is busy until the signal comes.
 * @param {NodeJS.Signals} [signal] @param {Record<string, string>} [env]
 */
async function record(signal, env = {}) {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'main.js'), PROGRAM)
  return run(['./main.js', ...(signal ? ['busy'] : [])], {
    cwd,
    env,
    during: (child) => child.once('message', () => child.kill(signal)),
  })
}

/** @type {ReturnType<typeof record> | undefined} */
let recording

/** Runs the program to its end, once. */
const recorded = () => {
  recording ??= record()
  return recording
}

/** @param {{ events: any[] }} trace @param {string} name @returns {any[]} */
const named = ({ events }, name) => events.filter((event) => event.name === name)
/** @param {any} event @returns {[number, number]} */
const span = ({ ts, dur }) => [ts, ts + dur]

test('long tasks are marked, with their collections inside of a call', async () => {
  const { code, stdout, traces } = await recorded()
  assert.equal(code, 0)
  const [trace] = traces
  const tasks = named(trace, 'RunTask').map(span)
  /** @type {{ work: [number, number][], waits: [number, number][] }} */
  const { work, waits } = JSON.parse(stdout)
  // A task begins with its first sample, which can be late.
  const taskAt = (/** @type {[number, number]} */ [start, end]) => {
    const us = start + 0.9 * (end - start)
    return tasks.findIndex(([from, to]) => from < us && us < to)
  }
  const [first, second] = work.map(taskAt)
  assert.ok(first >= 0 && second > first, JSON.stringify({ work, tasks }))
  // V8's sampling thread can miss shorter waits while it waits for a core.
  const longest = waits.at(-1)
  assert.ok(longest && taskAt(longest) === -1, JSON.stringify({ longest, tasks }))
  // A task is long from 50 ms on: docs/events.md.
  assert.ok(
    tasks.every(([start, end]) => end - start >= 50_000),
    JSON.stringify(tasks),
  )
  const calls = named(trace, 'v8.callFunction').map(span)
  const collections = [...named(trace, 'MinorGC'), ...named(trace, 'MajorGC')]
  assert.ok(collections.length > 0)
  for (const collection of collections) {
    const [start, end] = span(collection)
    const inside = calls.filter(([from, to]) => from <= start && end <= to)
    const outside = calls.filter(([from, to]) => start < to && from < end)
    assert.deepEqual(inside, outside, JSON.stringify(collection))
    const { usedHeapSizeBefore, usedHeapSizeAfter } = collection.args
    assert.ok(usedHeapSizeBefore > 1e6 && usedHeapSizeAfter > 1e6, JSON.stringify(collection))
  }
  for (const spans of [tasks, calls]) {
    const sorted = [...spans].sort(([a], [b]) => a - b)
    for (const [index, [start]] of sorted.entries()) {
      assert.ok(index === 0 || start >= sorted[index - 1][1], 'two of them overlap')
    }
  }
})

test('a killed program keeps its task up to the last flush, and its memory up to the last window', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { signal, traces } = await record('SIGKILL', { CPU_PROF_FLUSH_INTERVAL: '50' })
  assert.equal(signal, 'SIGKILL')
  const [trace] = traces
  const last = trace.events.at(-1)
  assert.ok(['RunTask', 'v8.callFunction'].includes(last.name), JSON.stringify(last))
  const [start, end] = span(named(trace, 'RunTask').at(-1))
  const [before, flushed] = named(trace, 'thread.flush')
    .slice(-2)
    .map(({ ts }) => ts)
  assert.equal(end, flushed)
  assert.ok(start < before, 'the task has only one window')
  // A thread that has not run since its last window gives no new one: the heartbeat is the writer's own.
  const windows = named(trace, 'thread.flush').filter(({ args }) => args.data.pauseUs !== undefined)
  for (const name of ['UpdateCounters', 'memory']) {
    assert.equal(named(trace, name).at(-1).ts, windows.at(-1)?.ts, name)
  }
})

test('the report tells the collections and the memory, of merged traces too', async () => {
  const { files, traces, cwd } = await recorded()
  const { processes } = await report(files)
  const [thread] = processes[0].threads
  const { collections, memory } = thread
  assert.ok(collections && memory)
  // Not all of them are drawn.
  const drawn = named(traces[0], 'MinorGC').length
  assert.ok(drawn > 0 && collections.minor >= drawn, JSON.stringify({ drawn, collections }))
  assert.ok(collections.longestMs > 0 && collections.longestMs <= collections.totalMs)
  assert.ok(collections.totalMs < thread.durationMs)
  const heaps = named(traces[0], 'UpdateCounters').map(({ args }) => args.data.jsHeapSizeUsed)
  assert.equal(memory.heapPeak, Math.max(...heaps))
  assert.equal(memory.heapGrowth, heaps.at(-1) - heaps[0])
  assert.ok(Number(memory.rssPeak) > memory.heapPeak)

  const merged = path.join(cwd, 'merged.json')
  await merge(files, merged)
  const again = (await report(merged)).processes[0].threads[0]
  assert.deepEqual([again.collections, again.memory], [collections, memory])
})

test('the memory is what Node tells', async () => {
  const { stdout, traces } = await run([
    '-e',
    `const kept = Buffer.alloc(50e6, 1)
    globalThis.gc?.()
    const { used_heap_size, external_memory } = require('node:v8').getHeapStatistics()
    console.log(JSON.stringify({ used_heap_size, external_memory, rss: process.memoryUsage.rss() }))
    globalThis.kept = kept`,
  ])
  const told = JSON.parse(stdout)
  const { args } = named(traces[0], 'memory').at(-1)
  const isNear = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 0.3 * b
  assert.ok(isNear(args.heapUsed, told.used_heap_size), JSON.stringify([args, told]))
  assert.ok(isNear(args.external, told.external_memory), JSON.stringify([args, told]))
  assert.ok(isNear(args.rss, told.rss), JSON.stringify([args, told]))
})

test('only the categories that are wanted are recorded', async () => {
  const [cpu, gc] = await Promise.all(
    ['cpu', 'cpu,gc'].map(async (categories) => {
      const { traces } = await record(undefined, { CPU_PROF_CATEGORIES: categories })
      return traces[0]
    }),
  )
  const names = new Set(cpu.events.map((/** @type {any} */ { name }) => name))
  for (const name of [
    'RunTask',
    'v8.callFunction',
    'MinorGC',
    'MajorGC',
    'UpdateCounters',
    'memory',
  ]) {
    assert.ok(!names.has(name), name)
  }
  assert.ok(names.has('ProfileChunk'))
  assert.ok(named(gc, 'MinorGC').length > 0)
  assert.equal(named(gc, 'RunTask').filter(({ dur }) => dur < 50_000).length, 0)
  assert.equal(named(gc, 'UpdateCounters').length, 0)
})

test('workers have collections and memory of their own', async () => {
  const { code, traces } = await run([
    '-e',
    `const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(`${PROGRAM.replace('process.argv[2]', 'false')}`)}, { eval: true })`,
  ])
  assert.equal(code, 0)
  const [main, worker] = traces
  assert.ok(named(worker, 'RunTask').length > 0)
  assert.ok(named(worker, 'MinorGC').length + named(worker, 'MajorGC').length > 0)
  assert.equal(named(worker, `memory of worker ${worker.tid}`).length > 0, true)
  assert.ok(named(main, 'memory').length > 0)
})

test('a merged trace has a track of the processes, and how they ended', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(
    path.join(cwd, 'child.js'),
    `const ends = {
      empty() { process.exitCode = 5 },
      exit() { process.exit(9) },
      throw() { throw new Error('thrown') },
      killed() { process.send(0); setInterval(() => {}, 1000) },
      terminated() { process.send(0); setInterval(() => {}, 1000) },
    }
    ends[process.argv[2]]()`,
  )
  fs.writeFileSync(
    path.join(cwd, 'parent.js'),
    `const { fork } = require('node:child_process')
    const { Worker } = require('node:worker_threads')
    new Worker('setTimeout(() => {}, 50)', { eval: true })
    const options = { execArgv: process.execArgv, silent: true }
    for (const end of ['empty', 'exit', 'throw']) fork('./child.js', [end], options)
    const killed = fork('./child.js', ['killed'], options)
    killed.on('message', () => killed.kill('SIGKILL'))
    const terminated = fork('./child.js', ['terminated'], options)
    terminated.on('message', () => terminated.kill('SIGTERM'))`,
  )
  const { code, files } = await run(['./parent.js'], { cwd, read: 0 })
  assert.equal(code, 0)
  const merged = path.join(cwd, 'merged.json')
  const again = path.join(cwd, 'again.json')
  await merge(files, merged)
  await merge([merged], again)
  for (const file of [merged, again]) {
    const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'))
    const spans = traceEvents.filter((/** @type {any} */ { cat }) => cat.includes('.processes'))
    assert.equal(spans.length, 7)
    /** @type {Record<string, string>} */
    const ended = {}
    for (const { args, pid } of spans) {
      const { name, start, end, devtools } = args.data
      assert.equal(pid, 0)
      assert.ok(start <= end, name)
      const properties = Object.fromEntries(JSON.parse(devtools).properties)
      if (name.startsWith('child.js')) assert.match(properties.parent, /^parent\.js \(pid \d+\)$/)
      ended[name.split(' (')[0]] = properties.ended
    }
    const killed = 'killed or crashed, or still running'
    assert.deepEqual(ended, {
      'parent.js': 'exit code 0',
      'worker 1': undefined,
      'child.js empty': 'exit code 5',
      'child.js exit': 'exit code 9',
      'child.js throw': 'exit code 1',
      'child.js killed': killed,
      'child.js terminated': 'SIGTERM',
    })
  }
})
