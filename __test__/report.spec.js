'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, merge, report } = require('../index.js')
const { readCpuProfile } = require('./helpers/cpuprofile.js')
const { run, filesIn, temporaryDirectory, FIXTURES, PACKAGE } = require('./helpers/run.js')

/** @typedef {import('../index.js').Report} Report */

/** Frames that V8 adds for its own work. */
const META = /^\((root|program|idle|garbage collector)\)$/

/** @param {import('../index.js').ReportTimes} times */
const sum = ({ busyMs, idleMs, gcMs, programMs }) => busyMs + idleMs + gcMs + programMs

/** Compares floating-point sums of exact microseconds. @param {number} a @param {number} b */
function assertSame(a, b, what = '') {
  assert.ok(Math.abs(a - b) < 0.001, `${what}: ${a} is not ${b}`)
}

/**
 * Computes the times of each function from a .cpuprofile, without the package's own code.
 * @param {string} file
 */
function computed(file) {
  const { nodes, samples, timeDeltas, startTime, endTime } = readCpuProfile(file, { isOurs: false })
  /** @type {Map<number, any>} */
  const byId = new Map(nodes.map((/** @type {any} */ node) => [node.id, node]))
  for (const node of nodes) {
    for (const child of node.children ?? []) byId.get(child).parent = node
  }
  /** @type {Map<string, {selfMs: number, totalMs: number}>} */
  const costs = new Map()
  let time = startTime
  let latest = time
  const times = timeDeltas.map((/** @type {number} */ delta) => {
    time += delta
    // Node 18 can write samples that are out of order.
    latest = Math.max(latest, time)
    return latest
  })
  // Node's last sample can be later than its end; the sample then gets the average duration.
  const average = Math.floor((latest - times[0]) / (times.length - 1))
  const end = endTime > latest ? endTime : latest + average
  samples.forEach((/** @type {number} */ sample, /** @type {number} */ i) => {
    const ms = ((times[i + 1] ?? end) - times[i]) / 1000
    const seen = new Set()
    for (let node = byId.get(sample); node; node = node.parent) {
      const { functionName, url, lineNumber, columnNumber, scriptId } = node.callFrame
      if (scriptId === '0' && META.test(functionName)) continue
      const key = [functionName || '(anonymous)', url, lineNumber + 1, columnNumber + 1].join('|')
      const cost = costs.get(key) ?? { selfMs: 0, totalMs: 0 }
      if (node.id === sample) cost.selfMs += ms
      if (!seen.has(key)) cost.totalMs += ms
      seen.add(key)
      costs.set(key, cost)
    }
  })
  return costs
}

/** @param {Report} report @param {Map<string, {selfMs: number, totalMs: number}>} expected */
function assertFunctions({ functions }, expected) {
  const seen = new Set()
  for (const { name, file, line, column, selfMs, totalMs } of functions) {
    const url = file.startsWith('/') ? `file://${file}` : file
    const key = [name, url, line, column].join('|')
    const cost = expected.get(key)
    assert.ok(cost, `${key} is not in the profile`)
    assertSame(selfMs, cost.selfMs, key)
    assertSame(totalMs, cost.totalMs, key)
    seen.add(key)
  }
  for (const [key, { totalMs }] of expected) {
    assert.ok(seen.has(key) || totalMs === 0, `${key} is not in the report`)
  }
}

test("the times of Node's own .cpuprofile are the same as an independent computation", async () => {
  const { cwd } = await run(['ending.js'], { preload: ['--cpu-prof'] })
  const [file] = filesIn(cwd, '.cpuprofile')
  const result = await report(file, { top: Number.POSITIVE_INFINITY })
  assertFunctions(result, computed(file))
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
  assertFunctions(ofTrace, computed(file))
  const both = await report(cwd, all)
  assert.deepEqual(both.totals, ofTrace.totals)
  assert.match(both.notes.join(), /\.cpuprofile: left out/)

  const [process] = ofTrace.processes
  assert.equal(process.pid, pid)
  assert.equal(process.name, 'fibonacci')
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
  assert.deepEqual([name, command, startMs], ['workers', 'workers terminate', 0])
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
  for (const file of [merged, profile]) {
    assert.deepEqual((await report(file)).processes[0].threads, separate.threads, file)
  }
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
