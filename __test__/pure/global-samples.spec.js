'use strict'

// Traces with samples beside their events: the Global Samples of the Trace Event Format, as Hermes on Android
// and perf's converters write them. All tools read them as CPU profiles.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, convert, merge, report } = require('../..')
const { temporaryDirectory } = require('../helpers/files.js')
const { readJson } = require('../helpers/times.js')

const STACK_FRAMES = {
  1: { name: '[root]', category: 'root' },
  2: { name: 'render(/app/index.js:10:3)', category: 'JavaScript', parent: 1 },
  3: { name: 'layout(/app/index.js:40:3)', category: 'JavaScript', parent: 1 },
}

/** Returns a list of samples, of which a third is of `layout`. @param {(index: number) => any} sample @returns {any[]} */
function samples(sample) {
  return Array.from({ length: 300 }, (_, index) => sample(index))
}

/** @type {any[]} */
const hermes = samples((index) => ({
  cpu: '-1',
  name: '',
  ts: String(1_000_000 + index * 1000),
  pid: 5,
  tid: '9',
  weight: '1',
  sf: index % 3 ? 2 : 3,
}))
const NAMES = [
  { name: 'process_name', ph: 'M', pid: 5, ts: '1000000', tid: '-1', args: { name: 'hermes' } },
  { name: 'thread_name', ph: 'M', pid: 5, ts: '1000000', tid: '9', args: { name: 'mqt_js' } },
]
const SPAN = {
  name: 'mqt_js',
  cat: 'x',
  ph: 'X',
  pid: 5,
  tid: '9',
  ts: '1000000',
  dur: 0,
  args: {},
}

/** Traces of several writers, each with the same samples. @type {Record<string, object>} */
const TRACES = {
  'Hermes, names only': { traceEvents: NAMES, samples: hermes, stackFrames: STACK_FRAMES },
  'Hermes, frames first': {
    stackFrames: STACK_FRAMES,
    samples: hermes,
    traceEvents: [...NAMES, SPAN],
  },
  'a raw profile of Hermes': { samples: hermes, stackFrames: STACK_FRAMES },
  'Hermes, with the places of functions': {
    traceEvents: [...NAMES, SPAN],
    samples: hermes.map((sample, index) => ({
      ...sample,
      sf: index % 3 ? 2 + (index % 2) * 2 : 3,
    })),
    stackFrames: {
      1: STACK_FRAMES[1],
      2: {
        ...STACK_FRAMES[2],
        name: 'render(/app/index.js:12:5)',
        line: '12',
        column: '5',
        funcLine: '10',
        funcColumn: '3',
      },
      3: { ...STACK_FRAMES[3], line: '40', column: '3', funcLine: '40', funcColumn: '3' },
      4: {
        ...STACK_FRAMES[2],
        name: 'render(/app/index.js:13:5)',
        line: '13',
        column: '5',
        funcLine: '10',
        funcColumn: '3',
      },
    },
  },
  'numbers, and threads of known processes': {
    traceEvents: [{ ...SPAN, tid: 9, ts: 1_000_000 }],
    samples: hermes.map(({ tid, ts, sf, cpu }) => ({
      cpu: Number(cpu),
      tid: Number(tid),
      ts: Number(ts),
      sf: String(sf),
      weight: 1,
    })),
    stackFrames: {
      2: { ...STACK_FRAMES[2], parent: '1' },
      3: { ...STACK_FRAMES[3], parent: '1' },
      1: STACK_FRAMES[1],
    },
  },
  'stacks in lists': {
    traceEvents: [{ ...SPAN, tid: 9, ts: 1_000_000 }],
    samples: hermes.map(({ sf, ...sample }) => ({
      ...sample,
      stack: ['[root]', STACK_FRAMES[sf === 2 ? 2 : 3].name],
    })),
  },
  'events that are samples': {
    traceEvents: hermes.map(({ ts, sf }) => ({
      name: 'tick',
      ph: 'P',
      pid: 5,
      tid: 9,
      ts: Number(ts),
      sf,
    })),
    stackFrames: STACK_FRAMES,
  },
}

/** Writes a file. @param {unknown} content */
function written(content) {
  const file = path.join(temporaryDirectory(), 'h.json')
  fs.writeFileSync(file, JSON.stringify(content))
  return file
}

/** Asserts the sums of both functions. @param {string} file @param {number} [length] milliseconds */
async function assertSums(file, length = 300) {
  const { functions, processes } = await report(file)
  const self = Object.fromEntries(functions.map(({ name, selfMs }) => [name, selfMs]))
  assert.ok(Math.abs(self.render - (length * 2) / 3) <= 2, `${file}: ${JSON.stringify(self)}`)
  assert.ok(Math.abs(self.layout - length / 3) <= 2, `${file}: ${JSON.stringify(self)}`)
  const { line, file: source } = functions.find(({ name }) => name === 'render') ?? {}
  assert.deepEqual([source, line], ['/app/index.js', 10])
  return processes
}

