'use strict'

// Repeats the cases of Node's own tests of `--cpu-prof` (test/sequential/test-cpu-prof-*.js) with
// that flag and with cpu-prof, on the same Node, and compares the outcomes.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')
const { NEEDS_WAKE_UP } = require('../helpers/source.js')

const PROGRAM = 'fibonacci.js'
const DEFAULT_NAME = 'CPU.<date>.<time>.<pid>'
const PRELOAD = ['--require', PACKAGE]
const FINE = 50

/**
 * The settings of both profilers. `{root}` is the parent of the working directory.
 * @typedef {{ dir?: string, name?: string, interval?: number | string }} Settings
 * @typedef {{ preload?: string[] | null, env?: Record<string, string | undefined> }} Way
 */

/** Returns the built-in profiler's flags. @param {Settings} settings @returns {Way} */
const byFlags = ({ dir, name, interval }) => ({
  preload: [
    '--cpu-prof',
    ...(dir === undefined ? [] : [`--cpu-prof-dir=${dir}`]),
    ...(name === undefined ? [] : [`--cpu-prof-name=${name}.cpuprofile`]),
    ...(interval === undefined ? [] : [`--cpu-prof-interval=${interval}`]),
  ],
})

/** Returns cpu-prof's settings. @param {Settings} settings @returns {Way} */
const byEnv = ({ dir, name, interval }) => ({
  env: {
    CPU_PROF_FORMAT: 'cpuprofile',
    CPU_PROF_DIR: dir,
    CPU_PROF_NAME: name,
    CPU_PROF_INTERVAL: interval?.toString(),
  },
})

/**
 * Runs a program and lists all files that exist afterwards, relative to `root`, the parent of the
 * working directory `cwd`.
 * @param {string[]} args
 * @param {Way & { isOurs: boolean, files?: string[] }} options `files` exist before the run
 * @param {Parameters<typeof run>[1]} [more]
 */
async function observe(
  args,
  { isOurs, files: before = [], preload = PRELOAD, env = {} },
  more = {},
) {
  const root = temporaryDirectory()
  const cwd = path.join(root, 'cwd')
  fs.mkdirSync(cwd)
  for (const file of before) fs.writeFileSync(path.join(root, file), 'mine')
  const result = await run(args, {
    ...more,
    cwd,
    preload: preload === null ? null : preload.map((flag) => flag.replace('{root}', root)),
    env: Object.fromEntries(
      Object.entries({ ...more.env, ...env }).map(([variable, value]) => [
        variable,
        value?.replace('{root}', root),
      ]),
    ),
  })
  const files = fs
    .readdirSync(root, { recursive: true })
    .map(String)
    .filter((file) => fs.statSync(path.join(root, file)).isFile())
    .sort()
  const isProfile = (/** @type {string} */ file) =>
    file.endsWith('.cpuprofile') && fs.readFileSync(path.join(root, file), 'utf8') !== 'mine'
  const profiles = files
    .filter(isProfile)
    .map((file) => readCpuProfile(path.join(root, file), { isOurs }))
  const names = files.map((file) =>
    file.replace(/\bCPU\.\d{8}\.\d{6}\.(\d+)/, (all, pid) =>
      Number(pid) === result.pid ? DEFAULT_NAME : all,
    ),
  )
  return { ...result, root, files, names, profiles }
}

/**
 * Runs a program with the built-in flag, then with cpu-prof, and checks that exit status and output
 * are the same.
 * @param {string[]} args
 * @param {Settings} [settings]
 * @param {Parameters<typeof run>[1] & { files?: string[] }} [options]
 */
async function both(args, settings = {}, { files, ...more } = {}) {
  const builtIn = await observe(args, { ...byFlags(settings), isOurs: false, files }, more)
  const ours = await observe(args, { ...byEnv(settings), isOurs: true, files }, more)
  assertSameEnd(builtIn, ours)
  return { builtIn, ours }
}

/** @typedef {Awaited<ReturnType<typeof observe>>} Outcome */

/** Checks that exit status and output are the same. @param {Outcome} builtIn @param {Outcome} ours */
function assertSameEnd(builtIn, ours) {
  for (const key of /** @type {const} */ (['code', 'signal', 'stdout', 'stderr'])) {
    assert.equal(ours[key], builtIn[key], key)
  }
}

