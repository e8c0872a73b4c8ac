'use strict'

// The series of the HTML report: memory, CPU, collections, marks and spans over time.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { merge } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { readRecording } = require('../../cli/page/data/recording.js')
const { layoutList } = require('../../cli/page/layout/lists.js')
const { readState, tablesOf } = require('../../cli/page/state.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { waited, writeTrace } = require('../helpers/written.js')

const START = 1e9

/** @param {number} ms after the start @param {object} args */
const memory = (ms, args, name = 'memory') => ({
  cat: 'cpu-prof',
  name,
  ph: 'C',
  ts: START + ms * 1000,
  args: { heapTotal: 1, external: 0, ...args },
})
/** @param {string} ph @param {number} ms @param {string} name @param {object} more */
const timing = (ph, ms, name, more = {}) => ({
  cat: 'blink.user_timing',
  name,
  ph,
  ts: START + ms * 1000,
  args: {},
  ...more,
})
/** @param {object} devtools */
const detail = (devtools) => JSON.stringify({ devtools })

const EVENTS = [
  timing('I', 100, 'ready', { args: { data: { startTime: 1, detail: '{"port":3000}' } } }),
  // The name of an event of ours is no obstacle.
  timing('I', 120, 'MinorGC', { args: { data: { startTime: 1 } } }),
  {
    cat: 'devtools.timeline,v8',
    name: 'MajorGC',
    ph: 'X',
    dur: 4000,
    ts: START + 200_000,
    args: {},
  },
  timing('b', 300, 'load', { id2: { local: '0x1' } }),
  timing('b', 310, 'GET /', {
    id2: { local: '0x2' },
    args: { startTime: 1, detail: detail({ track: 'HTTP', trackGroup: 'app', color: 'error' }) },
  }),
  timing('e', 360, 'GET /', { id2: { local: '0x2' } }),
  memory(500, { heapUsed: 100, rss: 1000 }),
  {
    cat: 'devtools.timeline',
    name: 'TimeStamp',
    ph: 'I',
    ts: START + 600_000,
    args: {
      data: {
        name: 'parse',
        track: 'Own',
        color: 'url(x)',
        start: START + 510_000,
        end: START + 590_000,
      },
    },
  },
  // The page knows this time from the counters.
  waited('app.js (pid 7) - main', START, [500, 1000]),
  memory(1000, { heapUsed: 300, rss: 4000 }),
]

/** Writes a process of two threads, which lasts for a second. Returns the folder. */
function writeProcess() {
  const cwd = temporaryDirectory()
  const of = { label: 'app.js', start: START }
  writeTrace(path.join(cwd, 'main.trace.json'), {
    ...of,
    spans: [
      ['work a.js:1', 250],
      ['(idle)', 250],
      ['work a.js:1', 500, { nativeMs: 1500 }],
    ],
    events: EVENTS,
  })
  writeTrace(path.join(cwd, 'worker.trace.json'), {
    ...of,
    tid: 1,
    script: 'w.js',
    start: START + 250_000,
    spans: [['work w.js:1', 500, { nativeMs: 0 }]],
    events: [memory(700, { heapUsed: 50 }, 'memory of worker 1')],
  })
  return cwd
}

/** @param {string[]} inputs @param {object} [options] */
async function readProcess(inputs, options = {}) {
  const { texts, processes } = JSON.parse(await pageData(inputs, options))
  assert.equal(processes.length, 1)
  return { texts, ...processes[0] }
}

test('a process has its memory, its CPU, its collections, marks and spans', async () => {
  const cwd = writeProcess()
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge([cwd], merged)
  for (const input of [cwd, merged]) {
    const { memory, cpu, collections, marks, spans, texts } = await readProcess([input])
    assert.deepEqual(memory, {
      // The worker's heap is added, and gone when the worker has ended.
      timeUs: [500_000, 700_000, 750_000, 1_000_000],
      heap: [100, 150, 100, 300],
      rss: [1000, 1000, 1000, 4000],
    })
    // The worker works from 250 ms to 750 ms. Native time is what the process has more than both.
    assert.deepEqual(cpu.timeUs, [0, 500_000, 1_000_000])
    assert.deepEqual(cpu.javascript, [1, 1.5])
    assert.deepEqual(cpu.native, [0, 2.5])
    assert.deepEqual(collections, { thread: [0], startUs: [200_000], lengthUs: [4000], major: [1] })
    const text = (/** @type {number} */ index) => texts[index]
    assert.deepEqual(marks.name.map(text), ['ready', 'MinorGC'])
    assert.deepEqual(marks.startUs, [100_000, 120_000])
    assert.deepEqual(spans.name.map(text), ['load', 'GET /', 'parse'])
    assert.deepEqual(spans.startUs, [300_000, 310_000, 510_000])
    // What has not ended lasts until the end of the recording.
    assert.deepEqual(spans.lengthUs, [700_000, 50_000, 80_000])
    assert.deepEqual(spans.track.map(text), [undefined, 'HTTP', 'Own'])
    assert.deepEqual(spans.group.map(text), [undefined, 'app', undefined])
    // Only colours that DevTools knows come through.
    assert.deepEqual(spans.color, [null, 'error', null])
    assert.deepEqual(spans.thread, [0, 0, 0])
  }
})

test('marks and spans are a table, which shows them on the time line', async () => {
  const cwd = writeProcess()
  const recording = readRecording(JSON.parse(await pageData([cwd], {})))
  assert.ok(tablesOf(recording).includes('timings'))
  const layout = layoutList(recording, readState('#table=timings', recording))
  const texts = layout.rows.map(({ name, place, cells }) => [name, place, ...cells])
  assert.deepEqual(texts, [
    ['load', 'timings · app.js (7) main', '300 ms', '700 ms'],
    ['parse', 'Own · app.js (7) main', '510 ms', '80 ms'],
    ['GET /', 'app · HTTP · app.js (7) main', '310 ms', '50 ms'],
    ['ready', 'timings · app.js (7) main', '100 ms', '–'],
    ['MinorGC', 'timings · app.js (7) main', '120 ms', '–'],
  ])
  assert.equal(layout.wholeMs, 700)
  const [load, parse, , ready] = layout.rows.map(({ choice = {} }) => choice)
  assert.deepEqual([parse.from, parse.to, parse.view], [510_000, 590_000, 'time'])
  assert.deepEqual([parse.threads, parse.left, parse.right], [[0], 494_000, 606_000])
  assert.deepEqual([load.to, load.right], [1_000_000, 1_000_000])
  // A mark has no time to select.
  assert.deepEqual(
    [ready.from, ready.to, ready.left, ready.right],
    [undefined, undefined, 90_000, 110_000],
  )
  const found = layoutList(recording, readState('#table=timings&query=http', recording))
  assert.deepEqual(
    found.rows.map(({ name }) => name),
    ['GET /'],
  )
})

test('a slice has its part', async () => {
  const { memory, cpu, marks, spans, texts, collections } = await readProcess([writeProcess()], {
    from: 320,
    to: 600,
  })
  assert.deepEqual(memory?.heap, [100])
  // Times count from the start of the slice, as those of samples.
  assert.deepEqual(memory?.timeUs, [180_000])
  assert.deepEqual(cpu.timeUs, [0, 180_000, 280_000])
  assert.equal(marks, undefined)
  assert.equal(collections, undefined)
  assert.deepEqual(
    spans.name.map((/** @type {number} */ index) => texts[index]),
    ['load', 'GET /', 'parse'],
  )
  assert.deepEqual(spans.startUs.slice(0, 2), [-20_000, -10_000])
})

test('lists are bounded, and the longest spans stay', async () => {
  const cwd = temporaryDirectory()
  const events = Array.from({ length: 6000 }, (_, number) => [
    timing('b', 0.1 * number, 'span', { id2: { local: `0x${number.toString(16)}` } }),
    timing('e', 0.1 * number + 0.001 * number, 'span', {
      id2: { local: `0x${number.toString(16)}` },
    }),
    timing('I', 0.1 * number, 'mark'),
  ])
  const file = path.join(cwd, 'a.trace.json')
  writeTrace(file, { start: START, spans: [['work a.js:1', 1000]], events: events.flat() })
  const { marks, spans, timingsLeftOut } = await readProcess([file])
  assert.equal(marks.name.length, 2000)
  assert.equal(spans.name.length, 2000)
  assert.ok(Math.min(...spans.lengthUs) >= 4000)
  assert.equal(timingsLeftOut, 8000)
  assert.ok(marks.startUs.at(-1) > 590_000)
})
