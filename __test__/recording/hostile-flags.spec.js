'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { messages, pattern } = require('../helpers/messages.js')
const { filesIn, temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { isInspector, NEEDS_TO_SHARE_THE_SIGNAL } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen, assertTwoThreads } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const [MAJOR, MINOR] = process.versions.node.split('.').map(Number)

/** V8's sampler before Node 22 can wait forever for a lock of the thread that it interrupts: docs/limits.md. */
const CAN_SAMPLE_NATIVE_FRAMES = MAJOR >= 22
const NATIVE_FRAMES = CAN_SAMPLE_NATIVE_FRAMES ? ['--interpreted-frames-native-stack'] : []

const FLAGS = [
  ['--frozen-intrinsics', '--disable-proto=delete'],
  ['--disable-proto=throw', '--stack-trace-limit=0', '--stack-size=400'],
  ['--max-old-space-size=40', '--max-semi-space-size=1', '--gc-interval=500'],
  ['--jitless'],
  ['--single-threaded'],
  ['--pending-deprecation', '--throw-deprecation', '--unhandled-rejections=strict'],
  ['--perf-basic-prof', ...NATIVE_FRAMES, '--no-opt'],
  ['--prof', '--no-logfile-per-isolate', '--logfile=v8.log'],
  ['--inspect=0'],
]

for (const flags of FLAGS) {
  const skip = flags.includes('--prof') && NEEDS_TO_SHARE_THE_SIGNAL
  test(`${flags.join(' ')}: both threads are recorded`, { skip }, async () => {
    const { code, traces, complaint } = await runUnharmed(['two-threads.js'], { before: flags })
    assert.equal(code, 3)
    assert.equal(complaint, '')
    assertTwoThreads(traces)
  })
}

test('--cpu-prof and cpu-prof together: both write their profiles', {
  skip: NEEDS_TO_SHARE_THE_SIGNAL,
}, async () => {
  const { traces, cwd, complaint } = await runUnharmed(['two-threads.js'], {
    before: ['--cpu-prof'],
  })
  assert.equal(complaint, '')
  assertTwoThreads(traces)
  const builtIn = filesIn(cwd, '.cpuprofile')
  assert.equal(builtIn.length, 2)
  const sampled = builtIn.map((file) => {
    const { nodes, samples } = JSON.parse(fs.readFileSync(file, 'utf8'))
    const names = nodes.map((/** @type {any} */ node) => node.callFrame.functionName)
    return { file, samples: samples.length, names }
  })
  assert.ok(sampled.every(({ samples }) => samples > 0))
  // V8's sampling thread can get stuck for good, with and without cpu-prof, and the built-in profiler
  // does not notice. Rarely enough not to happen to both threads.
  assert.ok(
    sampled.some(({ names }) => names.includes('spin')),
    JSON.stringify(sampled),
  )
})

test("the program's own inspector session profiles at the same time, in both threads", async () => {
  const source = `
    const { Session } = require('node:inspector')
    const { Worker, isMainThread } = require('node:worker_threads')
    const { spin } = require(${SPIN})
    const session = new Session()
    session.connect()
    session.post('Profiler.enable')
    session.post('Profiler.start')
    spin(200)
    session.post('Profiler.stop', (error, { profile }) => {
      console.log(profile.nodes.some((node) => node.callFrame.functionName === 'spin'))
    })
    session.disconnect()
    spin(50)
    if (isMainThread) new Worker(process.argv[1]).on('exit', () => process.exit(3))
  `
  const file = path.join(temporaryDirectory(), 'main.js')
  fs.writeFileSync(file, source)
  const { stdout, traces, complaint } = await runUnharmed([file])
  assert.equal(stdout, 'true\ntrue\n')
  assert.equal(complaint, '')
  assertTwoThreads(traces)
})

test('another profiler in the process samples at the same time', async () => {
  const source = `
    const { time } = require(${JSON.stringify(require.resolve('@datadog/pprof'))})
    const { spin } = require(${SPIN})
    time.start({ durationMillis: 60_000, intervalMicros: 1000 })
    spin(200)
    const { sample, stringTable } = time.stop()
    console.log(sample.length > 0, stringTable.strings.includes('spin'))
    spin(50)
  `
  const { stdout, traces, complaint } = await runUnharmed(['-e', source])
  assert.equal(stdout, 'true true\n')
  assert.equal(complaint, '')
  assert.ok(traces[0].ended)
  assertSeen(traces[0], 'spin')
})

const PERMISSION =
  MAJOR < 20
    ? undefined
    : MAJOR > 22 || (MAJOR === 22 && MINOR >= 13)
      ? '--permission'
      : '--experimental-permission'

test('--permission with --allow-addons: both threads are recorded', async (t) => {
  if (PERMISSION === undefined) return t.skip('this Node has no permission model')
  const before = [PERMISSION, '--allow-fs-read=*', '--allow-worker', '--allow-addons']
  if (isInspector) {
    const allow = '--allow-inspector'
    if (!process.allowedNodeEnvironmentFlags.has(allow)) return t.skip(`this Node has no ${allow}`)
    before.push(allow)
  }
  const { code, traces, complaint } = await runUnharmed(['two-threads.js'], { before })
  assert.equal(code, 3)
  assert.equal(complaint, '')
  assertTwoThreads(traces)
})

test('--permission without --allow-addons: one line on stderr, and no recording', async (t) => {
  if (PERMISSION === undefined) return t.skip('this Node has no permission model')
  const before = [PERMISSION, '--allow-fs-read=*']
  const { code, files, complaint } = await runUnharmed(['ending.js', 'exit', '10'], { before })
  assert.equal(code, 3)
  assert.deepEqual(files, [])
  assert.match(complaint, pattern`^${messages.notProfiling}${messages.loadsNoAddons}: `)
})

test('--no-addons: one line on stderr for all threads, and no recording', async () => {
  const before = ['--no-addons']
  const { code, files, complaint } = await runUnharmed(['two-threads.js'], { before })
  assert.equal(code, 3)
  assert.deepEqual(files, [])
  assert.match(complaint, pattern`^${messages.notProfiling}${messages.loadsNoAddons}: `)
})
