'use strict'

// User timings: in the trace, and unseen by the program.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')

/** @param {{ events: any[] }} trace */
const timings = ({ events }) => events.filter(({ cat }) => cat === 'blink.user_timing')

/** @param {string} code @param {Parameters<typeof run>[1]} [options] */
const runCode = (code, options) => run(['-e', code], options)

const MARKS = `
  performance.mark('ready', { detail: { port: 3000 } })
  const end = performance.now() + 30
  while (performance.now() < end);
  const { duration } = performance.measure('boot', 'ready')
  const nowUs = () => Number(process.hrtime.bigint() / 1000n)
  const before = nowUs()
  performance.mark('now')
  console.log(JSON.stringify({ before, after: nowUs(), durationUs: 1000 * duration }))`

/** Durations are rounded to microseconds. */
const ROUNDED_US = 10
/** How far the clocks of the program and of the trace are apart at most: both are read, one after the other. */
const CLOCKS_US = 1000

test('marks and measures of both threads are in the trace, at their times', async () => {
  const { stdout, traces } = await runCode(
    `${MARKS}
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(`const { performance } = require('node:perf_hooks'); ${MARKS}`)}, { eval: true })`,
  )
  const told = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(traces.length, 2)
  for (const [index, trace] of traces.entries()) {
    const events = timings(trace)
    assert.deepEqual(
      events.map(({ name, ph }) => [name, ph]),
      [
        ['ready', 'I'],
        ['boot', 'b'],
        ['boot', 'e'],
        ['now', 'I'],
      ],
    )
    const [ready, begin, end, now] = events
    assert.deepEqual(JSON.parse(ready.args.data.detail), { port: 3000 })
    assert.ok(Math.abs(begin.ts - ready.ts) <= 1, `${begin.ts} ${ready.ts}`)
    const { before, after, durationUs } = told[index]
    const lasted = end.ts - begin.ts
    assert.ok(Math.abs(lasted - durationUs) <= ROUNDED_US, `${lasted} of ${durationUs} µs`)
    assert.deepEqual(begin.id2, end.id2)
    const isInside = now.ts >= before - CLOCKS_US && now.ts <= after + CLOCKS_US
    assert.ok(isInside, `${now.ts} is not from ${before} to ${after}`)
  }
  assert.notDeepEqual(timings(traces[0])[1].id2, timings(traces[1])[1].id2)
})

/** Ways to the functions of timings. Each program makes a first mark, and takes it away at once. @type {Record<string, string>} */
const WAYS = {
  'a global': `performance.mark('first'); performance.clearMarks()`,
  require: `const { performance: p } = require('perf_hooks'); p.mark('first'); p.clearMarks()`,
  import: `import('node:perf_hooks').then(({ performance: p }) => { p.mark('first'); p.clearMarks() })`,
  'a class': `new PerformanceObserver(() => {}); performance.mark('first'); performance.clearMarks()`,
}
if ('getBuiltinModule' in process) {
  WAYS.getBuiltinModule = `const { performance: p } = process.getBuiltinModule('perf_hooks')
    p.mark('first')
    p.clearMarks()`
}

for (const [way, code] of Object.entries(WAYS)) {
  test(`the first mark is kept, by ${way}, though the modules are not loaded before`, async (t) => {
    // In Node 18 the class is not global.
    if (way === 'a class' && !('PerformanceObserver' in globalThis)) return t.skip('Node 18')
    const { stdout, traces } = await runCode(
      `console.log(process.moduleLoadList.includes('NativeModule perf_hooks'))
      ${code}`,
    )
    assert.equal(stdout, 'false\n')
    assert.deepEqual(
      timings(traces[0]).map(({ name }) => name),
      ['first'],
    )
  })
}

test('the list of Node’s loaded modules is an array as before, also when the program adds to it', async () => {
  const code = `
    const { inspect } = require('node:util')
    const list = process.moduleLoadList
    const count = list.length
    list.push('mine')
    const told = [Array.isArray(list), list.length - count, list.at(-1), Object.keys(list).length - count]
    const before = inspect(list)
    require('node:perf_hooks')
    told.push(Object.getPrototypeOf(list) === Array.prototype, before.startsWith('[\\n'))
    console.log(JSON.stringify(told))`
  const { stdout } = await runCode(code)
  assert.deepEqual(JSON.parse(stdout), [true, 1, 'mine', 1, true, true])
})

test('a busy program that is killed keeps its marks up to the last flush', async (t) => {
  if (process.env.SPEC_SOURCE === 'inspector') return t.skip('inspector: no window without a turn')
  // The program ends itself once a later mark than the first is in its trace, or after 30 s.
  const { signal, traces } = await runCode(
    `const fs = require('node:fs')
    const end = performance.now() + 30_000
    const written = () => {
      const [file] = fs.readdirSync('.').filter((name) => name.endsWith('.trace.json'))
      return fs.readFileSync(file, 'utf8')
    }
    for (let i = 0; performance.now() < end && !written().includes('"turn 5"'); i++) {
      performance.mark('turn ' + i)
      const end = performance.now() + 20
      while (performance.now() < end);
    }
    process.kill(process.pid, 'SIGKILL')`,
    { env: { CPU_PROF_FLUSH_INTERVAL: '50' } },
  )
  assert.equal(signal, 'SIGKILL')
  const names = timings(traces[0]).map(({ name }) => name)
  assert.ok(names.includes('turn 5'), names.join())
  assert.deepEqual(
    names,
    names.map((_, i) => `turn ${i}`),
  )
})