/**
 * Checks that both profilers left only files of these names, without a complaint.
 * @param {{ builtIn: Outcome, ours: Outcome }} outcomes
 * @param {string[]} names
 */
function assertFiles({ builtIn, ours }, names) {
  assert.equal(builtIn.stderr, '')
  assert.deepEqual(builtIn.names, names)
  assert.deepEqual(ours.names, names)
}

/**
 * Checks which threads' profiles contain fib(), and that both profilers show the same call frame.
 * @param {{ builtIn: Outcome, ours: Outcome }} outcomes
 * @param {boolean[]} [threads]
 */
function assertFib({ builtIn, ours }, threads = [true]) {
  assert.deepEqual(
    { builtIn: hasFib(builtIn), ours: hasFib(ours) },
    { builtIn: threads, ours: threads },
  )
  assert.deepEqual(fibFrame(ours), fibFrame(builtIn))
}

/** Returns for each profile whether it contains fib(). @param {Outcome} outcome */
function hasFib({ profiles }) {
  return profiles.map((profile) => profile.totalMs('fib') > 0)
}

/** Returns the call frame of fib() without its script id. @param {Outcome} outcome */
function fibFrame({ profiles }) {
  const node = profiles
    .flatMap(({ nodes }) => nodes)
    .find((/** @type {any} */ { callFrame }) => callFrame.functionName === 'fib')
  const { scriptId, ...frame } = node.callFrame
  return frame
}

const ONE_THREAD = [`cwd/${DEFAULT_NAME}.0.001.cpuprofile`]
const TWO_THREADS = [...ONE_THREAD, `cwd/${DEFAULT_NAME}.1.002.cpuprofile`]

test('no settings: one file in the working directory, with the same name, readable by its owner only', async () => {
  const outcomes = await both([PROGRAM])
  assert.equal(outcomes.ours.code, 0)
  assertFiles(outcomes, ONE_THREAD)
  for (const { root, files } of Object.values(outcomes)) {
    assert.equal(fs.statSync(path.join(root, files[0])).mode & 0o777, 0o600)
  }
})

test('the date and the time in the name are local', async () => {
  const start = Math.floor(Date.now() / 1000) * 1000
  const { builtIn, ours } = await both(['-e', '0'], {}, { env: { TZ: 'FAR-14' } })
  for (const { files } of [builtIn, ours]) {
    const [, date, time] = files[0].split('.')
    const iso = `${date}T${time}`.replace(
      /^(....)(..)(..)T(..)(..)(..)$/,
      '$1-$2-$3T$4:$5:$6+14:00',
    )
    assert.ok(Date.parse(iso) >= start && Date.parse(iso) <= Date.now(), `${files[0]} of ${iso}`)
  }
})

for (const [name, settings, file] of /** @type {[string, Settings, string][]} */ ([
  ['a name', { name: 'test' }, 'cwd/test.cpuprofile'],
  ['a name with dots', { name: 'test.v1.2' }, 'cwd/test.v1.2.cpuprofile'],
  ['a name that leads out of the directory', { name: '../test', dir: '.' }, 'test.cpuprofile'],
  ['a relative directory', { dir: 'prof' }, `cwd/prof/${DEFAULT_NAME}.0.001.cpuprofile`],
  [
    'a directory outside the working directory',
    { dir: '../prof/a' },
    `prof/a/${DEFAULT_NAME}.0.001.cpuprofile`,
  ],
  ['an absolute directory', { dir: '{root}/prof' }, `prof/${DEFAULT_NAME}.0.001.cpuprofile`],
  [
    'an absolute directory and a name',
    { dir: '{root}/prof', name: 'test' },
    'prof/test.cpuprofile',
  ],
])) {
  test(`${name}: one file there`, async () => {
    const outcomes = await both([PROGRAM], { ...settings, interval: FINE })
    assert.equal(outcomes.ours.code, 0)
    assertFiles(outcomes, [file])
    assertFib(outcomes)
  })
}

const PID = '$'.concat('{pid}')
const RUN = ['-e', 'console.log("ran")']

