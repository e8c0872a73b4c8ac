'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { assertSeen } = require('../helpers/work.js')
const {
  NEEDS_INTERRUPT,
  NEEDS_TO_BE_UNSEEN,
  NEEDS_TO_REACH_WORKERS,
} = require('../helpers/source.js')

/** A library that calls a function of the program while it is being loaded. */
const LIBRARY = path.join(PACKAGE, 'target', 'debug', 'examples', 'libnative.so')

/** Returns the start of a program whose traces are in a folder. @param {string} dir */
const startOf = (dir) => `
  const { readdirSync } = require('node:fs')
  const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
  const { Worker, isMainThread, workerData, parentPort, threadId } = require('node:worker_threads')
  const prof = require(${JSON.stringify(PACKAGE)})
  const traces = () => readdirSync(${JSON.stringify(dir)}).filter((f) => f.endsWith('.trace.json'))
  /** Calls spin() many times: if V8 optimized a running loop before the profile starts, the profile
   * shows only its caller. */
  const work = (ms) => {
    for (let worked = 0; worked < ms; worked += 20) spin(20)
  }
  const isOwn = (file) => file.includes('.' + threadId + '.0')
  /** Works until the calling thread has a trace. */
  const recorded = () => {
    const end = Date.now() + 30_000
    while (!traces().some(isOwn)) {
      if (Date.now() > end) throw new Error('thread ' + threadId + ' is not recorded')
      spin(5)
    }
  }
  /** Resolves with the worker's next message. */
  const message = (worker) => new Promise((resolve) => worker.once('message', resolve))
  /** Resolves once \`count\` traces exist, so their threads are being recorded. */
  const files = async (count) => {
    const end = Date.now() + 30_000
    while (traces().length < count) {
      if (Date.now() > end) throw new Error('only these traces exist: ' + traces())
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
`

/**
 * Runs a program with code for the main thread and code for its workers.
 * @param {string} main @param {string} worker @param {Parameters<typeof run>[1]} [options]
 */
async function runWorkers(main, worker, options) {
  const file = path.join(temporaryDirectory(), 'program.js')
  const start = startOf(options?.env?.CPU_PROF_DIR ?? '.')
  const program = `if (isMainThread) (async () => {${main}})(); else {${worker}}`
  fs.writeFileSync(file, `${start} ${program}`)
  const result = await run([file], { preload: null, ...options })
  assert.equal(result.stderr, '')
  assert.equal(result.code, 0)
  return result
}

test('start() records all workers that are created after it', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { traces, stdout } = await runWorkers(
    `prof.start()
     const workers = [{}, { execArgv: [], env: {} }, { workerData: 'ends' }].map(
       (options) => new Worker(__filename, options))
     const ended = new Promise((resolve) => workers[2].on('exit', resolve))
     await Promise.all([...workers.map(message), ended])
     workers[0].terminate()
     await new Promise((resolve) => workers[0].on('exit', resolve))
     console.log(JSON.stringify(prof.stop()))
     process.exit()`,
    `recorded()
     work(200)
     parentPort.postMessage('worked')
     if (workerData !== 'ends') work(1e9)`,
  )
  const recording = JSON.parse(stdout)
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1, 2, 3],
  )
  assert.deepEqual([...recording.files].sort(), traces.map((trace) => trace.file).sort())
  let samples = 0
  for (const trace of traces) {
    assert.ok(trace.ended, trace.label)
    samples += trace.samples.length
    if (trace.tid === 0) continue
    assertSeen(trace, 'spin')
    assert.match(trace.label, /worker \d: program\.js$/)
  }
  assert.equal(recording.samples, samples)
  assert.equal(recording.threadId, 0)
})

test('a worker whose name is not ASCII is recorded', { skip: NEEDS_TO_REACH_WORKERS }, async () => {
  const result = await runWorkers(
    `prof.start()
     const worker = new Worker(__filename, { name: 'é日' })
     await message(worker)
     prof.stop()`,
    // Works until it is recorded, and returns to its event loop, which the inspector source needs.
    `const end = Date.now() + 30_000
     const step = () => {
       const isDone = traces().some(isOwn) || Date.now() > end
       work(100)
       if (isDone) parentPort.postMessage('done')
       else setTimeout(step)
     }
     step()`,
  )
  assert.equal(result.stderr, '')
  assert.equal(result.traces.length, 2)
  assertSeen(result.traces[1], 'spin')
})

