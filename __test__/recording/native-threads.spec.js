'use strict'

// Native threads of real programs, and built-in functions without a frame.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../..')
const { cli } = require('../helpers/cli.js')
const { messages } = require('../helpers/messages.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_BUILT_INS_BY_TEXT } = require('../helpers/source.js')

const SKIP = process.platform !== 'linux' && 'the system is not asked for the names of threads'
const MAJOR = Number.parseInt(process.versions.node, 10)
const NATIVE = path.join(PACKAGE, 'target', 'debug', 'examples', 'libnative.so')

/** CPU time that each program uses, as the system counts it. */
const PROGRAM_MS = 1500
const USED_MS = `() => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }`

/** Hashes on libuv's threads: many short requests, so that some are sampled while they are made. */
const HASHING = `
  const { pbkdf2 } = require('node:crypto')
  const usedMs = ${USED_MS}
  function hash() {
    return new Promise((done) => pbkdf2('password', 'salt', 3000, 32, 'sha256', done))
  }
  async function login() {
    while (usedMs() < ${PROGRAM_MS}) await Promise.all(Array.from({ length: 20 }, hash))
  }
  login()`

/** @param {string | string[]} input */
async function processOf(input) {
  const { processes } = await report(input)
  assert.equal(processes.length, 1)
  const { cpu, native } = processes[0]
  assert.ok(cpu !== undefined && native !== undefined, JSON.stringify(processes[0]))
  return { cpu, native }
}

test('work in the pool has a name, and the function that asked for it', {
  skip: SKIP,
}, async () => {
  const { files } = await run(['-e', HASHING])
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge(files, merged)
  for (const input of [files[0], merged]) {
    const { cpu, native } = await processOf(input)
    const [pool] = native
    assert.equal(pool.name, MAJOR < 22 ? messages.unnamedThreads : 'libuv pool')
    assert.ok(pool.cpuMs > 0.5 * cpu.nativeMs, JSON.stringify({ cpu, native }))
    assert.ok(pool.cpuMs < 1.2 * cpu.nativeMs, JSON.stringify({ cpu, native }))
    assert.deepEqual(
      pool.startedBy?.map(({ what, place }) => `${what} ${place?.name}`),
      ['crypto.pbkdf2 hash'],
    )
  }
})

test('workers without a recording are told from the pool and from threads of addons', {
  skip: SKIP || (MAJOR < 20 && 'Node 18 does not tell of new workers'),
}, async () => {
  const worker = `require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))}).spin(700)`
  const source = `
    const { Worker } = require('node:worker_threads')
    const { pbkdf2 } = require('node:crypto')
    process.dlopen({ exports: {} }, ${JSON.stringify(NATIVE)})
    let left = 3
    const end = () => { if (--left === 0) clearInterval(timer) }
    const timer = setInterval(() => pbkdf2('a', 'b', 30000, 32, 'sha256', () => {}), 20)
    const unrecorded = [{ execArgv: [], env: {} }, { execArgv: ['--no-addons'], env: {}, name: 'rayon' }]
    for (const options of [...unrecorded, {}]) {
      new Worker(${JSON.stringify(worker)}, { eval: true, ...options }).on('exit', end)
    }`
  // Before Node 24 a worker is known by being the newest thread, so no others may start meanwhile.
  const { files, traces } = await run(['-e', source], { env: { NATIVE: 'long-pool' } })
  assert.deepEqual(traces.map(({ tid }) => tid).sort(), [0, 3])
  const { native } = await processOf(files)
  const row = (/** @type {string} */ wanted) => native.find(({ name }) => name === wanted)
  const workers = row(messages.unrecordedWorkers)
  // The third can be seen as it starts, before its recording.
  assert.ok(workers && workers.threads >= 2, JSON.stringify(native))
  // Of 1,400 ms, without what they used after the last look.
  assert.ok(workers.cpuMs > 500 && workers.cpuMs < 2000, JSON.stringify(native))
  assert.ok(row('spec-pool') !== undefined, JSON.stringify(native))
  assert.ok(row(MAJOR < 22 ? messages.unnamedThreads : 'libuv pool') !== undefined)
  assert.equal(row('rayon'), undefined)
})

test("threads of an addon have their own name; those that ended are in the process's time", {
  skip: SKIP,
}, async () => {
  const source = `
    const usedMs = ${USED_MS}
    process.dlopen({ exports: {} }, ${JSON.stringify(NATIVE)})
    const timer = setInterval(() => { if (usedMs() > ${PROGRAM_MS}) clearInterval(timer) }, 20)`
  const { files } = await run(['-e', source], { env: { NATIVE: 'pool' } })
  const { cpu, native } = await processOf(files[0])
  const pool = native.find(({ name }) => name === 'spec-pool')
  assert.equal(pool?.threads, 2, JSON.stringify(native))
  assert.ok(pool.cpuMs > 0.3 * cpu.nativeMs, JSON.stringify({ cpu, native }))
  assert.ok(
    native.every(({ name }) => name !== 'node'),
    JSON.stringify(native),
  )
})

test('a program that only runs JavaScript has no other native threads than V8 and the profiler', {
  skip: SKIP,
}, async () => {
  const { files } = await run(['-e', `const end = Date.now() + 900; while (Date.now() < end);`])
  const { processes } = await report(files)
  const names = (processes[0].native ?? []).map(({ name }) => name)
  assert.deepEqual(
    names.filter((name) => !["V8's workers", 'profiler'].includes(name)),
    [],
  )
})

test('JSON.parse, which V8 gives no frame, is named by the text of the line', {
  skip: NEEDS_BUILT_INS_BY_TEXT,
}, async () => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'parse.js')
  const lines = [
    "const text = JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id, name: 'n' + id })))",
    'function load(end) {',
    '  let count = 0',
    '  while (Date.now() < end) {',
    '    count += JSON.parse(text).length',
    '  }',
    '  return count',
    '}',
    'load(Date.now() + 700)',
  ]
  fs.writeFileSync(file, lines.join('\n'))
  const { files } = await run([file], { cwd })
  const find = async () =>
    (await report(files)).functions.find(
      ({ name, file }) => name === 'load' && file.endsWith('.js'),
    )
  const load = await find()
  const [first, ...others] = load?.builtIns ?? []
  assert.equal(first?.name, 'JSON.parse', JSON.stringify(load))
  assert.ok(first.selfMs > 0.5 * Number(load?.selfMs), JSON.stringify(load))
  assert.deepEqual(others, [])
  const { stdout } = await cli(['report', ...files], { cwd })
  assert.match(stdout, / load \(JSON\.parse\) +parse\.js:2$/m)
  // A file that has changed since tells nothing.
  fs.writeFileSync(file, ['// A new line.', ...lines].join('\n'))
  assert.equal((await find())?.builtIns, undefined)
})