test('a name with the process id, which the built-in supports from Node 22 on', async () => {
  const isKnown = !['18', '20'].includes(process.versions.node.split('.')[0])
  const name = `x.${PID}-${PID}`
  const builtIn = await observe(['-e', '0'], { ...byFlags({ name }), isOurs: false })
  const expected = isKnown ? `${builtIn.pid}-${builtIn.pid}` : `${PID}-${PID}`
  assert.deepEqual(builtIn.files, [`cwd/x.${expected}.cpuprofile`])
  for (const name of [`x.${PID}-${PID}`, 'x.%P-%P']) {
    const ours = await observe(['-e', '0'], { ...byEnv({ name }), isOurs: true })
    assert.deepEqual(ours.files, [`cwd/x.${ours.pid}-${ours.pid}.cpuprofile`])
  }
})

test('an absolute name: the built-in appends it to the directory and fails, cpu-prof uses it', async () => {
  const settings = { name: '{root}/elsewhere/test' }
  const builtIn = await observe(RUN, { ...byFlags(settings), isOurs: false })
  assert.equal(builtIn.code, 0)
  assert.match(builtIn.stderr, /Failed to write file .*cwd\/+\S*\/elsewhere\/test\.cpuprofile\n$/)
  assert.deepEqual(builtIn.files, [])
  assertRan(await observe(RUN, { ...byEnv(settings), isOurs: true }), ['elsewhere/test.cpuprofile'])
})

for (const [name, flags, nodeOptions, dir, file] of /** @type {const} */ ([
  ['--diagnostic-dir', ['--diagnostic-dir=../diag'], undefined, undefined, 'diag'],
  [
    '--diagnostic-dir and its value apart',
    ['--diagnostic-dir', '../diag'],
    undefined,
    undefined,
    'diag',
  ],
  ['--diagnostic-dir in NODE_OPTIONS', [], '--diagnostic-dir="../a \\"b\\""', undefined, 'a "b"'],
  [
    '--diagnostic-dir in both',
    ['--diagnostic-dir=../diag'],
    '--diagnostic-dir=../other',
    undefined,
    'diag',
  ],
  ['--diagnostic-dir and a directory', ['--diagnostic-dir=../diag'], undefined, '../prof', 'prof'],
])) {
  test(`${name}: one file there`, async () => {
    const [builtIn, ours] = [byFlags({ dir, name: 'test' }), byEnv({ dir, name: 'test' })]
    const env = { ...ours.env, NODE_OPTIONS: nodeOptions }
    const outcomes = {
      builtIn: await observe([PROGRAM], {
        preload: [...(builtIn.preload ?? []), ...flags],
        env: { NODE_OPTIONS: nodeOptions },
        isOurs: false,
      }),
      ours: await observe([PROGRAM], { preload: [...PRELOAD, ...flags], env, isOurs: true }),
    }
    assertSameEnd(outcomes.builtIn, outcomes.ours)
    assertFiles(outcomes, [`${file}/test.cpuprofile`])
  })
}

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
    builtIn.profiles.map((profile) => profile.totalMs('afterwards') > 0),
    [false],
  )
  assert.deepEqual(
    ours.profiles.map((profile) => profile.totalMs('afterwards') > 0),
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

test('an existing file: the built-in overwrites it, cpu-prof takes the next number', async () => {
  const files = ['cwd/test.cpuprofile']
  const { builtIn, ours } = await both(['-e', '0'], { name: 'test' }, { files })
  assert.deepEqual(builtIn.names, files)
  assert.equal(builtIn.profiles.length, 1)
  assert.deepEqual(ours.names, ['cwd/test.002.cpuprofile', ...files])
  assert.equal(fs.readFileSync(path.join(ours.root, files[0]), 'utf8'), 'mine')
})

test('a directory that cannot be made: the program runs, with one line on stderr', async () => {
  const settings = { dir: '../file/prof' }
  const args = ['-e', 'console.log("ran")']
  const files = ['file']
  const builtIn = await observe(args, { ...byFlags(settings), files, isOurs: false })
  const ours = await observe(args, { ...byEnv(settings), files, isOurs: true })
  for (const { code, stdout, stderr, names } of [builtIn, ours]) {
    assert.equal(code, 0)
    assert.equal(stdout, 'ran\n')
    assert.match(stderr, /^.*\.\.\/file\/prof.*\n$/)
    assert.deepEqual(names, files)
  }
})

// In the following cases one of the profilers exits with code 9 before the program's first line.

/** Checks that the program did not run. @param {Outcome} outcome @param {RegExp} stderr */
function assertRefused({ code, stdout, files, ...outcome }, stderr) {
  assert.equal(code, 9)
  assert.equal(stdout, '')
  assert.deepEqual(files, [])
  assert.match(outcome.stderr, stderr)
}

/** Checks that the program ran and left these files. @param {Outcome} outcome @param {string[]} names */
function assertRan({ code, stdout, stderr, ...outcome }, names) {
  assert.equal(code, 0)
  assert.equal(stdout, 'ran\n')
  assert.equal(stderr, '')
  assert.deepEqual(outcome.names, names)
}

for (const [name, value] of [
  ['name', 'test.cpuprofile'],
  ['dir', 'prof'],
  ['interval', String(FINE)],
  ['interval', 'crashme'],
]) {
  test(`${name} ${value} without a profiler: refused by the built-in, ignored for cpu-prof`, async () => {
    const builtIn = await observe(RUN, { preload: [`--cpu-prof-${name}=${value}`], isOurs: false })
    assertRefused(builtIn, new RegExp(`--cpu-prof-${name} must be used with --cpu-prof\n$`))
    const env = { ...byEnv({}).env, [`CPU_PROF_${name.toUpperCase()}`]: value }
    assertRan(await observe(RUN, { preload: null, env, isOurs: true }), [])
  })
}

for (const name of ['name', 'dir', 'interval']) {
  test(`an empty ${name}: refused by the built-in, the default for cpu-prof`, async () => {
    const flags = ['--cpu-prof', `--cpu-prof-${name}=`]
    const builtIn = await observe(RUN, { preload: flags, isOurs: false })
    assertRefused(builtIn, /requires an argument\n$/)
    const env = { ...byEnv({}).env, [`CPU_PROF_${name.toUpperCase()}`]: '' }
    assertRan(await observe(RUN, { env, isOurs: true }), ONE_THREAD)
  })
}

/** Returns the median time between samples, microseconds. @param {Outcome} outcome */
function medianDelta({ profiles: [{ timeDeltas }] }) {
  const sorted = timeDeltas.sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)
  return sorted[sorted.length >> 1]
}

