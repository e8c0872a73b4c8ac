'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { messages, pattern } = require('../helpers/messages.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT, NEEDS_NO_JAVASCRIPT, NEEDS_TO_BE_UNSEEN } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen, assertTwoThreads } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

// Patches log their calls with this function. console.log does not work here: it uses the patched
// functions, and workers write through the main thread.
const LOG = `const log = (...words) => require('node:fs').writeSync(1, words.join(' ') + '\\n')\n`
const THROWING = `() => { throw new Error('patched') }`

/** Patches that an earlier preload can apply to shared objects. @type {Record<string, string>} */
const PATCHES = {
  'wrapped exit functions of process': `
    for (const name of ['exit', 'reallyExit', 'emit']) {
      const before = process[name]
      process[name] = function (...args) {
        log(name, args[0])
        return before.apply(this, args)
      }
    }`,
  'a replaced environment': 'process.env = {}',
  'an emptied environment and another title': `
    for (const name of Object.keys(process.env)) delete process.env[name]
    process.title = 'another'`,
  'no JSON object': 'JSON.parse = JSON.stringify = null; delete globalThis.JSON',
  'array methods that throw': `
    for (const name of ['map', 'filter', 'every', 'some']) Array.prototype[name] = ${THROWING}`,
  'setters on array indices': `
    for (const index of [0, 1, 2]) {
      Object.defineProperty(Array.prototype, index, {
        set(value) {
          const place = { value, writable: true, enumerable: true, configurable: true }
          Object.defineProperty(this, index, place)
        },
      })
    }`,
  'accessors on Object.prototype': `
    for (const name of ['threadId', 'version']) {
      Object.defineProperty(Object.prototype, name, { get: () => 7, set() {}, configurable: true })
    }`,
  // Node 18 cannot load node:fs afterwards, which the program uses.
  'a getter named get on Object.prototype': `
    require('node:fs')
    Object.defineProperty(Object.prototype, 'get', { get() {}, configurable: true })`,
  'a number named parent on Object.prototype': 'Object.prototype.parent = 1',
  'Error.prepareStackTrace that throws': `Error.prepareStackTrace = ${THROWING}`,
  'Promise.prototype.then that throws': `Promise.prototype.then = ${THROWING}`,
  'Symbol.for that returns a new symbol each time': 'Symbol.for = () => Symbol()',
  'no Object.hasOwn': 'delete Object.hasOwn',
}

/** @type {Record<string, string | false>} */
const SKIPPED = {
  'wrapped exit functions of process': NEEDS_TO_BE_UNSEEN,
  'no JSON object': NEEDS_NO_JAVASCRIPT,
}

for (const [name, source] of Object.entries(PATCHES)) {
  test(`${name}: both threads are recorded`, { skip: SKIPPED[name] }, async () => {
    const before = ['--require', patchFile(source)]
    const { traces, complaint } = await runUnharmed(['two-threads.js'], { before })
    assert.equal(complaint, '')
    assertTwoThreads(traces)
  })
}

/** Patches that make a recording impossible. @type {Record<string, string>} */
const BLOCKING = {
  'Symbol.for that throws': `Symbol.for = ${THROWING}`,
  'no Object.defineProperty': 'delete Object.defineProperty',
  'no process.argv': 'process.argv = process.execArgv = null',
  'no process.dlopen': 'delete process.dlopen',
  'an error that cannot be printed': `
    Symbol.for = () => { throw { toString: ${THROWING} } }`,
}

for (const [name, source] of Object.entries(BLOCKING)) {
  test(`${name}: the program runs on unprofiled`, async () => {
    const before = ['--require', patchFile(source)]
    const { code, files, complaint } = await runUnharmed(['-e', 'process.exitCode = 3'], { before })
    assert.equal(code, 3)
    assert.deepEqual(files, [])
    if (name !== 'an error that cannot be printed') {
      assert.match(complaint, pattern`^${messages.notProfiling}`)
    }
  })
}