test('a worker is recorded while it is loading a library, which loads no other', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  // Node holds a lock during the load, and the library does not return before the recording starts.
  const { traces } = await runWorkers(
    `prof.start()
     const worker = new Worker(__filename)
     await new Promise((resolve) => worker.on('exit', resolve))
     prof.stop()`,
    `globalThis.duringLoad = function duringLoad() {
       recorded()
       work(200)
     }
     process.dlopen({ exports: {} }, ${JSON.stringify(LIBRARY)})`,
    { env: { NATIVE: 'call' } },
  )
  assert.equal(traces.length, 2)
  assertSeen(traces[1], 'duringLoad')
})

test('workers created before start() or after stop() are not recorded', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { traces } = await runWorkers(
    `const before = new Worker(__filename)
     await message(before)
     prof.start()
     const between = new Worker(__filename)
     await message(between)
     await files(2)
     prof.stop()
     const after = new Worker(__filename)
     await message(after)
     setTimeout(() => process.exit(), 300)`,
    `spin(200); parentPort.postMessage('busy'); spin(1e9)`,
  )
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 2],
  )
})

test('each of several recordings in a row has only its own workers', {
  skip: NEEDS_TO_REACH_WORKERS,
}, async () => {
  const { stdout } = await runWorkers(
    `const ended = (worker) => new Promise((resolve) => worker.on('exit', resolve))
     await ended(new Worker('', { eval: true }))
     for (const round of [1, 2, 3]) {
       prof.start({ name: round + '-%T', flushInterval: 50 })
       const workers = [new Worker(__filename), new Worker(__filename)]
       await files(3 * round)
       for (const worker of workers) worker.postMessage('end')
       await Promise.all(workers.map(ended))
       console.log(prof.stop().files.map((file) => require('node:path').basename(file)).sort().join())
     }`,
    `parentPort.once('message', () => process.exit())`,
  )
  assert.deepEqual(stdout.trim().split('\n'), [
    '1-0.trace.json,1-2.trace.json,1-3.trace.json',
    '2-0.trace.json,2-4.trace.json,2-5.trace.json',
    '3-0.trace.json,3-6.trace.json,3-7.trace.json',
  ])
})

test('workers can end while Node tells the inspector of them', {
  skip: NEEDS_TO_REACH_WORKERS,
}, async () => {
  const { stdout, traces } = await runWorkers(
    `prof.start({ flushInterval: 50 })
     const workers = Array.from({ length: 8 }, () => new Worker(__filename))
     await files(9)
     // A worker answers after it has told the profiler that its recording has begun.
     const answers = workers.map(message)
     for (const worker of workers) worker.postMessage('answer')
     await Promise.all(answers)
     for (const worker of workers) worker.postMessage('end')
     // The profiler looks each worker up that it is told of: while that takes long, the others end.
     const { get } = Map.prototype
     Map.prototype.get = function (key) {
       for (const end = performance.now() + 20; performance.now() < end; );
       return get.call(this, key)
     }
     const last = new Worker(__filename)
     Map.prototype.get = get
     await files(10)
     last.postMessage('end')
     last.on('exit', () => console.log(prof.stop().files.length))`,
    `parentPort.on('message', (what) => {
       if (what === 'end') process.exit()
       parentPort.postMessage(what)
     })`,
  )
  assert.equal(stdout, '10\n')
  assert.equal(traces.length, 10)
})

test('workers that end too soon leave no inspector session open', async () => {
  const { stdout } = await runWorkers(
    `prof.start()
     const workers = Array.from({ length: 20 }, () => new Worker('', { eval: true }))
     await Promise.all(workers.map((worker) => worker.terminate()))
     prof.stop()
     let collected = 0
     const registry = new FinalizationRegistry(() => collected++)
     const { write } = process.stdout
     process.stdout.write = () => true
     // An open session keeps logged values for one or two seconds.
     for (let i = 0; i < 100 && collected === 0; i++) {
       const logged = {}
       registry.register(logged)
       console.log(logged)
       await new Promise((resolve) => setTimeout(resolve, 100))
       gc()
     }
     process.stdout.write = write
     console.log(collected > 0)`,
    '',
    { preload: ['--expose-gc'] },
  )
  assert.equal(stdout, 'true\n')
})

test('workers are not recorded with `workers: false`', async () => {
  const { traces } = await runWorkers(
    `prof.start({ workers: false })
     new Worker(__filename).on('exit', () => prof.stop())`,
    `spin(300); if (prof.isRecording()) console.log('recorded')`,
  )
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0],
  )
})

