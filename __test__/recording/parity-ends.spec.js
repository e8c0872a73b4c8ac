'use strict'

// Repeats the cases of Node's own tests of `--cpu-prof` (test/sequential/test-cpu-prof-*.js) on how programs
// and workers end, with that flag and with cpu-prof.

const assert = require('node:assert/strict')
const test = require('node:test')
const {
  assertFib,
  assertFiles,
  assertSameEnd,
  both,
  byEnv,
  hasFib,
  hasFunction,
  observe,
  DEFAULT_NAME,
  FINE,
  ONE_THREAD,
  PROGRAM,
  TWO_THREADS,
} = require('../helpers/parity.js')
const { PACKAGE } = require('../helpers/run.js')
const { NEEDS_WAKE_UP } = require('../helpers/source.js')

for (const [name, how, code, signal] of /** @type {const} */ ([
  ['an empty event loop', 'drained', 0, null],
  ['process.exit()', 'exit', 55, null],
  ['SIGINT from itself', 'sigint', null, 'SIGINT'],
  ['SIGINT from itself, with a listener that exits', 'sigint-heard', 7, null],
  ['SIGKILL from itself', 'sigkill', null, 'SIGKILL'],
])) {
  test(`end by ${name}: both keep the profile`, {
    skip: signal !== null && NEEDS_WAKE_UP,
  }, async () => {
    const outcomes = await both([PROGRAM, how], { interval: FINE })
    assert.equal(outcomes.ours.code, code)
    assert.equal(outcomes.ours.signal, signal)
    assertFiles(outcomes, ONE_THREAD)
    assertFib(outcomes)
  })
}

// Node runs its exit callbacks, which end the built-in's profile, before process.kill() sends the
// process a signal without a listener.
test('SIGWINCH from itself, which ends nothing: only cpu-prof records the code after the signal', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const { builtIn, ours } = await both([PROGRAM, 'sigwinch'], { interval: FINE })
  assert.equal(ours.code, 0)
  assert.match(ours.stdout, /\nafterwards\n$/)
  assert.deepEqual(
    builtIn.profiles.map((profile) => hasFunction(profile, 'afterwards')),
    [false],
  )
  assert.deepEqual(
    ours.profiles.map((profile) => hasFunction(profile, 'afterwards')),
    [false, true],
  )
})

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  test(`end by ${signal} from another process: only cpu-prof keeps the profile`, {
    skip: NEEDS_WAKE_UP,
  }, async () => {
    const { builtIn, ours } = await both(
      [PROGRAM, 'ready'],
      { interval: FINE },
      { during: (child) => child.once('message', () => child.kill(signal)) },
    )
    assert.equal(ours.signal, signal)
    assert.deepEqual(builtIn.files, [])
    assert.deepEqual(ours.names, ONE_THREAD)
    assert.deepEqual(hasFib(ours), [true])
  })
}

// A trace survives SIGKILL: see ends.spec.js.
test('end by SIGKILL from another process: both lose a .cpuprofile', async () => {
  const { builtIn, ours } = await both(
    [PROGRAM, 'ready'],
    { interval: FINE },
    { during: (child) => child.once('message', () => child.kill('SIGKILL')) },
  )
  assert.equal(ours.signal, 'SIGKILL')
  assert.deepEqual(builtIn.files, [])
  assert.deepEqual(ours.files, [])
})

for (const [name, how] of /** @type {const} */ ([
  ['a worker with arguments', 'worker'],
  ['a worker that calls process.exit()', 'worker-exits'],
])) {
  test(`${name}: a file for each thread`, async () => {
    const outcomes = await both([PROGRAM, how], { interval: FINE })
    assert.match(outcomes.ours.stdout, /'an argument'/)
    assertFiles(outcomes, TWO_THREADS)
    assertFib(outcomes, [false, true])
  })
}

test('a worker and a directory: a file for each thread there', async () => {
  const outcomes = await both([PROGRAM, 'worker'], { interval: FINE, dir: 'prof' })
  assertFiles(
    outcomes,
    TWO_THREADS.map((file) => file.replace('/', '/prof/')),
  )
  assertFib(outcomes, [false, true])
})

test('a worker and a name: the built-in writes one file, cpu-prof two', async () => {
  const { builtIn, ours } = await both([PROGRAM, 'worker'], { interval: FINE, name: 'test' })
  assert.deepEqual(builtIn.names, ['cwd/test.cpuprofile'])
  // The thread that ends first gets the name, the other gets the next number.
  assert.deepEqual(ours.names, ['cwd/test.003.cpuprofile', 'cwd/test.cpuprofile'])
  assert.deepEqual(hasFib(builtIn), [false])
  assert.deepEqual(hasFib(ours), [false, true])
})

test("a profiler in a worker's execArgv only: a file for the worker", async () => {
  const worker = (/** @type {string[]} */ execArgv) => [PROGRAM, 'worker', JSON.stringify(execArgv)]
  const builtIn = await observe(worker(['--cpu-prof', `--cpu-prof-interval=${FINE}`]), {
    preload: null,
    isOurs: false,
  })
  const ours = await observe(worker(['--require', PACKAGE]), {
    ...byEnv({ interval: FINE }),
    preload: null,
    isOurs: true,
  })
  assertSameEnd(builtIn, ours)
  assertFiles({ builtIn, ours }, [`cwd/${DEFAULT_NAME}.1.001.cpuprofile`])
  assertFib({ builtIn, ours })
})

test('a worker with an empty execArgv: a file for the main thread only', async () => {
  const outcomes = await both([PROGRAM, 'worker', '[]'])
  assertFiles(outcomes, ONE_THREAD)
})

for (const [name, args] of [
  ['a worker', ['worker']],
  ['a worker with an empty execArgv', ['worker', '[]']],
]) {
  test(`NODE_OPTIONS and ${name}: two files; Node 18 and 20 refuse the built-in's flag there`, async () => {
    const isAllowed = process.allowedNodeEnvironmentFlags.has('--cpu-prof')
    assert.equal(isAllowed, !['18', '20'].includes(process.versions.node.split('.')[0]))
    const builtIn = await observe([PROGRAM, ...args], {
      preload: null,
      env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=${FINE}` },
      isOurs: false,
    })
    const ours = await observe([PROGRAM, ...args], {
      preload: null,
      env: {
        ...byEnv({ interval: FINE }).env,
        NODE_OPTIONS: `--require ${JSON.stringify(PACKAGE)}`,
      },
      isOurs: true,
    })
    assert.equal(ours.code, 0)
    assert.deepEqual(ours.names, TWO_THREADS)
    if (isAllowed) {
      assertSameEnd(builtIn, ours)
      assertFiles({ builtIn, ours }, TWO_THREADS)
      assertFib({ builtIn, ours }, [false, true])
    } else {
      assert.equal(builtIn.code, 9)
      assert.deepEqual(builtIn.files, [])
    }
  })
}
