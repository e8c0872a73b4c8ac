'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

// Behaviour that only the inspector source has. `npm run test:inspector` runs the other specs with
// this source.

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const NODE = Number(process.versions.node.split('.')[0])
const INSPECTOR = { CPU_PROF_SOURCE: 'inspector' }
const FAST = { ...INSPECTOR, CPU_PROF_FLUSH_INTERVAL: '50' }
/** Returns code that spins, and returns to its event loop every 20 ms. */
const eventLoopTurns = (goesOn = '++turns < 30') => `
  const { spin } = require(${SPIN})
  let turns = 0
  const turn = () => { spin(20); if (${goesOn}) setImmediate(turn) }
  turn()
`

/** Returns the windows: a trace has one at its end. @param {any} trace @returns {any[]} */
const windows = ({ events }) =>
  events.filter((/** @type {any} */ { name }) => name === 'thread.flush')

/** Checks that windows were written before the last one, and that spin() is in the trace. @param {any} trace */
function assertStreamed(trace) {
  assert.ok(windows(trace).length > 2, `${windows(trace).length} windows`)
  assertSeen(trace, 'spin')
}

test('windows are written while the program runs, and no sample twice', async () => {
  const { traces, stderr } = await runUnharmed(['-e', eventLoopTurns()], { env: FAST })
  const [trace] = traces
  assert.equal(stderr, '')
  assertStreamed(trace)
  assert.ok(trace.samples.slice(1).every((/** @type {any} */ { us }) => us > 0))
})

test('the default flush interval gives windows of two seconds', async () => {
  const source = `
    const { readdirSync, readFileSync } = require('node:fs')
    const end = Date.now() + 20_000
    const hasWindow = () => readdirSync('.').some((name) => readFileSync(name, 'utf8').includes('"thread.flush"'))
    const turn = () => { if (!hasWindow() && Date.now() < end) setTimeout(turn, 50) }
    turn()`
  const { traces } = await run(['-e', source], { env: INSPECTOR })
  const [trace] = traces
  // One at least was written while the program ran.
  assert.ok(windows(trace).length >= 2, `${windows(trace).length} windows`)
  const starts = [trace.startUs, ...windows(trace).map(({ ts }) => ts)]
  for (const [index, { ts }] of windows(trace).slice(0, -1).entries()) {
    // Timers count whole milliseconds.
    assert.ok(ts - starts[index] > 1.99e6, `window ${index} has ${ts - starts[index]} µs`)
  }
})

