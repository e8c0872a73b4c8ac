'use strict'

// Repeats the cases of Node's own tests of `--cpu-prof` (test/sequential/test-cpu-prof-*.js) on files and
// settings, with that flag and with cpu-prof.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const {
  assertFib,
  assertFiles,
  assertSameEnd,
  both,
  byEnv,
  byFlags,
  hasFib,
  observe,
  DEFAULT_NAME,
  FINE,
  ONE_THREAD,
  PRELOAD,
  PROGRAM,
} = require('../helpers/parity.js')

/** @typedef {import('../helpers/parity.js').Outcome} Outcome */
/** @typedef {import('../helpers/parity.js').Settings} Settings */

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

// The built-in can run for minutes with this interval.
test('an interval of 1: samples follow each other faster than with 1000', async (t) => {
  // A lock of V8's that two threads want measures the processor's clock first, by sleeps that each signal ends.
  const isEndless = Number.parseInt(process.versions.node, 10) >= 26
  if (isEndless)
    return t.skip('on Node 26, V8 can stand still for minutes, with its own profiler too')
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
