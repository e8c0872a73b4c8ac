'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { isInspector, NEEDS_INTERRUPT, NEEDS_TO_REACH_WORKERS } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const FAST = { CPU_PROF_FLUSH_INTERVAL: '100' }

/** Whether a worker can read its option `name`: Node has `threadName` from 22 on. */
const KNOWS_NAMES = 'threadName' in require('node:worker_threads')

/**
 * Writes a program whose main thread starts workers, and returns its path. Both parts can use
 * `spin()`, `Worker`, `parentPort` and `workerData`.
 * @param {string} main @param {string} worker the code of workers that run the program's file
 */
function program(main, worker) {
  const file = path.join(temporaryDirectory(), 'program.js')
  fs.writeFileSync(
    file,
    `const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
     const { spin } = require(${SPIN})
     if (isMainThread) {${main}} else {${worker}}`,
  )
  return file
}

/** Returns the names of the workers, without the process. @param {any[]} traces */
const workerNames = (traces) =>
  traces.filter(({ tid }) => tid > 0).map(({ label }) => label.replace(/^.* - /, ''))

/** Code that puts a getter into argv, which counts its calls. */
const GETTER = `
  let calls = 0
  const file = process.argv[1]
  Object.defineProperty(process.argv, 1, { get() { calls++; return file } })
  Object.defineProperty(Object.prototype, 'value', { get() { calls++ }, configurable: true })
  const report = () => {
    delete Object.prototype.value
    parentPort.postMessage(calls)
  }`

test('a getter that a busy worker puts into process.argv is not called', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const file = program(
    `new Worker(__filename).on('message', (calls) => console.log(calls))`,
    `${GETTER}; spin(1000); report()`,
  )
  const { traces, stdout, stderr, code } = await runUnharmed([file], { env: FAST })
  assert.equal(code, 0)
  assert.equal(stderr, '')
  assert.equal(stdout, '0\n')
  const [, worker] = traces
  assert.ok(worker.ended)
  assertSeen(worker, 'spin')
  const flushes = worker.events.filter((/** @type {any} */ { name }) => name === 'thread.flush')
  assert.ok(flushes.length > 1, 'no window was taken while the worker was busy')
  assert.deepEqual(workerNames(traces), ['worker 1: program.js'])
})

test('a getter in process.argv is not called when the worker becomes idle', async () => {
  const file = program(
    `new Worker(__filename).on('message', (calls) => console.log(calls))`,
    `${GETTER}; setTimeout(report, 200)`,
  )
  const { traces, stdout, stderr, code } = await runUnharmed([file], { env: FAST })
  assert.equal(code, 0)
  assert.equal(stderr, '')
  assert.equal(stdout, '0\n')
  assert.ok(traces[1].ended)
})

test('a worker is named by its option, or else by its script', async () => {
  const file = program(
    `const options = [{ name: 'crunch' }, {}, { name: ' a/b ' }, { name: '' }, { name: 'text', eval: true }, { eval: true }]
     const start = (i) => {
       if (i === options.length) return
       const code = options[i].eval ? 'setTimeout(() => {}, 50)' : __filename
       new Worker(code, options[i]).on('exit', () => start(i + 1))
     }
     start(0)`,
    `setTimeout(() => {}, 50)`,
  )
  const { traces, stderr } = await run([file])
  assert.equal(stderr, '')
  const scripts = ['program.js', 'program.js', 'program.js', 'program.js', '[worker eval]']
  const names = ['crunch', 'program.js', 'a/b', 'program.js', 'text']
  assert.deepEqual(
    workerNames(traces),
    [...(KNOWS_NAMES ? names : scripts), '[worker eval]'].map(
      (name, i) => `worker ${i + 1}: ${name}`,
    ),
  )
})

test('a worker that has been busy since its first line is named by its frames', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const dir = temporaryDirectory()
  const module = path.join(dir, 'my module.mjs')
  fs.writeFileSync(
    module,
    `import { parentPort } from 'node:worker_threads'
     import { spin } from ${JSON.stringify(path.join(FIXTURES, 'spin.js'))}
     spin(200)
     parentPort.postMessage('busy')
     spin(1e9)`,
  )
  const file = program(
    `const url = require('node:url').pathToFileURL(${JSON.stringify(module)})
     const text = "const { spin } = require(" + ${JSON.stringify(SPIN)} + "); spin(200); " +
       "require('node:worker_threads').parentPort.postMessage('busy'); spin(1e9)"
     const workers = [new Worker(__filename), new Worker(url), new Worker(text, { eval: true })]
     let busy = 0
     for (const worker of workers) {
       worker.on('message', () => {
         if (++busy === workers.length) for (const each of workers) each.terminate()
       })
     }`,
    `spin(200); parentPort.postMessage('busy'); spin(1e9)`,
  )
  const { traces, stderr } = await run([file], { env: FAST })
  assert.equal(stderr, '')
  assert.deepEqual(workerNames(traces), [
    'worker 1: program.js',
    'worker 2: my module.mjs',
    'worker 3: [worker eval]',
  ])
})

test('a worker that calls process.exit() before its event loop turns is named', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const file = program(`new Worker(__filename)`, `spin(200); process.exit()`)
  const { traces } = await run([file])
  assert.deepEqual(workerNames(traces), ['worker 1: program.js'])
})

test('a script that another preload runs first gives way to the script of the worker', {
  skip: isInspector && 'inspector: the first window comes after the worker has its name',
}, async () => {
  const before = path.join(temporaryDirectory(), 'before.js')
  // It works for more than one window.
  fs.writeFileSync(
    before,
    `if (!require('node:worker_threads').isMainThread) require(${SPIN}).spin(700)`,
  )
  const file = program(`new Worker(__filename)`, `spin(200)`)
  const { traces } = await run([file], {
    env: FAST,
    preload: ['--require', PACKAGE, '--require', before],
  })
  const [, worker] = traces
  const names = worker.events
    .filter((/** @type {any} */ { name }) => name === 'thread_name')
    .map((/** @type {any} */ { args }) => args.name.replace(/^.* - /, ''))
  assert.deepEqual(names, ['worker 1', 'worker 1: before.js', 'worker 1: program.js'])
})

test('workers that start() covers are named in the same way', {
  skip: NEEDS_TO_REACH_WORKERS,
}, async () => {
  const file = program(
    `const prof = require(${JSON.stringify(PACKAGE)})
     const fs = require('node:fs')
     prof.start({ flushInterval: 100 })
     const text = "const { spin } = require(" + ${JSON.stringify(SPIN)} + "); setInterval(() => spin(20), 20)"
     new Worker(__filename, { name: 'crunch' })
     new Worker(__filename)
     new Worker(text, { eval: true, name: 'text' })
     new Worker(text, { eval: true })
     // Ends once each thread has written a window with the worker's own code, or after 20 s.
     const until = Date.now() + 20_000
     const isWritten = (file) => /"spin"/.test(fs.readFileSync(file, 'utf8'))
     setInterval(() => {
       const traces = fs.readdirSync('.').filter((file) => file.endsWith('.trace.json'))
       const isOver = traces.length === 5 && traces.filter(isWritten).length >= 4
       if (isOver || Date.now() > until) process.exit()
     }, 50)`,
    `setInterval(() => spin(20), 20)`,
  )
  const { traces, stderr } = await run([file], { preload: null })
  assert.equal(stderr, '')
  assert.deepEqual(workerNames(traces), [
    'worker 1: crunch',
    'worker 2: program.js',
    'worker 3: text',
    'worker 4: [worker eval]',
  ])
})
