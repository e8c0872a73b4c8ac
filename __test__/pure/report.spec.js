'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, merge, report } = require('../../index.js')
const { run, filesIn, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { assertFunctions, assertSame, computeCosts } = require('../helpers/times.js')

/** @typedef {import('../../index.js').Report} Report */

/** @param {import('../../index.js').ReportTimes} times */
const sum = ({ busyMs, idleMs, gcMs, programMs, blockedMs }) =>
  busyMs + idleMs + gcMs + programMs + blockedMs

test("the times of Node's own .cpuprofile are the same as an independent computation", async () => {
  const { cwd } = await run(['ending.js'], { preload: ['--cpu-prof'] })
  const [file] = filesIn(cwd, '.cpuprofile')
  const result = await report(file, { top: Number.POSITIVE_INFINITY })
  assertFunctions(result, computeCosts(file))
  const spin = result.functions.find(({ name }) => name === 'spin')
  assert.equal(spin?.file, path.join(FIXTURES, 'spin.js'))
  assert.equal(spin?.package, '(own code)')
  assert.ok(spin.totalMs > 150)
})

test('the trace and the .cpuprofile of one recording give the same report', async () => {
  const { cwd, files, pid } = await run(['fibonacci.js'], {
    env: { CPU_PROF_FORMAT: 'trace,cpuprofile', CPU_PROF_FLUSH_INTERVAL: '50' },
  })
  const [file] = filesIn(cwd, '.cpuprofile')
  const all = { top: Number.POSITIVE_INFINITY }
  const ofProfile = await report(file, all)
  const ofTrace = await report(files, all)
  for (const key of /** @type {const} */ (['functions', 'files', 'packages', 'totals', 'counts'])) {
    assert.deepEqual(sorted(ofTrace[key]), sorted(ofProfile[key]), key)
  }
  assert.deepEqual(samplesByLine(ofTrace), samplesByLine(ofProfile))
  assertFunctions(ofTrace, computeCosts(file))
  const both = await report(cwd, all)
  assert.deepEqual(both.totals, ofTrace.totals)
  assert.match(both.notes.join(), /\.cpuprofile: left out/)

  const [process] = ofTrace.processes
  assert.equal(process.pid, pid)
  assert.equal(process.name, 'fibonacci.js')
  assert.equal(process.cwd, fs.realpathSync(cwd))
  assert.match(String(process.node), /^v\d+/)
})

/** Returns the lines without their times: a .cpuprofile does not tell which samples are on a line. @param {Report} report */
const samplesByLine = ({ lines }) => sorted(lines.map(({ selfMs, ...line }) => line))

/** Sorts arrays, since entries with equal times have no fixed order. @param {any} value */
const sorted = (value) =>
  Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value

test('processes and threads have names, and all their time is counted', async () => {
  const { cwd, traces } = await run(['workers.js', 'terminate'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '50' },
  })
  const result = await report(cwd)
  assert.equal(result.version, 1)
  assert.equal(result.inputs, traces.length)
  const [{ name, command, threads, startMs }] = result.processes
  assert.deepEqual([name, command, startMs], ['workers.js', 'workers.js terminate', 0])
  assert.deepEqual(
    threads.map((thread) => thread.name),
    traces.map(({ tid }) => (tid ? `worker ${tid}: workers.js` : 'main')),
  )
  assert.ok(threads.length > 1)
  for (const [i, thread] of threads.entries()) {
    assert.equal(thread.threadId, i)
    assert.equal(thread.samples, traces[i].samples.length)
    assert.ok(sum(thread) <= thread.durationMs + 0.001)
    assert.ok(thread.startMs + thread.durationMs <= result.durationMs + 0.001)
    // The sum contains all samples, with the time of the last sample.
    const [first] = traces[i].samples
    assert.ok(sum(thread) >= traces[i].durationUs / 1000 - first.us / 1000 - 0.001)
  }
  assertSame(
    sum(result.totals),
    threads.reduce((total, thread) => total + sum(thread), 0),
  )
  const self = result.packages.reduce((total, { selfMs }) => total + selfMs, 0)
  assertSame(self, result.totals.busyMs, 'packages')
})

test('several recordings of one thread are one thread, merged or not', async () => {
  const script = `
    const { start, stop } = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
    start()
    spin(100)
    stop()
    spin(100)
    start()
    spin(100)
    stop()`
  const { cwd, code, files } = await run(['-e', script], { preload: null })
  assert.equal(code, 0)
  assert.equal(files.length, 2)
  const [separate] = (await report(cwd)).processes
  assert.equal(separate.threads.length, 1)
  const [thread] = separate.threads
  assert.ok(sum(thread) < thread.durationMs - 90, `${sum(thread)} of ${thread.durationMs} ms`)

  const at = (/** @type {string} */ name) => path.join(temporaryDirectory(), name)
  const merged = at('merged.json')
  await merge(cwd, merged)
  const profile = at('merged.cpuprofile')
  await convert(merged, profile)
  assert.deepEqual((await report(merged)).processes[0].threads, separate.threads)
  // A .cpuprofile has no counters of the system, which tell blocked time from work, and no memory.
  const { cpuMs, coreWaitMs, memory, collections, ...withoutCounters } = thread
  assert.ok(Number(cpuMs) > 0 && Number(coreWaitMs) >= 0)
  const busyMs = Number((thread.busyMs + thread.blockedMs).toFixed(3))
  const expected = { ...withoutCounters, busyMs, blockedMs: 0 }
  assert.deepEqual((await report(profile)).processes[0].threads, [expected])
})