test('one thread can use both sources in turn', async () => {
  const source = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const sources = ['inspector', 'v8', 'inspector', 'auto'].map((source) => {
      prof.start({ source })
      require(${SPIN}).spin(200)
      return prof.stop()
    })
    console.log(JSON.stringify([sources, process.listenerCount('exit')]))`
  const { stdout, traces } = await run(['-e', source], { preload: null })
  const [recordings, listeners] = JSON.parse(stdout)
  assert.deepEqual(
    recordings.map((/** @type {any} */ recording) => recording.source),
    ['inspector', 'v8', 'inspector', 'v8'],
  )
  assert.equal(listeners, 0)
  assert.equal(traces.length, 4)
  // Code that V8 has optimized before a recording can name the caller of an inlined function.
  const isOwn = (/** @type {any} */ { url }) => /spin\.js$|\[eval/.test(url)
  for (const trace of traces) assert.ok(trace.totalShare(isOwn) > 0, JSON.stringify(trace.metadata))
})

for (const [name, env, flags] of /** @type {[string, Record<string, string>, string[]][]} */ ([
  ['coverage', { NODE_V8_COVERAGE: 'coverage' }, []],
  ["Node's own profiler", {}, ['--cpu-prof', '--cpu-prof-dir=own']],
  ['a debugger', {}, ['--inspect=0']],
])) {
  test(`with ${name}: windows are still written, without a complaint`, async () => {
    // Starting a profile takes long there.
    const options = {
      env: { ...INSPECTOR, CPU_PROF_FLUSH_INTERVAL: '150', ...env },
      before: flags,
    }
    const { traces, complaint } = await runUnharmed(['-e', eventLoopTurns()], options)
    assert.equal(complaint, '')
    assertStreamed(traces[0])
  })
}

test("the program's own profiles still work", async () => {
  const source = `
    const { Session } = require('node:inspector')
    const session = new Session()
    session.connect()
    session.post('Profiler.enable')
    session.post('Profiler.start')
    ${eventLoopTurns('++turns < 30 || stop()')}
    console.profile('own')
    function stop() {
      console.profileEnd()
      console.profileEnd()
      session.post('Profiler.stop', (error, { profile }) =>
        console.log(profile.nodes.some(({ callFrame }) => callFrame.functionName === 'spin')))
    }
  `
  const { traces, stdout, stderr } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stdout, 'true\n')
  assert.equal(stderr, '')
  assertSeen(traces[0], 'spin')
})

test('patched JSON, timers and events do not affect the recording', async () => {
  const source = `
    const fail = (name) => () => { console.log(name); return 7 }
    const events = require('node:events').prototype
    const { emit } = events
    events.emit = function (name, ...args) {
      if (String(name).includes('rofile')) console.log('seen', name)
      return Reflect.apply(emit, this, [name, ...args])
    }
    for (const Type of [Object, Array, String, Number]) {
      Object.defineProperty(Type.prototype, 'toJSON', { value: fail('toJSON') })
    }
    JSON.stringify = fail('stringify')
    console.profile = fail('profile')
    globalThis.clearInterval = require('node:timers').clearInterval = fail('clearInterval')
    ${eventLoopTurns()}
  `
  const { traces, stdout, stderr } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stdout, '')
  assert.equal(stderr, '')
  assertStreamed(traces[0])
})

test('taking the last window does not change the order of callbacks', async () => {
  for (const end of ['', 'process.exit(3)', 'throw new Error("on purpose")']) {
    const source = `
      process.on('exit', () => {
        console.log('exit')
        process.nextTick(() => console.log('late'))
        Promise.resolve().then(() => console.log('late too'))
      })
      process.nextTick(() => console.log('tick'))
      Promise.resolve().then(() => console.log('microtask'))
      require(${SPIN}).spin(50)
      ${end}`
    await runUnharmed(['-e', source], { env: INSPECTOR })
  }
})

test('a program that removes the exit listener loses only the last window', async () => {
  const { traces, stderr } = await runUnharmed(
    ['-e', `process.removeAllListeners('exit'); require(${SPIN}).spin(100)`],
    // There is no other window.
    { env: { ...INSPECTOR, CPU_PROF_FLUSH_INTERVAL: '60000' } },
  )
  assert.equal(stderr, '')
  assert.ok(traces[0].ended)
  assert.equal(traces[0].samples.length, 0)
})

test('the .cpuprofile has the ticks of each line', async () => {
  const { cwd } = await run(['ending.js'], {
    env: { ...INSPECTOR, CPU_PROF_FORMAT: 'cpuprofile' },
  })
  const [file] = fs.readdirSync(cwd)
  const profile = readCpuProfile(path.join(cwd, file))
  assert.ok(profile.totalMs('spin') > 0)
  assert.ok(profile.nodes.some((/** @type {any} */ node) => node.positionTicks?.length > 0))
})

test('start() covers workers that return to their event loop', {
  skip: NODE < 22 && 'workers are reached from Node 22 on',
}, async () => {
  const source = `
    const { Worker, isMainThread } = require('node:worker_threads')
    if (isMainThread) {
      const prof = require(${JSON.stringify(PACKAGE)})
      prof.start({ source: 'inspector', flushInterval: 50 })
      new Worker(__filename).on('exit', () => console.log(prof.stop().files.length))
    } else {
      const end = Date.now() + 20_000
      // Only turns of a thread that is recorded count.
      const isRecorded = () => require('node:fs').readdirSync('.').length === 2 || Date.now() > end
      ${eventLoopTurns('!isRecorded() || ++turns < 30')}
    }`
  const file = path.join(temporaryDirectory(), 'program.js')
  fs.writeFileSync(file, source)
  const { traces, stdout, stderr } = await run([file], { preload: null })
  assert.equal(stderr, '')
  assert.equal(stdout, '2\n')
  assertSeen(traces[1], 'spin')
  assert.match(traces[1].label, /worker 1: program\.js$/)
})

test('without an inspector: one line on stderr, and no file', async () => {
  const patch = path.join(temporaryDirectory(), 'patch.js')
  fs.writeFileSync(patch, `require('node:inspector').Session.prototype.connect = () => { throw 1 }`)
  const { files, complaint } = await runUnharmed(['-e', '0'], {
    env: INSPECTOR,
    before: ['--require', patch],
  })
  assert.deepEqual(files, [])
  assert.match(complaint, pattern`^${messages.notProfiling}`)
})
