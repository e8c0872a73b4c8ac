'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, merge, report } = require('../../index.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { assertFunctions, assertSame, computeCosts, sumOfStates } = require('../helpers/times.js')
const { recording, writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../helpers/written.js').Span} Span */

const ALL = { top: Number.POSITIVE_INFINITY }
const START_US = 1e9
/** What the system counts of a thread that only works. */
const NO_WAITS = { waitingMs: 0, blockedMs: 0 }

/** @type {Span} */
const WORK = ['main main.js:1 > work work.js:3@5', 60]

/** A hundred milliseconds of all that a thread can do, except blocked calls. @type {Span[]} */
const EVERYTHING = [
  ['main main.js:1 > work work.js:3@5', 30],
  ['main main.js:1 > again again.js:2@3 > again again.js:2@4', 12],
  ['(garbage collector)', 5],
  ['(program)', 7],
  ['(idle)', 20],
  ['main main.js:1 > work work.js:3@6', 26],
]

/**
 * Writes three recordings of one thread, of 100 ms each, with 50 ms between them, and returns their
 * folder. Windows are so short that no slice has a part of one with other work than the rest.
 */
function writeThree() {
  const dir = temporaryDirectory()
  for (const [i, spans] of [EVERYTHING, [...EVERYTHING].reverse(), EVERYTHING].entries()) {
    const file = path.join(dir, `${i}.trace.json`)
    writeTrace(file, { spans, start: START_US + 150_000 * i, flushMs: 10 })
  }
  return dir
}

/** Time of the function `parse` and of those below, by the version of Node: milliseconds. */
const PARSE_MS = { 18: 98.409, 20: 108.583, 22: 108.91, 24: 109.32, 26: 132.036 }

test("the times of Node's own .cpuprofile are the same as an independent computation", async () => {
  for (const [version, expectedMs] of Object.entries(PARSE_MS)) {
    const file = path.join(FIXTURES, 'foreign', `node-${version}.cpuprofile.gz`)
    const result = await report(file, ALL)
    assertFunctions(result, computeCosts(file))
    const { selfMs, ...parse } = result.functions.filter(({ name }) => name === 'parse')[0]
    assert.deepEqual(parse, {
      name: 'parse',
      file: '/srv/app/work.js',
      line: 3,
      column: 15,
      package: '(own code)',
      trunk: false,
      totalMs: expectedMs,
      blockedMs: 0,
      // One thread worked.
      waitingMs: 0,
      criticalMs: selfMs,
    })
  }
})

test('the trace and the .cpuprofile of one recording give the same report', async () => {
  const dir = temporaryDirectory()
  const of = { spans: EVERYTHING, flushMs: 40, label: 'main.js', cwd: '/project' }
  const trace = writeTrace(path.join(dir, 'a.trace.json'), of)
  const facts = {
    pid: 7,
    threadId: 0,
    ppid: 1,
    cwd: '/project',
    node: 'v24.0.0',
    processStartMs: 5,
    boot: 'b',
    label: 'main.js: (pid 7)',
    processName: 'main.js (pid 7)',
    threadName: 'main',
  }
  const options = { startUs: START_US, facts }
  const file = writeProfile(path.join(dir, 'a.cpuprofile'), EVERYTHING, options)
  const ofProfile = await report(file, ALL)
  const ofTrace = await report(trace, ALL)
  for (const key of /** @type {const} */ (['functions', 'files', 'packages', 'totals', 'counts'])) {
    // Only a trace has the system's counts.
    const expected = key === 'totals' ? { ...ofProfile.totals, ...NO_WAITS } : ofProfile[key]
    assert.deepEqual(ofTrace[key], expected, key)
  }
  assert.deepEqual(ofTrace.lines, ofProfile.lines)
  assertFunctions(ofTrace, computeCosts(file))
  const both = await report(dir, ALL)
  assert.deepEqual(both.totals, ofTrace.totals)
  assert.equal(both.inputs, 1)
  assert.match(both.notes.join(), /a\.cpuprofile: left out/)

  assert.deepEqual(ofTrace.totals, {
    javascriptMs: 68,
    idleMs: 20,
    gcMs: 5,
    nativeMs: 7,
    ...NO_WAITS,
  })
  assert.deepEqual(
    ofTrace.functions.map(({ name, selfMs, totalMs }) => [name, selfMs, totalMs]),
    [
      ['work', 56, 56],
      ['again', 12, 12],
      ['main', 0, 68],
    ],
  )
  assert.deepEqual(
    ofTrace.lines.map(({ name, line, selfMs, samples }) => [name, line, selfMs, samples]),
    [
      ['work', 5, 30, 30],
      ['work', 6, 26, 26],
      ['again', 4, 12, 12],
    ],
  )
  const { threads, cpu, ...process } = ofTrace.processes[0]
  assert.deepEqual(process, {
    pid: 7,
    name: 'main.js',
    command: 'main.js',
    cwd: '/project',
    node: 'v24.0.0',
    parentPid: 1,
    launcher: false,
    startMs: 0,
    durationMs: 100,
  })
  assert.deepEqual(ofProfile.processes[0].threads[0].samples, threads[0].samples)
  const { threads: ofFile, ...sameProcess } = ofProfile.processes[0]
  assert.deepEqual(sameProcess, process)
})

test('processes and threads have names, and all their time is counted', async () => {
  const dir = temporaryDirectory()
  const of = { label: 'workers.js', argv: ['terminate'], cwd: '/project' }
  const at = (/** @type {number} */ tid) => path.join(dir, `${tid}.trace.json`)
  writeTrace(at(0), { ...of, spans: EVERYTHING, flushMs: 30 })
  const worker = { ...of, script: 'workers.js' }
  writeTrace(at(1), { ...worker, tid: 1, start: START_US + 10_000, spans: [WORK, ['(idle)', 40]] })
  // Its first sample comes 2 ms after its start.
  const text = recording({ ...worker, tid: 2, start: START_US + 25_000, spans: [WORK] })
  const late = text
    .replace('"ts":1000025000,"args":{"data":{"startTime":1000025000', (start) =>
      start.replaceAll('25000', '23000'),
    )
    .replace('"timeDeltas":[0,', '"timeDeltas":[2000,')
  fs.writeFileSync(at(2), late)
  const result = await report(dir)
  assert.deepEqual([result.version, result.inputs, result.durationMs], [2, 3, 110])
  const [{ threads, ...process }] = result.processes
  assert.deepEqual(process, {
    pid: 7,
    name: 'workers.js',
    command: 'workers.js terminate',
    cwd: '/project',
    node: 'v24.0.0',
    parentPid: 1,
    launcher: false,
    startMs: 0,
    durationMs: 110,
    cpu: { javascriptMs: 200, nativeMs: 0, othersMs: 0 },
  })
  const none = { idleMs: 0, gcMs: 0, nativeMs: 0, ...NO_WAITS, coreWaitMs: 0 }
  const ownFile = '/project/main.js'
  assert.deepEqual(threads, [
    {
      ...none,
      threadId: 0,
      name: 'main',
      startMs: 0,
      durationMs: 100,
      samples: 100,
      ownFile,
      javascriptMs: 68,
      idleMs: 20,
      gcMs: 5,
      nativeMs: 7,
      cpuMs: 80,
    },
    {
      ...none,
      threadId: 1,
      name: 'worker 1: workers.js',
      startMs: 10,
      durationMs: 100,
      samples: 100,
      javascriptMs: 60,
      idleMs: 40,
      cpuMs: 60,
      ownFile,
    },
    {
      ...none,
      threadId: 2,
      name: 'worker 2: workers.js',
      startMs: 23,
      durationMs: 62,
      samples: 60,
      javascriptMs: 60,
      cpuMs: 60,
      ownFile,
    },
  ])
  assert.deepEqual(result.totals, {
    javascriptMs: 188,
    idleMs: 60,
    gcMs: 5,
    nativeMs: 7,
    ...NO_WAITS,
  })
  const self = result.packages.reduce((total, { selfMs }) => total + selfMs, 0)
  assert.equal(self, result.totals.javascriptMs)
})

test('several recordings of one thread are one thread, merged or not', async () => {
  const dir = temporaryDirectory()
  const memory = (/** @type {number} */ ts, /** @type {number} */ heapUsed) => ({
    name: 'memory',
    ph: 'C',
    ts,
    args: { heapUsed, heapTotal: 9e6, external: 10, rss: 5e7 },
  })
  const gc = { minor: 2, major: 1, us: 6000, longestUs: 4000 }
  const collected = { name: 'thread.flush', ph: 'I', ts: START_US + 1e5, args: { data: { gc } } }
  writeTrace(path.join(dir, '1.trace.json'), {
    spans: [WORK, ['main main.js:1 > sleep sleep.js:9', 40, { cpuMs: 0 }]],
    events: [memory(START_US + 50_000, 3e6), collected],
  })
  writeTrace(path.join(dir, '2.trace.json'), {
    spans: [['main main.js:1', 100, { cpuMs: 90, waitMs: 10 }]],
    start: START_US + 200_000,
    events: [memory(START_US + 250_000, 4e6)],
  })
  const [separate] = (await report(dir)).processes
  assert.equal(separate.durationMs, 300)
  assert.deepEqual(separate.threads, [
    {
      threadId: 0,
      name: 'main',
      startMs: 0,
      durationMs: 300,
      samples: 200,
      javascriptMs: 150,
      nativeMs: 0,
      gcMs: 0,
      waitingMs: 10,
      blockedMs: 40,
      idleMs: 0,
      cpuMs: 150,
      coreWaitMs: 10,
      ownFile: '/project/main.js',
      collections: { minor: 2, major: 1, totalMs: 6, longestMs: 4 },
      memory: { heapPeak: 4e6, heapGrowth: 1e6, externalPeak: 10, rssPeak: 5e7, rssGrowth: 0 },
    },
  ])

  const at = (/** @type {string} */ name) => path.join(temporaryDirectory(), name)
  const merged = at('merged.json')
  await merge(dir, merged)
  const profile = at('merged.cpuprofile')
  await convert(merged, profile)
  assert.deepEqual((await report(merged)).processes[0].threads, separate.threads)
  // A .cpuprofile has no counters of the system, which tell waiting and blocked time from work, and no memory.
  const {
    cpuMs,
    coreWaitMs,
    waitingMs,
    blockedMs,
    memory: _,
    collections,
    ...rest
  } = separate.threads[0]
  const expected = { ...rest, javascriptMs: 200 }
  assert.deepEqual((await report(profile)).processes[0].threads, [expected])
})

test('a torn file is read up to the tear, and an unreadable file is listed as failed', async () => {
  const text = recording({ spans: EVERYTHING, flushMs: 25 })
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
  // The last of four windows is torn.
  const [{ samples, durationMs }] = result.processes[0].threads
  assert.deepEqual([samples, durationMs], [75, 75])
  assert.deepEqual(result.totals, {
    javascriptMs: 43,
    idleMs: 20,
    gcMs: 5,
    nativeMs: 7,
    ...NO_WAITS,
  })

  fs.writeFileSync(at('a.gz'), zlib.gzipSync(text))
  const ofGzip = await report(at('a.gz'))
  assert.deepEqual(ofGzip.repaired, [])
  assert.deepEqual(ofGzip.totals, {
    javascriptMs: 68,
    idleMs: 20,
    gcMs: 5,
    nativeMs: 7,
    ...NO_WAITS,
  })
})

test('the times of adjacent slices add up to the whole, also across several recordings', async () => {
  const dir = writeThree()
  const whole = await report(dir)
  assert.deepEqual([whole.durationMs, sumOfStates(whole.totals)], [400, 300])
  const slices = []
  for (let from = 0; from < whole.durationMs; from += 60) {
    slices.push(sumOfStates((await report(dir, { from, to: from + 60 })).totals))
  }
  assert.deepEqual(slices, [60, 40, 30, 60, 10, 60, 40])
  // Between two recordings.
  await assert.rejects(report(dir, { from: 105, to: 145 }), /nothing was recorded in that time/)

  // Limits within samples share their time.
  const uneven = [0, 17.3, 33.6, 99.9, 199.999, 301.25, undefined]
  let ms = 0
  for (let i = 1; i < uneven.length; i++) {
    ms += sumOfStates((await report(dir, { from: uneven[i - 1], to: uneven[i] })).totals)
  }
  assertSame(ms, 300, 'all slices')
})

test('a slice has the times between its limits, and no more than its duration', async () => {
  const dir = temporaryDirectory()
  const file = writeTrace(path.join(dir, 'a.trace.json'), { spans: EVERYTHING })
  const slice = async (/** @type {{ from?: number, to?: number }} */ limits) => {
    const { durationMs, totals } = await report(file, limits)
    const { javascriptMs, gcMs, nativeMs, idleMs, blockedMs } = totals
    return [durationMs, javascriptMs, gcMs, nativeMs, idleMs, blockedMs]
  }
  assert.deepEqual(await slice({ to: 20 }), [20, 20, 0, 0, 0, 0])
  assert.deepEqual(await slice({ from: 20, to: 60 }), [40, 22, 5, 7, 6, 0])
  assert.deepEqual(await slice({ from: 60 }), [40, 26, 0, 0, 14, 0])
  assert.deepEqual(await slice({ from: 41.5, to: 43.25 }), [1.75, 0.5, 1.25, 0, 0, 0])
})

test('a slice has the blocked time of its own calls, in the report and in the merged trace', {
  skip: 'a defect: the counters of a window are shared out evenly over its time',
}, async () => {
  const dir = temporaryDirectory()
  const file = writeTrace(path.join(dir, 'a.trace.json'), {
    spans: [
      ['main main.js:1 > work work.js:3', 200],
      ['main main.js:1 > sleep sleep.js:9', 300, { cpuMs: 0 }],
    ],
  })
  const output = path.join(dir, 'slice.json')
  for (const [limits, javascriptMs, blockedMs] of /** @type {const} */ ([
    [{}, 200, 300],
    [{ to: 200 }, 200, 0],
    [{ from: 200 }, 0, 300],
    [{ from: 400 }, 0, 100],
  ])) {
    const expected = { javascriptMs, idleMs: 0, gcMs: 0, nativeMs: 0, ...NO_WAITS, blockedMs }
    assert.deepEqual((await report(file, limits)).totals, expected)
    await merge(file, output, limits)
    assert.deepEqual((await report(output)).totals, expected)
  }
})

test('negative times count from the end, in the report and in the merged trace', async () => {
  const dir = writeThree()
  const output = path.join(temporaryDirectory(), 'end.json')
  for (const [slice, same, expectedMs] of /** @type {const} */ ([
    [{ from: -90 }, { from: 310 }, 90],
    [{ to: -90 }, { to: 310 }, 210],
    [{ from: 50, to: -50 }, { from: 50, to: 350 }, 200],
    [{ from: -100, to: 380 }, { from: -100, to: -20 }, 80],
    [{ from: -1e6 }, {}, 300],
  ])) {
    const what = JSON.stringify(slice)
    const expected = await report(dir, same)
    assert.equal(sumOfStates(expected.totals), expectedMs, what)
    assert.deepEqual(await report(dir, slice), expected)
    await merge(dir, output, slice)
    assert.deepEqual((await report(output)).totals, expected.totals, what)
  }
})

test('invalid arguments and inputs are rejected with a reason', async () => {
  const dir = temporaryDirectory()
  fs.writeFileSync(path.join(dir, 'x.json'), '{}')
  const trace = writeTrace(path.join(dir, 'a.trace.json'), { spans: EVERYTHING })
  /** @type {[any[], RegExp][]} */
  const wrong = [
    [[[]], pattern`inputs ${messages.atLeastOnePath}, not an empty array`],
    [[temporaryDirectory()], pattern`${messages.nothingToRead}`],
    [[path.join(dir, 'missing')], /missing: it does not exist/],
    [[path.join(dir, 'x.json')], pattern`x\.json: the file has ${messages.noProfile}`],
    [[trace, { from: 1e9 }], /nothing was recorded in that time/],
    [[trace, { from: 5, to: 5 }], /from \(5\) must be less than to/],
    [[trace, { from: -5, to: -10 }], /from \(-5\) must be less than to \(-10\)/],
    [
      [trace, { from: 1e9, to: -1 }],
      pattern`${messages.sliceEnds}: of recordings of 100 ms, from is at 1000000000 ms and to at 99 ms`,
    ],
    [
      [trace, { to: -1e9 }],
      /the slice goes from the start to -999999900 ms, and the recordings from 0 to 100 ms/,
    ],
    [[trace, { from: Number.NaN }], pattern`from ${messages.milliseconds}, not NaN`],
    [[trace, { top: -1 }], /top must be a number, 0 or more, not -1/],
    [[trace, { top: '5' }], /top must be a number, 0 or more, not a string/],
    [[trace, { by: 'file' }], /by must be 'label', or 'label:' with a key, not a string/],
    [[trace, { label: 'route' }], /label must be a text such as route=.*, not a string/],
    [[trace, { labels: 'a=b' }], /labels is not an option of report\(\)/],
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
