'use strict'

const assert = require('node:assert/strict')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')
const { messages } = require('../helpers/messages.js')
const { preloadable, run, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { isInspector, NEEDS_WAKE_UP } = require('../helpers/source.js')
const { assertSeen } = require('../helpers/work.js')

// Native addons can fork without an exec. Node keeps V8's heap out of the memory of such a child, so
// the child can only run native code: its first JavaScript function would crash.

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const EXAMPLES = path.join(PACKAGE, 'target', 'debug', 'examples')
const NATIVE = path.join(EXAMPLES, 'libnative.so')
const INTERPOSED = path.join(EXAMPLES, 'libinterposed.so')
const DLOPEN = `process.dlopen({ exports: {} }, ${JSON.stringify(NATIVE)})`
const { SIGTERM, SIGABRT } = os.constants.signals

/**
 * Runs a program whose addon forks, and returns how the child ended. Checks that the program itself
 * is recorded to its end, and that the child wrote nothing into the trace.
 * @param {string} child what happens to the child: see the fixture
 */
async function fork(child) {
  const source = `
    const { spin } = require(${SPIN})
    function before() { return spin() }
    before()
    ${DLOPEN}
    function after() { return spin() }
    after()`
  const env = { NATIVE: 'fork', CHILD: child, CPU_PROF_FLUSH_INTERVAL: '50' }
  const { stdout, stderr, signal, traces } = await run(['-e', source], { env })
  assert.equal(signal, null, stderr)
  assert.equal(traces.length, 1)
  const [trace] = traces
  assert.ok(trace.ended)
  const ends = trace.events.filter((/** @type {any} */ { name }) => name === 'trace.end')
  // Also where a signal seemed to end the parent.
  assert.equal(ends.length, 1)
  for (const name of isInspector ? ['spin'] : ['before', 'after']) assertSeen(trace, name)
  return { stdout, stderr }
}

/** How a child ends that calls exit(): Node aborts, because the threads of V8's platform are missing. */
const ABORTS = `child: signal ${SIGABRT}\n`

test('a forked child that calls exit() ends as without the profiler, and at once', async () => {
  const env = { NATIVE: 'fork', CHILD: 'exits' }
  const plain = await run(['-e', DLOPEN], { preload: null, env })
  assert.equal(plain.stdout, ABORTS)
  const { stdout, stderr } = await fork('exits')
  assert.equal(stdout, plain.stdout)
  assert.equal(stderr, plain.stderr)
})

test('a forked child does not send a signal again that its parent got', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  assert.equal((await fork('inherits')).stdout, ABORTS)
})

test('a signal ends a forked child', async () => {
  assert.equal((await fork('is killed')).stdout, `child: signal ${SIGTERM}\n`)
})

test('a forked child takes no recording for its own', async () => {
  // The library gives the process another id, since JavaScript cannot run in a real child.
  const source = `
    const prof = require(${JSON.stringify(PACKAGE)})
    prof.start()
    process.env.FORKED = '1'
    console.log(prof.isRecording())
    try { prof.stop() } catch (error) { console.log(error.message) }
    delete process.env.FORKED
    console.log(prof.isRecording(), prof.stop().files.length)`
  const { stdout, stderr } = await run(['-e', source], {
    preload: null,
    env: { LD_PRELOAD: preloadable(INTERPOSED) },
  })
  assert.equal(stderr, '')
  assert.deepEqual(stdout.trim().split('\n'), ['false', messages.startFirst, 'true 1'])
})
