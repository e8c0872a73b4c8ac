'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, filesIn, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT, NEEDS_WAKE_UP } = require('../helpers/source.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const CPUPROFILE = { CPU_PROF_FORMAT: 'cpuprofile' }

/** @param {string} dir */
const profilesIn = (dir) => filesIn(dir, '.cpuprofile')

/** Checks that spin(), which works for half a second, is in a profile. @param {{ totalMs: (name: string) => number }} profile @param {string} [file] */
const assertSpin = (profile, file) => assert.ok(profile.totalMs('spin') > 0, file)

test("a .cpuprofile has the same fields as Node's, in the same order, after its facts", async () => {
  const byNode = await run(['ending.js'], { preload: ['--cpu-prof'] })
  const recorded = await run(['ending.js'], { env: CPUPROFILE })
  assert.equal(recorded.files.length, 0)
  const [nodeFile] = profilesIn(byNode.cwd)
  const [recordedFile] = profilesIn(recorded.cwd)
  assert.match(
    path.basename(recordedFile),
    new RegExp(`^CPU\\.\\d{8}\\.\\d{6}\\.${recorded.pid}\\.0\\.001\\.cpuprofile$`),
  )
  assert.equal(fs.statSync(recordedFile).mode & 0o777, 0o600)

  const a = readCpuProfile(nodeFile, { isOurs: false })
  const b = readCpuProfile(recordedFile)
  const fields = (/** @type {any} */ { lastUs, byId, totalMs, ...profile }) => Object.keys(profile)
  // The facts about the process and the thread come first.
  assert.deepEqual(fields(b), ['cpu-prof', ...fields(a)])
  const node = (/** @type {any} */ profile) =>
    profile.nodes.find((/** @type {any} */ { callFrame }) => callFrame.functionName === 'burn')
  const always = (/** @type {any} */ each) =>
    Object.keys(each).filter((key) => key !== 'children' && key !== 'deoptReason')
  assert.deepEqual(always(node(b)), always(node(a)))
  assert.deepEqual(Object.keys(node(b).callFrame), Object.keys(node(a).callFrame))
  for (const key of ['functionName', 'url', 'lineNumber', 'columnNumber']) {
    assert.equal(node(b).callFrame[key], node(a).callFrame[key], key)
  }
  assert.deepEqual(b.nodes[0].callFrame, a.nodes[0].callFrame)
  assert.equal(typeof node(b).callFrame.scriptId, typeof node(a).callFrame.scriptId)
  // The hot loop of `burn` is on one line.
  const line = (/** @type {any} */ profile) =>
    node(profile).positionTicks.sort(
      (/** @type {any} */ x, /** @type {any} */ y) => y.ticks - x.ticks,
    )[0].line
  assert.equal(line(b), line(a))
  for (const profile of [a, b]) assertSpin(profile)
})

test('a recording in both formats has the same samples in both', async () => {
  const { traces, cwd } = await run(['ending.js'], {
    env: { CPU_PROF_FORMAT: 'trace,cpuprofile', CPU_PROF_FLUSH_INTERVAL: '50' },
  })
  const [trace] = traces
  const [file] = profilesIn(cwd)
  assert.equal(file, trace.file.replace('.trace.json', '.cpuprofile'))
  const profile = readCpuProfile(file)
  assert.equal(profile.samples.length, trace.samples.length)
  assert.equal(profile.lastUs, trace.endUs)
  assert.deepEqual(
    profile.timeDeltas,
    trace.samples.map(({ us }) => us),
  )
  assert.deepEqual(
    profile.samples.map((/** @type {number} */ id) => profile.byId.get(id).callFrame.functionName),
    trace.samples.map(({ node }) => node.callFrame.functionName),
  )
})

for (const [how, threads, skip] of /** @type {const} */ ([
  ['exit', 1, false],
  ['throw', 1, false],
  ['worker-returns', 2, false],
  ['worker-terminated', 2, NEEDS_INTERRUPT],
  ['worker-left', 2, NEEDS_INTERRUPT],
])) {
  test(`each thread writes a .cpuprofile at the end: ${how}`, { skip }, async () => {
    const { cwd, stderr } = await run(['ending.js', how], { env: CPUPROFILE })
    assert.doesNotMatch(stderr, /^cpu-prof:/m)
    const files = profilesIn(cwd)
    assert.equal(files.length, threads)
    for (const file of files) assertSpin(readCpuProfile(file), file)
    assert.ok(fs.readdirSync(cwd).every((file) => file.endsWith('.cpuprofile')))
  })
}

test('a .cpuprofile is written when a signal ends the program', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const { cwd, signal } = await run(['ending.js', 'busy'], {
    env: CPUPROFILE,
    during: (child) => child.once('message', () => child.kill('SIGTERM')),
  })
  assert.equal(signal, 'SIGTERM')
  const [file] = profilesIn(cwd)
  assertSpin(readCpuProfile(file))
})

test('start() writes the formats in its options', async () => {
  const source = `
    const { start, stop } = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${SPIN})
    const recordings = ['cpuprofile', 'trace,cpuprofile', 'trace'].map((format) => {
      start({ format, name: '%N' })
      spin(50)
      return stop()
    })
    console.log(JSON.stringify(recordings))`
  const { stdout, cwd } = await run(['-e', source], { preload: null })
  const recordings = JSON.parse(stdout)
  assert.deepEqual(
    recordings.map((/** @type {any} */ { files }) =>
      files.map((/** @type {string} */ file) => path.relative(cwd, file)),
    ),
    [['001.cpuprofile'], ['002.trace.json', '002.cpuprofile'], ['003.trace.json']],
  )
  const profile = readCpuProfile(recordings[0].files[0])
  assert.equal(recordings[0].samples, profile.samples.length)
  assert.equal(recordings[0].nodes, profile.nodes.length)
})

test('a .cpuprofile never replaces an existing file', async () => {
  const source = `
    const { start, stop } = require(${JSON.stringify(PACKAGE)})
    start({ format: 'cpuprofile', name: 'fixed' })
    require('node:fs').writeFileSync('fixed.cpuprofile', 'mine')
    console.log(JSON.stringify(stop().files))`
  const { stdout, cwd } = await run(['-e', source], { preload: null })
  assert.deepEqual(JSON.parse(stdout), [path.join(cwd, 'fixed.002.cpuprofile')])
  assert.equal(fs.readFileSync(path.join(cwd, 'fixed.cpuprofile'), 'utf8'), 'mine')
})

test('a full disk at the end loses the .cpuprofile but does not harm the program', async () => {
  const source = `
    const { start, stop } = require(${JSON.stringify(PACKAGE)})
    start({ format: 'cpuprofile', interval: 50 })
    require(${SPIN}).spin()
    const { files, samples, droppedSamples } = stop()
    console.log(files.length, samples, droppedSamples > 0)`
  const { stdout, stderr, code, cwd } = await run(['-e', source], {
    preload: null,
    under: ['sh', '-c', 'ulimit -f 1; exec "$@"', 'sh'],
  })
  assert.equal(code, 0)
  assert.equal(stdout, '0 0 true\n')
  assert.match(stderr, pattern`^cpu-prof: ${messages.notWritten} .*\n$`)
  assert.deepEqual(fs.readdirSync(cwd), [])
})
