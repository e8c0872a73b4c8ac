'use strict'

// pprof, written and read: a report of what was converted is that of the recordings.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { check, compare, convert, merge, report } = require('../../index.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { pprofBytes, readPprof } = require('../helpers/pprof.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const MAIN = 'main main.js:1:1'
const PARSE = '(anonymous) node_modules/tool/index.js:12:34'
const WAIT = `${MAIN} > wait wait.js:2:1`
/** Spans with all states. @type {Span[]} */
const SPANS = [
  [WAIT, 24, { cpuMs: 4 }],
  ['(program)', 2],
  [`${MAIN} > ${PARSE}@14`, 3],
  [`${MAIN} > ${PARSE}@15`, 2],
  [`${MAIN} > na\u00efve"\u{1f600} sub/b.mjs:5:6 > na\u00efve"\u{1f600} sub/b.mjs:5:6`, 4],
  [`${MAIN} > x sub/b.mjs:5:30 > x sub/b.mjs:5:40`, 1],
  [`${MAIN} > (garbage collector)`, 2],
  ['(idle)', 30],
  [`${MAIN}@3`, 1],
]

/** Writes recordings of a process with a worker. */
function writeRecordings() {
  const dir = temporaryDirectory()
  const common = { cwd: '/project', label: 'app.js', argv: ['natural'], flushMs: 24 }
  writeTrace(path.join(dir, 'CPU.7.0.trace.json'), { ...common, spans: SPANS })
  writeTrace(path.join(dir, 'CPU.7.1.trace.json'), {
    ...common,
    tid: 1,
    script: 'crunch.js',
    start: 1e9 + 5000,
    spans: [
      [`${MAIN} > ${PARSE}@15`, 8, { labels: { route: '/users/:id', thread: 'own' } }],
      [`${MAIN} > ${PARSE}@15`, 4],
    ],
  })
  return dir
}

/**
 * Returns what a report says of functions, threads, labels and packages.
 * @param {string | string[]} inputs @param {import('../../index.js').ReportOptions} [options]
 */
async function costs(inputs, options) {
  const { functions, processes, totals, packages, lines } = await report(inputs, {
    ...options,
    top: Infinity,
  })
  const name = (/** @type {any} */ { name, file, line, column }) =>
    `${name} ${file}:${line}:${column}`
  const times = (/** @type {any} */ { selfMs, totalMs, blockedMs, waitingMs }) =>
    [selfMs, totalMs, blockedMs, waitingMs].join(' ')
  /** @param {string[]} texts */
  const sorted = (texts) => texts.sort()
  return {
    functions: sorted(functions.map((each) => `${name(each)} ${times(each)}`)),
    packages: sorted(packages.map((each) => `${each.name} ${times(each)}`)),
    // A function whose line is not known has its first.
    lines: sorted(
      lines
        .filter(({ line }) => line > 5)
        .map((each) => `${each.file}:${each.line} ${each.selfMs}`),
    ),
    threads: processes.map(({ pid, command, node, cwd, threads }) => ({
      pid,
      command,
      node,
      cwd,
      threads: threads.map(({ threadId, name, samples }) => ({ threadId, name, samples })),
    })),
    totals,
  }
}

/** @param {string} input @param {import('../../index.js').ConvertOptions} [options] */
async function converted(input, options) {
  const file = path.join(temporaryDirectory(), 'x.pb.gz')
  assert.deepEqual((await convert(input, file, options)).files, [file])
  return file
}