for (const [title, trace] of Object.entries(TRACES)) {
  test(`samples are a CPU profile: ${title}`, async () => {
    const file = written(trace)
    const [process, ...others] = await assertSums(file)
    assert.deepEqual(
      [process.pid, process.threads.map(({ threadId }) => threadId), others.length],
      [5, [9], 0],
    )
    const { files } = await check(file)
    assert.deepEqual([files[0].profiles, files[0].samples], [1, 300])
    assert.ok(
      files[0].problems.every(({ severity }) => severity === 'warning' || severity === 'error'),
    )
    assert.ok(!JSON.stringify(files[0].problems).includes('names only'))
    const output = path.join(path.dirname(file), 'out', 'trace.json')
    const result = await merge(file, output)
    assert.deepEqual(
      [result.failed, result.repaired, result.processes, result.threads],
      [[], [], 1, 1],
    )
    await assertSums(output)
    const chunks = readJson(output).traceEvents.filter(
      (/** @type {any} */ { name }) => name === 'ProfileChunk',
    )
    const written300 = chunks.flatMap((/** @type {any} */ { args }) => args.data.cpuProfile.samples)
    assert.equal(written300.length, 300)
    const left = (await check(output)).files[0].problems
    // Hermes names a process without a thread.
    assert.ok(
      left.every(({ field }) => field === 'tid'),
      JSON.stringify(left),
    )
    // Merged again, the samples are there once.
    const again = path.join(path.dirname(file), 'again', 'trace.json')
    await merge(output, again)
    await assertSums(again)
    const converted = await convert(file, path.join(path.dirname(file), 'out', 'one.cpuprofile'))
    await assertSums(converted.files[0])
    const part = path.join(path.dirname(file), 'part', 'trace.json')
    await merge(file, part, { from: 150 })
    await assertSums(part, 150)
  })
}

test('a thread has its name, and samples stand beside a recording', async () => {
  const [process] = await assertSums(written(TRACES['Hermes, names only']))
  assert.equal(process.threads[0].name, 'mqt_js')
})

test('ten thousand samples are read', async () => {
  const frames = Object.fromEntries(
    Array.from({ length: 3000 }, (_, id) => [
      id + 1,
      { name: `f${id}(/app/f${id % 50}.js:${id + 1}:1)`, parent: id },
    ]),
  )
  const list = Array.from({ length: 10_441 }, (_, index) => ({
    ...hermes[0],
    ts: String(10_000 * index),
    sf: 1 + (index % 1000),
  }))
  const file = written({ traceEvents: NAMES, samples: list, stackFrames: frames })
  const output = path.join(path.dirname(file), 'out', 'trace.json')
  await merge(file, output)
  for (const each of [file, output]) {
    const [process] = (await report(each)).processes
    assert.equal(process.threads[0].samples, 10_441)
  }
})

test('a pause between samples belongs to nobody', async () => {
  const list = hermes.map((sample, index) => ({
    ...sample,
    ts: String(Number(sample.ts) + (index < 150 ? 0 : 5_000_000)),
  }))
  const file = written({ traceEvents: NAMES, samples: list, stackFrames: STACK_FRAMES })
  const output = path.join(path.dirname(file), 'out', 'trace.json')
  await merge(file, output)
  for (const each of [file, output]) {
    await assertSums(each)
    const { durationMs } = await report(each)
    assert.ok(Math.abs(durationMs - 5300) < 2, `${durationMs}`)
  }
})

test('a merge tells with counts what it leaves out', async () => {
  const lost = [
    { ts: 1, sf: 2 },
    { ...hermes[0], ts: 'soon' },
    { ...hermes[0], sf: undefined },
  ]
  const trace = {
    traceEvents: [...NAMES, { name: 'x', ph: 'X', pid: 5, tid: 9 }],
    samples: [...hermes, ...lost],
    stackFrames: STACK_FRAMES,
    systemTraceEvents: '# tracer: nop',
    counters: [1, 2],
  }
  const file = written(trace)
  const { notes } = await merge(file, path.join(path.dirname(file), 'out', 'trace.json'))
  const note = notes.find((each) => each.includes('left out')) ?? ''
  for (const part of ['1 event ', '3 samples ', 'systemTraceEvents', 'counters (2 entries)']) {
    assert.ok(note.includes(part), `${part}: ${note}`)
  }
})

test('check names what is wrong with samples and their stacks', async () => {
  const stackFrames = {
    1: { name: 'a', parent: 2 },
    2: { name: 'b', parent: 1 },
    3: { name: 'c', parent: 99 },
    4: { parent: 1 },
  }
  const list = [{ ...hermes[0], sf: 3 }, { ...hermes[0], sf: 77 }, { ts: 5 }]
  const { files } = await check(written({ traceEvents: [], samples: list, stackFrames }))
  const errors = files[0].problems.filter(({ severity }) => severity === 'error')
  const told = errors.map(({ field, message }) => `${field}: ${message}`).join('\n')
  for (const part of [
    'among its own parents',
    'parent that is not in',
    'needs a name',
    'names a stack frame',
    'needs a thread',
  ]) {
    assert.ok(told.includes(part), `${part}: ${told}`)
  }
})