test('the program sees nothing of this', async () => {
  const code = `
    const { PerformanceObserver, performance } = require('node:perf_hooks')
    const seen = []
    new PerformanceObserver((list) => {
      for (const { name, entryType } of list.getEntries()) seen.push([entryType, name])
    }).observe({ entryTypes: ['mark', 'measure'] })
    let reads = 0
    const detail = { get secret() { reads++; return 1 } }
    performance.mark('a', { detail })
    performance.measure('b', 'a')
    performance.mark('c')
    performance.clearMarks('c')
    setTimeout(() => {
      console.log(JSON.stringify({
        seen,
        reads,
        entries: performance.getEntries().map(({ name }) => name),
        mark: performance.mark.toString(),
        keys: Object.keys(performance),
        handles: process._getActiveHandles().length,
        types: PerformanceObserver.supportedEntryTypes,
      }))
    }, 20)`
  const plain = await runCode(code, { preload: null })
  const recorded = await runCode(code)
  assert.equal(recorded.stdout, plain.stdout)
  assert.equal(JSON.parse(plain.stdout).reads, 1)
  assert.equal(timings(recorded.traces[0]).length, 4)
})

test('details that are no JSON, or large, are left out', async () => {
  const { code, stderr, traces } = await runCode(`
    const round = {}
    round.round = round
    performance.mark('round', { detail: round })
    performance.mark('big int', { detail: 1n })
    performance.mark('large', { detail: 'x'.repeat(1e5) })
    performance.mark('text', { detail: '\\u2028 é </script>' })`)
  assert.equal(code, 0)
  assert.equal(stderr, '')
  const found = timings(traces[0]).map(({ name, args }) => [name, args.data.detail])
  assert.deepEqual(found, [
    ['round', undefined],
    ['big int', undefined],
    ['large', undefined],
    ['text', JSON.stringify('\u2028 é </script>')],
  ])
})

test('memory stays bounded with many marks, and none is lost without a word', async () => {
  const { code, stderr, files } = await runCode(
    `
    const before = process.memoryUsage.rss()
    for (let i = 0; i < 3e5; i++) {
      performance.mark('m')
      if (i % 1000 === 0) performance.clearMarks()
    }
    process.exitCode = process.memoryUsage.rss() - before < 100e6 ? 0 : 7`,
    { read: 0 },
  )
  assert.equal(code, 0)
  const count = fs.readFileSync(files[0], 'latin1').split('"name":"m"').length - 1
  assert.ok(count === 3e5 || /dropped events of the program/.test(stderr), `${count} ${stderr}`)
})

test('Node’s own entries have tracks of their own', async () => {
  const { traces } = await runCode(
    `performance.timerify(function work() {})()
    require('node:dns').lookup('localhost', () => {})`,
  )
  const tracks = Object.fromEntries(
    timings(traces[0])
      .filter(({ ph }) => ph === 'b')
      .map(({ name, args }) => [JSON.parse(args.detail).devtools.track, name]),
  )
  assert.deepEqual(tracks, { timerify: 'work', DNS: 'lookup localhost' })
})

test('console.timeStamp() is in the trace, with its track', async () => {
  const { code, stdout, traces } = await runCode(`
    console.log(console.timeStamp.name, console.timeStamp.length, 'prototype' in console.timeStamp)
    console.timeStamp('plain')
    const start = performance.now()
    while (performance.now() < start + 5);
    const end = performance.now()
    console.timeStamp('job', start, end, 'jobs', 'mine', 'tertiary')
    console.timeStamp('after plain', 'plain', undefined, 'jobs')
    console.log(1000 * (end - start))`)
  assert.equal(code, 0)
  const [shape, lastedUs] = stdout.split('\n')
  assert.equal(shape, 'timeStamp 0 false')
  const stamps = traces[0].events.filter(
    (/** @type {any} */ { cat, name }) => name === 'TimeStamp' && cat !== 'cpu-prof.waiting',
  )
  const [plain, job, after] = stamps.map((/** @type {any} */ { args }) => args.data)
  assert.equal(stamps.length, 3)
  assert.equal(plain.message, 'plain')
  const isAsLong = Math.abs(job.end - job.start - Number(lastedUs)) <= ROUNDED_US
  assert.ok(isAsLong, `${JSON.stringify(job)} of ${lastedUs} µs`)
  const [earliest, latest] = [stamps[0].ts - CLOCKS_US, stamps[1].ts + CLOCKS_US]
  assert.ok(job.start >= earliest && job.end <= latest, JSON.stringify(stamps))
  assert.deepEqual([job.track, job.trackGroup, job.color], ['jobs', 'mine', 'tertiary'])
  assert.equal(after.start, 'plain')
})

test('start() and stop() begin and end the timings', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(
    path.join(cwd, 'main.js'),
    `const prof = require(${JSON.stringify(PACKAGE)})
    performance.mark('before')
    prof.start()
    performance.mark('during')
    prof.stop()
    performance.mark('after')`,
  )
  const { traces } = await run(['./main.js'], { cwd, preload: null })
  assert.deepEqual(
    timings(traces[0]).map(({ name }) => name),
    ['during'],
  )
})

test('measures that followed one another are phases of what the end waited for', async () => {
  const { files } = await runCode(`
    for (const name of ['read', 'bundle']) {
      performance.mark(name)
      const end = performance.now() + 200
      while (performance.now() < end);
      performance.measure(name, name)
    }`)
  const { chain } = await report(files)
  const measured = chain.filter(({ phase }) => phase === 'read' || phase === 'bundle')
  assert.deepEqual(
    measured.map(({ phase }) => phase),
    ['read', 'bundle'],
  )
  for (const { ms } of measured) assert.ok(ms >= 199, JSON.stringify(chain))
})