test('a report of the pprof of recordings is that of the recordings', async () => {
  const recordings = writeRecordings()
  /** @type {import('../../index.js').ConvertOptions[]} */
  const selections = [
    {},
    { thread: ['crunch'] },
    { focus: ['wait'] },
    { ignore: ['main'] },
    { package: ['tool'] },
    { label: ['route=/users/:id'] },
    { label: ['route='] },
    { from: 3, to: 12 },
  ]
  for (const selection of selections) {
    const pprof = await converted(recordings, selection)
    const [ofPprof, expected] = await Promise.all([costs(pprof), costs(recordings, selection)])
    const { totals, ...rest } = expected
    // What the system did not count, pprof does not tell.
    const { waitingMs, blockedMs, ...known } = totals
    const { waitingMs: waiting = 0, blockedMs: blocked = 0, ...read } = ofPprof.totals
    assert.deepEqual({ ...ofPprof, totals: read }, { ...rest, totals: known })
    assert.deepEqual([waiting, blocked], [waitingMs ?? 0, blockedMs ?? 0])
    // The filters find in it what they find in the recordings.
    if (selection.from === undefined) {
      const filtered = await costs(await converted(recordings), selection)
      assert.deepEqual(filtered.functions, expected.functions, JSON.stringify(selection))
    }
  }
})

test('the file has times of work and of the thread, with labels of the place', async () => {
  const file = await converted(writeRecordings())
  const { samples, ...facts } = readPprof(file)
  assert.deepEqual(facts.types, ['samples/count', 'cpu/nanoseconds', 'wall/nanoseconds'])
  assert.deepEqual([facts.defaultType, facts.period], ['cpu', 1e6])
  assert.equal(facts.durationNanos, 69e6)
  assert.match(facts.comments[0], /^cpu-prof \d/)
  assert.ok(facts.comments.includes('command: app.js natural (pid 7)'))
  assert.ok(facts.comments.includes('node: v24.0.0 (pid 7)'))
  const ofMain = { process: 'app.js', pid: 7, thread: 'main' }
  const found = (/** @type {string} */ name) =>
    samples.filter(({ stack }) => stack[0].startsWith(name))
  const main = '/project/main.js:1'
  assert.deepEqual(found('wait'), [
    {
      stack: ['wait /project/wait.js:2@2', `main ${main}@1`],
      values: [24, 4e6, 4e6],
      labels: { ...ofMain, package: '(own code)' },
    },
    {
      stack: ['wait /project/wait.js:2@2', `main ${main}@1`],
      values: [0, 0, 20e6],
      labels: { ...ofMain, package: '(own code)', state: 'blocked' },
    },
  ])
  assert.deepEqual(found('(idle)'), [
    { stack: ['(idle) :0@0'], values: [30, 0, 30e6], labels: ofMain },
  ])
  const collections = found('(garbage')
  assert.deepEqual(collections[0].stack, ['(garbage collector) :0@0', `main ${main}@1`])
  const parse = found('(anonymous)').map(({ stack, values, labels }) => [stack[0], values, labels])
  const place = '(anonymous) /project/node_modules/tool/index.js:12'
  const ofWorker = { process: 'app.js', pid: 7, thread: 'worker 1: crunch.js', worker: 1 }
  assert.deepEqual(parse, [
    [`${place}@14`, [3, 3e6, 3e6], { ...ofMain, package: 'tool' }],
    [`${place}@15`, [2, 2e6, 2e6], { ...ofMain, package: 'tool' }],
    [`${place}@15`, [4, 4e6, 4e6], { ...ofWorker, package: 'tool' }],
    [
      `${place}@15`,
      [8, 8e6, 8e6],
      { ...ofWorker, package: 'tool', route: '/users/:id', 'label.thread': 'own' },
    ],
  ])
  const wall = samples.filter(({ labels }) => labels.thread === 'main')
  assert.equal(
    wall.reduce((sum, { values }) => sum + values[2], 0),
    69e6,
  )
})