test('stop() does not wait for a blocked worker and lists its file', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { traces, stdout } = await runWorkers(
    `prof.start({ flushInterval: 50 })
     const worker = new Worker(__filename)
     await message(worker)
     const { files } = prof.stop()
     const { existsSync, writeFileSync } = require('node:fs')
     console.log(JSON.stringify({ files, hasWaited: existsSync('given-up') }))
     writeFileSync('stopped', '')
     process.exit()`,
    `recorded()
     work(200)
     parentPort.postMessage('blocks')
     // Waits for the end of stop(), at most 30 s. The process waits for its workers.
     const wait = 'for i in $(seq 600); do [ -e stopped ] && exit; sleep 0.05; done; touch given-up'
     require('node:child_process').execFileSync('sh', ['-c', wait])`,
  )
  const { files, hasWaited } = JSON.parse(stdout)
  assert.equal(files.length, 2)
  assert.equal(hasWaited, false)
  assertSeen(traces[1], 'spin')
})

test('a worker can start its own recording', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { traces, stdout } = await runWorkers(
    `prof.start()
     new Worker(__filename).on('exit', () => console.log(prof.stop().files.length))`,
    `recorded()
     prof.start({ name: 'own' })
     function mine() { return spin(200) }
     mine()
     prof.stop()
     if (prof.isRecording()) console.log('still recording')`,
  )
  assert.equal(stdout, '2\n')
  assert.equal(traces.length, 3)
  const own = traces.find(({ file }) => path.basename(file) === 'own.trace.json')
  assert.ok(own)
  assertSeen(own, 'mine')
})

test('the program cannot see how its workers are recorded', {
  skip: NEEDS_TO_BE_UNSEEN,
}, async () => {
  const observe = `JSON.stringify({
    threadId,
    events: process.eventNames(),
    handles: process._getActiveHandles().map((handle) => handle.constructor.name),
    resources: process.getActiveResourcesInfo?.(),
    execArgv: process.execArgv,
    env: Object.keys(process.env).sort(),
    url: require('node:inspector').url(),
    globals: Object.getOwnPropertyNames(globalThis).sort(),
  })`
  const outputs = []
  for (const isRecorded of [false, true]) {
    const { stdout } = await runWorkers(
      `if (${isRecorded}) prof.start()
       const worker = new Worker(__filename, { env: {} })
       const exit = new Promise((resolve) => worker.on('exit', resolve))
       const seen = await message(worker)
       console.log(seen, await exit, ${observe})`,
      `if (${isRecorded}) recorded()
       spin(100)
       parentPort.postMessage(${observe})`,
      { env: { CPU_PROF_DIR: temporaryDirectory() } },
    )
    outputs.push(stdout)
  }
  assert.equal(outputs[1], outputs[0])
})

test('values that are logged while workers are attached are not kept in memory', async () => {
  const { stdout } = await runWorkers(
    `prof.start()
     const worker = new Worker(__filename)
     const logged = []
     for (let i = 0; i < 50; i++) {
       const value = { values: new Array(1e4).fill(i) }
       console.debug(value)
       logged.push(new WeakRef(value))
       await new Promise((resolve) => setTimeout(resolve, 5))
     }
     await message(worker)
     prof.stop()
     setTimeout(() => {
       gc()
       console.log('kept', logged.filter((ref) => ref.deref()).length)
     }, 100)`,
    `spin(600); parentPort.postMessage('worked')`,
    { preload: ['--expose-gc'] },
  )
  assert.match(stdout, /^kept 0$/m)
})

test('no timer is set in a parent that is busy while its worker is attached', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { stdout, traces } = await runWorkers(
    `const timers = require('node:timers')
     const { setTimeout } = timers
     let isBusy = false
     timers.setTimeout = (...args) => {
       if (isBusy) console.log('a timer was set meanwhile')
       return setTimeout(...args)
     }
     // Loads the code that uses timers, now that they are patched.
     prof.start()
     const hasStarted = new Int32Array(new SharedArrayBuffer(4))
     const worker = new Worker(__filename, { workerData: hasStarted })
     const worked = message(worker)
     isBusy = true
     // The inspector tells of a worker before its script runs.
     for (const end = Date.now() + 20_000; Atomics.load(hasStarted, 0) === 0; spin(5)) {
       if (Date.now() > end) throw new Error('the worker has not started')
     }
     spin(200)
     isBusy = false
     await worked
     prof.stop()`,
    `Atomics.store(workerData, 0, 1)
     recorded()
     work(200)
     parentPort.postMessage('worked')`,
  )
  assert.equal(stdout, '')
  assertSeen(traces[1], 'spin')
})
