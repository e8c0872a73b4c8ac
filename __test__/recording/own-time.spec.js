'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_NATIVE_NAMES, NEEDS_TO_REACH_WORKERS } = require('../helpers/source.js')
const { assertSeen } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const REGISTER = path.join(PACKAGE, 'register.js')

/** The program's own code, which must be in every trace. */
const WORK = `require(${SPIN}).spin()`

/**
 * Checks that a trace has the program's code, but neither code of the package nor a function of its
 * addon, and that it begins with `(program)`.
 * @param {any} trace @param {string} [folder] the package's folder
 */
function assertOwnCodeIsHidden(trace, folder = PACKAGE) {
  const url = pathToFileURL(folder).href
  const isOwn = (/** @type {any} */ frame) =>
    frame.url.startsWith(`${url}/lib/`) ||
    [`${url}/index.js`, `${url}/register.js`].includes(frame.url) ||
    /^cpuProf|^\(native addon\)$/.test(frame.functionName)
  const frames = [...trace.nodes.values()].map(({ callFrame }) => callFrame)
  assert.deepEqual(frames.filter(isOwn), [])
  assertSeen(trace, 'spin')
  const [first] = trace.samples
  assert.equal(first.node.callFrame.functionName, '(program)')
  assert.equal(trace.nodes.get(first.node.parent).callFrame.functionName, '(root)')
}

test('the start of a preloaded recording is shown as (program)', async () => {
  const { traces } = await run(['two-threads.js'])
  assert.equal(traces.length, 2)
  for (const trace of traces) assertOwnCodeIsHidden(trace)
})

test('the start of a recording with --import is shown as (program)', async (t) => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major === 18 && minor < 18) return t.skip('this Node has no --import')
  const { traces } = await run(['-e', WORK], { preload: ['--import', REGISTER] })
  assertOwnCodeIsHidden(traces[0])
})

test('the profiler is hidden in a package behind a symbolic link', async () => {
  const link = path.join(temporaryDirectory(), 'cpu prof')
  fs.symlinkSync(PACKAGE, link)
  const plain = await run(['-e', WORK], { preload: ['--require', link] })
  assertOwnCodeIsHidden(plain.traces[0])
  const kept = await run(['-e', WORK], { preload: ['--preserve-symlinks', '--require', link] })
  assertOwnCodeIsHidden(kept.traces[0], link)
  assertOwnCodeIsHidden(kept.traces[0])
})

test('start() and stop() in CommonJS and in an ES module are shown as (program)', async () => {
  for (const [name, load] of [
    ['main.cjs', `const prof = require(${JSON.stringify(PACKAGE)})`],
    ['main.mjs', `import prof from ${JSON.stringify(path.join(PACKAGE, 'index.js'))}`],
  ]) {
    const file = path.join(temporaryDirectory(), name)
    fs.writeFileSync(
      file,
      `${load}
       import(${SPIN}).then(({ default: { spin } }) => {
         prof.start({ flushInterval: 100 })
         spin()
         prof.stop()
       })`,
    )
    const { traces, stderr } = await run([file], { preload: null })
    assert.equal(stderr, '')
    assertOwnCodeIsHidden(traces[0])
  }
})

test('a function that profile() calls keeps its stack', async () => {
  const source = `
    function work() { return require(${SPIN}).spin() }
    require(${JSON.stringify(PACKAGE)}).profile(work)`
  const { traces } = await run(['-e', source], { preload: null })
  assertSeen(traces[0], 'work')
  assert.equal(traces[0].samples[0].node.callFrame.functionName, '(program)')
})

test('the code that reaches the workers of start() is shown as (program)', {
  skip: NEEDS_TO_REACH_WORKERS,
}, async () => {
  const file = path.join(temporaryDirectory(), 'main.js')
  fs.writeFileSync(
    file,
    `const { Worker, isMainThread } = require('node:worker_threads')
     const { spin } = require(${SPIN})
     if (isMainThread) {
       require(${JSON.stringify(PACKAGE)}).start({ flushInterval: 100 })
       new Worker(__filename)
       spin()
     } else {
       // Works until both threads have a file, and in some more turns of its event loop.
       const hasFiles = () => require('node:fs').readdirSync('.').filter((name) => name.endsWith('.trace.json')).length === 2
       let turns = 0
       const turn = () => {
         spin(20)
         if (hasFiles()) turns++
         if (turns < 25 && performance.now() < 30_000) setImmediate(turn)
       }
       turn()
     }`,
  )
  const { traces } = await run([file], { preload: null })
  assert.equal(traces.length, 2)
  assertOwnCodeIsHidden(traces[0])
  const [, worker] = traces
  const own = [...worker.nodes.values()].filter(
    ({ callFrame }) => callFrame.functionName === 'dlopen' || callFrame.url.includes('/lib/'),
  )
  assert.deepEqual(own, [])
})

test('a native function of Node named like a function of the profiler keeps its name', {
  skip: NEEDS_NATIVE_NAMES,
}, async () => {
  // fs.watch() calls a native function `start`. V8 knows its name if it exists before the profiler.
  const source = `
    const fs = require('node:fs')
    const watch = () => fs.watch(process.execPath).close()
    watch()
    require(${JSON.stringify(PACKAGE)}).start({ flushInterval: 100 })
    const workedMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
    for (const end = workedMs() + 500; workedMs() < end; ) for (let i = 0; i < 20; i++) watch()`
  const { traces } = await run(['-e', source], { preload: null })
  const native = [...traces[0].nodes.values()]
    .map(({ callFrame }) => callFrame)
    .filter(({ url }) => url === '')
    .map(({ functionName }) => functionName)
  assert.ok(native.includes('start'), native.join())
  assert.ok(!native.includes('(native addon)'), native.join())
})

test("every function of the addon has the profiler's prefix", () => {
  const addon = Object.entries(require('../../lib/addon.js').load())
  const names = addon.flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
  assert.ok(names.includes('cpuProfStart'))
  assert.deepEqual(
    names.filter((name) => !/^cpuProf[A-Z]/.test(name)),
    [],
  )
})