test('a file tells when the recording began, and is the same each time', async () => {
  const dir = temporaryDirectory()
  const facts = { pid: 7, threadId: 0, startTime: '2026-03-04T05:06:07.089Z' }
  const file = writeProfile(path.join(dir, 'a.cpuprofile'), SPANS, { facts })
  const [one, other] = [await converted(file), await converted(file)]
  assert.deepEqual(fs.readFileSync(one), fs.readFileSync(other))
  assert.equal(readPprof(one).timeNanos, BigInt(Date.parse(facts.startTime)) * 1_000_000n)
  for (const ending of ['.pb', '.pprof', '.pprof.gz', '.PB.GZ']) {
    const output = path.join(dir, `x${ending}`)
    await convert(file, output)
    assert.equal(fs.readFileSync(output)[0], /gz$/i.test(ending) ? 0x1f : 0x0a, ending)
    assert.deepEqual(await costs(output), await costs(one))
  }
})

/** @param {string} name @param {Buffer} bytes */
function written(name, bytes) {
  const file = path.join(temporaryDirectory(), name)
  fs.writeFileSync(file, bytes)
  return file
}

test('files of other tools are read', async () => {
  const ms = (/** @type {number} */ count) => count * 1e6
  const stack = ['main.main /go/main.go:7', 'main.work /go/work.go:20']
  const go = pprofBytes(
    [
      { stack, values: [3, ms(30)], labels: { endpoint: '/x', bytes: 5 } },
      { stack: stack.slice(0, 1), values: [1, ms(10)] },
    ],
    { timeMs: 1_700_000_000_000, durationMs: 100 },
  )
  const file = written('go.pb.gz', zlib.gzipSync(go))
  const { functions, notes, processes, labels } = await report(file)
  const times = functions.map(({ name, file, line, selfMs, totalMs }) => [
    name,
    file,
    line,
    selfMs,
    totalMs,
  ])
  assert.deepEqual(times, [
    ['main.work', '/go/work.go', 20, 30, 30],
    ['main.main', '/go/main.go', 7, 10, 40],
  ])
  assert.deepEqual(notes, [`${file}: pprof has no time line: only sums are known`])
  assert.deepEqual(
    processes.map(({ name, pid, durationMs, threads }) => [name, pid, durationMs, threads[0].name]),
    [['go.pb.gz', 0, 100, 'all threads']],
  )
  assert.deepEqual(
    labels.map(({ labels, selfMs }) => [labels, selfMs]),
    [
      [{ endpoint: '/x' }, 30],
      [{}, 10],
    ],
  )

  const idle = { stack: ['(idle)'], values: [4, ms(40), 0] }
  const work = { stack: ['(anonymous) /app/a.js:3', '(program)'], values: [2, ms(20), ms(15)] }
  const datadog = pprofBytes([idle, work], {
    types: ['sample/count', 'wall/nanoseconds', 'cpu/nanoseconds'],
    period: 'wall/nanoseconds',
  })
  const { totals } = await report(written('wall.pprof', datadog))
  assert.deepEqual(totals, { javascriptMs: 0, nativeMs: 15, gcMs: 0, idleMs: 0 })
  const pyroscope = pprofBytes([{ stack, values: [5] }], { types: ['samples/count'] })
  const { functions: counted } = await report(written('p.pb', pyroscope))
  assert.deepEqual([counted[0].name, counted[0].selfMs], ['main.work', 50])
  const heap = pprofBytes([{ stack, values: [5, 6] }], {
    types: ['inuse_objects/count', 'inuse_space/bytes'],
    period: 'space/bytes',
  })
  await assert.rejects(report(written('heap.pb.gz', zlib.gzipSync(heap))), {
    message: /no times: its values are inuse_objects\/count, inuse_space\/bytes/,
  })
})