// Both record at least as finely as asked for, as far as V8 can.
test('an interval of 49: samples follow each other faster than with 1000', async () => {
  const medians = async (/** @type {number} */ interval) => {
    const outcomes = await both([PROGRAM], { interval })
    assertFiles(outcomes, ONE_THREAD)
    assertFib(outcomes)
    return Object.values(outcomes).map(medianDelta)
  }
  const [fine, coarse] = [await medians(49), await medians(1000)]
  for (const [index, median] of fine.entries()) {
    assert.ok(median < coarse[index] / 2, `${fine} microseconds, and ${coarse}`)
  }
})

// The built-in can run for minutes with this interval: on Node 26 one run of this program did not end
// in ten minutes.
test('an interval of 1: samples follow each other faster than with 1000', async () => {
  const median = async (/** @type {number} */ interval) => {
    const outcome = await observe([PROGRAM], { ...byEnv({ interval }), isOurs: true })
    assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
    assert.deepEqual(outcome.names, ONE_THREAD)
    assert.deepEqual(hasFib(outcome), [true])
    return medianDelta(outcome)
  }
  const [fine, coarse] = [await median(1), await median(1000)]
  assert.ok(fine < coarse / 2, `${fine} microseconds, and ${coarse}`)
})

for (const interval of ['fast', '0']) {
  test(`an interval of ${interval}: the built-in takes its default, cpu-prof refuses it`, async () => {
    assertRan(await observe(RUN, { ...byFlags({ interval }), isOurs: false }), ONE_THREAD)
    const ours = await observe(RUN, { ...byEnv({ interval }), isOurs: true })
    assertRefused(ours, /^cpu-prof: CPU_PROF_INTERVAL=.* is not valid: .*\n$/)
  })
}

test('the extension: the built-in needs it in the name, cpu-prof adds it if it is missing', async () => {
  for (const [name, builtIn, ours] of [
    ['test', 'cwd/test', 'cwd/test.cpuprofile'],
    ['test.cpuprofile', 'cwd/test.cpuprofile', 'cwd/test.cpuprofile'],
  ]) {
    const flags = ['--cpu-prof', `--cpu-prof-name=${name}`]
    assertRan(await observe(RUN, { preload: flags, isOurs: false }), [builtIn])
    assertRan(await observe(RUN, { ...byEnv({ name }), isOurs: true }), [ours])
  }
})