test('a program that sets process.argv to null is recorded', async () => {
  const source = `
    process.argv = process.execArgv = null; process.version = ''
    const { Worker } = require('node:worker_threads')
    new Worker('process.argv.length = 0; require(${SPIN}).spin()', { eval: true })`
  const env = { CPU_PROF_FLUSH_INTERVAL: '50' }
  const { traces, stderr } = await runUnharmed(['-e', source], { env })
  assert.equal(stderr, '')
  assert.ok(traces.every((trace) => trace.ended))
  assert.equal(traces.length, 2)
})

for (const [name, source, code] of /** @type {[string, string, number | null][]} */ ([
  [
    'process.exit in an exit listener',
    `process.on('exit', () => { spin(50); process.exit(6) })
     process.exit(3)`,
    6,
  ],
  [
    'an exit listener that throws',
    `process.on('exit', () => { spin(50); throw new Error('on purpose') })`,
    1,
  ],
  [
    'an uncaughtException listener that handles the error',
    `process.on('uncaughtException', (error) => {
       console.log(error.message)
       spin(50)
       process.exitCode = 3
     })
     throw new Error('on purpose')`,
    3,
  ],
  [
    'an uncaughtException listener that throws',
    `process.on('uncaughtException', () => { throw new Error('again') })
     throw new Error('on purpose')`,
    7,
  ],
  [
    'async hooks for all events',
    `let alive = 0
     require('node:async_hooks').createHook({
       init() { alive++ }, before() {}, after() {}, destroy() { alive-- }, promiseResolve() {},
     }).enable()
     setImmediate(async () => { await null; spin(50); console.log(alive > 0); process.exit(3) })`,
    3,
  ],
  [
    'a domain',
    `const domain = require('node:domain').create()
     domain.on('error', (error) => { console.log(error.message); process.exitCode = 3 })
     domain.run(() => setImmediate(() => { throw new Error('on purpose') }))`,
    3,
  ],
  [
    'a SIGPROF listener',
    `process.on('SIGPROF', () => {})
     setTimeout(() => process.exit(3), 50)
     spin(50)`,
    3,
  ],
  [
    'SIGKILL in an exit listener',
    `process.on('exit', () => process.kill(process.pid, 'SIGKILL'))`,
    null,
  ],
])) {
  test(`${name}: the program ends as without the profiler`, async () => {
    const spin = `const { spin } = require(${SPIN})`
    const file = path.join(temporaryDirectory(), 'main.js')
    fs.writeFileSync(file, `${spin}\nspin(50)\n${source}\n`)
    const result = await runUnharmed([file])
    assert.equal(result.code, code)
    assert.equal(result.complaint, '')
    assert.equal(result.traces.length, 1)
  })
}

test('a top-level await that never settles ends the program as without the profiler', async () => {
  const file = path.join(temporaryDirectory(), 'main.mjs')
  fs.writeFileSync(file, `await 0\nconsole.log('waits')\nawait new Promise(() => {})\n`)
  const { code, traces } = await runUnharmed([file])
  assert.equal(code, 13)
  assert.ok(traces[0].ended)
})

test('a worker terminated in a deep recursion leaves a finished trace', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const source = `
    const { Worker } = require('node:worker_threads')
    const worker = new Worker(\`
      const { spin } = require(${SPIN})
      function down(depth) { return depth === 0 ? spin(5) : 1 + down(depth - 1) }
      for (let i = 0; i < 100; i++) down(3000)
      require('node:worker_threads').parentPort.postMessage('deep')
      for (;;) down(3000)
    \`, { eval: true })
    worker.on('message', () => worker.terminate())
    worker.on('exit', (code) => console.log(code))
  `
  const { traces, stdout, stderr } = await runUnharmed(['-e', source])
  assert.equal(stdout, '1\n')
  assert.equal(stderr, '')
  assert.equal(traces.length, 2)
  assert.ok(traces[1].ended)
  assertSeen(traces[1], 'down')
})

/** Writes a patch as a file to preload. @param {string} source */
function patchFile(source) {
  const file = path.join(temporaryDirectory(), 'patch.js')
  fs.writeFileSync(file, LOG + source)
  return file
}