test('a torn file is read up to the tear, and an unreadable file is listed as failed', async () => {
  const { cwd, files, traces } = await run(['ending.js'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '50' },
  })
  const text = fs.readFileSync(files[0], 'utf8')
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  fs.writeFileSync(at('torn.trace.json'), text.slice(0, text.lastIndexOf('ProfileChunk') + 30))
  fs.writeFileSync(at('broken.trace.json'), 'not a trace')
  fs.writeFileSync(at('package.json'), '{"name":"x"}')
  const result = await report(dir)
  assert.equal(result.inputs, 1)
  assert.deepEqual(result.repaired, [at('torn.trace.json')])
  assert.deepEqual(
    result.failed.map(({ file }) => file),
    [at('broken.trace.json')],
  )
  assert.ok(result.processes[0].threads[0].samples > 0)
  assert.ok(result.processes[0].threads[0].samples < traces[0].samples.length)

  fs.writeFileSync(at('a.gz'), zlib.gzipSync(text))
  const ofGzip = await report(at('a.gz'))
  assert.deepEqual(ofGzip.totals, (await report(cwd)).totals)
})

test('the times of adjacent slices add up to the whole, also across several recordings', async () => {
  const program = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
    for (let i = 0; i < 3; i++) {
      prof.start()
      spin(100)
      prof.stop()
      spin(50)
    }`
  const { cwd, files } = await run(['-e', program], { preload: null })
  assert.equal(files.length, 3)
  const whole = await report(cwd)
  let ms = 0
  for (let from = 0; from < whole.durationMs; from += 60) {
    const slice = await report(cwd, { from, to: from + 60 }).catch((error) => error)
    // A slice between two recordings can be empty.
    if (slice instanceof Error) assert.match(slice.message, /nothing was recorded in that time/)
    else ms += sum(slice.totals)
  }
  assertSame(ms, sum(whole.totals), 'all slices')
})

test('a slice contains no more time than its duration', async () => {
  const { cwd } = await run(['ending.js'])
  const whole = await report(cwd)
  const middle = await report(cwd, { from: 50, to: 150 })
  assertSame(middle.durationMs, 100, 'the slice')
  // The first sample can come late on a loaded machine.
  assert.ok(sum(middle.totals) <= 100.001, `${sum(middle.totals)} ms in 100 ms`)
  const rest = await report(cwd, { from: 150 })
  const start = await report(cwd, { to: 50 })
  const slices = [start, middle, rest].map(({ totals }) => sum(totals))
  assertSame(
    slices.reduce((a, b) => a + b),
    sum(whole.totals),
    'all slices',
  )
})

test('negative times count from the end, in the report and in the merged trace', async () => {
  const { cwd } = await run(['ending.js'])
  const whole = await report(cwd)
  const length = whole.durationMs
  const output = path.join(temporaryDirectory(), 'end.json')
  for (const [slice, same] of /** @type {const} */ ([
    [{ from: -100 }, { from: length - 100 }],
    [{ to: -100 }, { to: length - 100 }],
    [
      { from: 50, to: -50 },
      { from: 50, to: length - 50 },
    ],
    [
      { from: -100, to: length - 20 },
      { from: -100, to: -20 },
    ],
    [{ from: -1e6 }, {}],
  ])) {
    const expected = await report(cwd, same)
    assert.deepEqual(await report(cwd, slice), expected)
    await merge(cwd, output, slice)
    const { totals } = await report(output)
    for (const key of /** @type {const} */ (['busyMs', 'idleMs', 'gcMs', 'programMs'])) {
      assertSame(totals[key], expected.totals[key], `${key} of ${JSON.stringify(slice)}`)
    }
  }
})

test('invalid arguments and inputs are rejected with a reason', async () => {
  const dir = temporaryDirectory()
  fs.writeFileSync(path.join(dir, 'x.json'), '{}')
  const { cwd } = await run(['ending.js'])
  /** @type {[any[], RegExp][]} */
  const wrong = [
    [[[]], /an array of at least one path, not an empty array/],
    [[temporaryDirectory()], /there is no trace to read/],
    [[path.join(dir, 'missing')], /missing: it does not exist/],
    [[path.join(dir, 'x.json')], /x\.json: the file has no CPU profile/],
    [[cwd, { from: 1e9 }], /nothing was recorded in that time/],
    [[cwd, { from: 5, to: 5 }], /from \(5\) must be less than to/],
    [[cwd, { from: -5, to: -10 }], /from \(-5\) must be less than to \(-10\)/],
    [
      [cwd, { from: 1e9, to: -1 }],
      /the slice ends before it starts: of recordings of \S+ ms, from /,
    ],
    [[cwd, { to: -1e9 }], /the slice goes from the start to -\S+ ms, and the recordings from 0 /],
    [[cwd, { from: Number.NaN }], /from must be a number of milliseconds, not NaN/],
    [[cwd, { top: -1 }], /top must be a number, 0 or more, not -1/],
    [[cwd, { top: '5' }], /top must be a number, 0 or more, not a string/],
    [[cwd, { by: 'file' }], /by is not an option of report\(\)/],
    [[5], /inputs must be a path, .*, not 5/],
  ]
  for (const [args, message] of wrong) {
    // @ts-expect-error on purpose
    await assert.rejects(report(...args), (error) => {
      assert.match(String(error), message)
      assert.match(String(error), /cpu-prof: /)
      return true
    })
  }
})