test('a trace of a pprof file has the stacks one after the other, and says so', async () => {
  const recordings = writeRecordings()
  const pprof = await converted(recordings)
  const dir = path.dirname(pprof)
  const note = `${pprof}: pprof has no time line: its stacks stand one after the other`
  const trace = path.join(dir, 'a.trace.json')
  assert.deepEqual((await merge(pprof, trace)).notes, [note])
  assert.deepEqual((await check(trace)).files[0].problems, [])
  const names = await report(trace)
  assert.deepEqual(
    names.processes.map(({ command, pid, threads }) => [
      command,
      pid,
      threads.map(({ name }) => name),
    ]),
    [['app.js natural', 7, ['main', 'worker 1: crunch.js']]],
  )
  const spent = (/** @type {import('../../index.js').Report} */ { functions }) =>
    Object.fromEntries(functions.map(({ name, selfMs, blockedMs }) => [name, selfMs + blockedMs]))
  assert.deepEqual(spent(names), spent(await report(recordings)))
  const { files, notes } = await convert(pprof, path.join(dir, 'x.cpuprofile'))
  assert.deepEqual(notes, [note])
  assert.deepEqual(spent(await report(files)), spent(names))
  const selected = await merge(pprof, trace, { thread: ['crunch'] })
  assert.deepEqual([selected.threads, selected.processes], [1, 1])
})

test('pprof files are found in folders, and not counted beside their recordings', async () => {
  const recordings = writeRecordings()
  const alone = await report(recordings)
  const pprof = path.join(recordings, 'all.pb.gz')
  await convert(recordings, pprof)
  const both = await report(recordings)
  assert.deepEqual(both.totals, alone.totals)
  const left = messages.leftOut('in pprof, which only has sums')
  assert.deepEqual(both.notes, [`${pprof}: ${left}`])
  const merged = await merge(recordings, path.join(temporaryDirectory(), 'a.json'))
  assert.match(merged.notes.join(), /left out pprof files beside traces .*all\.pb\.gz/)
  const dir = temporaryDirectory()
  fs.copyFileSync(pprof, path.join(dir, 'a.pb.gz'))
  assert.equal((await report(dir)).processes.length, 1)
})

test('runs in pprof are compared', async () => {
  const stack = ['main /a.js:1', 'parse /b.js:2']
  const run = (/** @type {number} */ ms) =>
    written('run.pb', pprofBytes([{ stack, values: [ms, ms * 1e6] }]))
  const { rows } = await compare(run(100), run(250))
  const row = rows.find(({ kind, name }) => kind === 'function' && name === 'parse')
  assert.deepEqual([row?.base, row?.head], [100, 250])
})

test('a recording without samples gives a file without samples', async () => {
  const dir = temporaryDirectory()
  const file = writeProfile(path.join(dir, 'a.cpuprofile'), [])
  const pprof = await converted(file)
  assert.deepEqual(readPprof(pprof).samples, [])
  const { functions, totals } = await report(pprof)
  assert.deepEqual([functions, totals.javascriptMs], [[], 0])
})

test('damaged files and other files give an error that tells what is wrong', async () => {
  const whole = fs.readFileSync(await converted(writeRecordings()))
  const raw = zlib.gunzipSync(whole)
  for (const [bytes, reason] of /** @type {[Buffer, RegExp][]} */ ([
    [whole.subarray(0, whole.length - 20), /cannot be read to its end/],
    [raw.subarray(0, raw.length - 20), /cut off or damaged/],
    [raw.subarray(0, raw.length / 2), /cut off or damaged/],
    [Buffer.from('\x0a\x04\x08\x01\x10\x02'), /cut off or damaged: it has no text 1/],
    [
      Buffer.from([0x0a, 0x02, 0x08, 0x00, 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]),
      /cut off or damaged/,
    ],
    [Buffer.from('\x0a\x05other'), pattern`${messages.notJson}`],
  ])) {
    await assert.rejects(report(written('x.pb.gz', bytes)), { message: reason })
  }
  await assert.rejects(report(written('x.pb', raw), { from: 1 }), { message: /no time line/ })
  const { files } = await check(written('x.pb', raw))
  assert.deepEqual(
    files[0].problems.map(({ severity, message }) => [severity, /is pprof/.test(message)]),
    [['fatal', true]],
  )
  // JSON with an ending of pprof is JSON.
  const { functions } = await report(
    written('x.pb.gz', fs.readFileSync(path.join(FIXTURES, 'foreign', 'node-20.cpuprofile.gz'))),
  )
  assert.ok(functions.length > 0)
})
