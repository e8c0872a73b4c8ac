'use strict'

// What the HTML report shows over time: calm tracks, the stack at a moment, and the graph by time.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { pageData } = require('../../lib/offline.js')
const { costsOf } = require('../../cli/page/data/costs.js')
const { GC, JAVASCRIPT, STATES, readRecording } = require('../../cli/page/data/recording.js')
const { calmed } = require('../../cli/page/layout/calm.js')
const { layoutFlame } = require('../../cli/page/layout/flame.js')
const { layoutMoment } = require('../../cli/page/layout/moment.js')
const { ALIVE, MARK, VALUES, sharesOf } = require('../../cli/page/layout/timeline.js')
const { readState, spanOf } = require('../../cli/page/state.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** @param {string[]} files */
async function readPage(files) {
  return readRecording(JSON.parse(await pageData(files, {})))
}

/** Writes a program, and its worker, which starts 150 ms later. Returns the files. */
function writeProgram() {
  const folder = temporaryDirectory()
  const of = { label: 'program.js', cwd: '/project' }
  const again = 'again program.js:6 > again program.js:6 > spin program.js:3'
  return [
    writeTrace(path.join(folder, 'main.trace.json'), {
      ...of,
      spans: [
        ['(program)', 20],
        [`main program.js:1 > ${again}`, 90],
        ['main program.js:1 > sleep program.js:12', 210, { cpuMs: 0 }],
        ['(idle)', 100],
      ],
    }),
    writeTrace(path.join(folder, 'worker.trace.json'), {
      ...of,
      tid: 1,
      script: 'program.js',
      start: 1e9 + 150_000,
      spans: [['spin program.js:3', 220]],
    }),
  ]
}

test('a calm picture has the same times, its borders, and little that turns', async () => {
  const file = path.join(temporaryDirectory(), 'main.trace.json')
  writeTrace(file, {
    label: 'program.js',
    spans: Array.from({ length: 200 }, (_, index) => [
      index % 2 === 0 ? 'work program.js:1' : '(garbage collector)',
      2,
    ]),
  })
  const recording = await readPage([file])
  const [width, visible] = [200, { from: 0, to: recording.durationUs }]
  const shares = sharesOf(recording, [0], visible, width)
  const calm = calmed(shares, width, recording.durationUs / width)
  /** @param {Float32Array} values @param {number} value */
  const column = (values, value) =>
    Array.from({ length: width }, (_, pixel) => values[pixel * VALUES + value])
  const sum = (/** @type {number[]} */ values) => values.reduce((all, each) => all + each, 0)
  const turns = (/** @type {number[]} */ values) =>
    sum(values.slice(1).map((each, index) => Math.abs(each - values[index])))
  for (const state of [JAVASCRIPT, GC]) {
    const [before, after] = [column(shares, state), column(calm, state)]
    assert.ok(turns(before) > 100, `${turns(before)}`)
    assert.ok(turns(after) < 0.1 * turns(before), `${turns(after)} of ${turns(before)}`)
    assert.ok(Math.abs(sum(after) - sum(before)) < 2, `${sum(after)}, not ${sum(before)}`)
  }
  for (const value of [ALIVE, MARK]) assert.deepEqual(column(calm, value), column(shares, value))
  // Each pixel is full, at the borders too.
  const full = column(calm, JAVASCRIPT).map((share, pixel) => share + column(calm, GC)[pixel])
  assert.ok(full.every((share, pixel) => Math.abs(share - column(calm, ALIVE)[pixel]) < 1e-3))
  // Wide samples keep their borders.
  assert.equal(calmed(shares, width, 100), shares)
})

test('a moment has the stack of a thread, or what several threads do', async () => {
  const recording = await readPage(writeProgram())
  assert.deepEqual(layoutMoment(recording, [0], 30_000), [
    'JavaScript',
    'spin  program.js:3',
    'again  program.js:6',
    'again  program.js:6',
    'main  program.js:1',
  ])
  assert.deepEqual(layoutMoment(recording, [0], 10_000), ['native code'])
  assert.deepEqual(layoutMoment(recording, [0], 250_000).slice(0, 2), [
    'blocked',
    'sleep  program.js:12',
  ])
  assert.deepEqual(layoutMoment(recording, [1], 600_000), ['not recorded'])
  assert.deepEqual(layoutMoment(recording, [0, 1], 60_000), ['1 thread JavaScript'])
  const both = ['1 thread JavaScript', '1 thread idle']
  assert.deepEqual(layoutMoment(recording, [0, 1], 350_000), both)
  const file = path.join(temporaryDirectory(), 'deep.trace.json')
  const stack = Array.from({ length: 20 }, (_, level) => `f${level} a.js:${level + 1}`)
  writeTrace(file, { label: 'a.js', cwd: '/project', spans: [[stack.join(' > '), 10]] })
  const deep = await readPage([file])
  const lines = layoutMoment(deep, [0], 5000)
  assert.deepEqual(
    [lines[1], lines[8], lines[9]],
    ['f19  a.js:20', 'f12  a.js:13', 'and 12 more callers'],
  )
})

test('callers are one box while the function on top waits', async () => {
  const file = path.join(temporaryDirectory(), 'main.trace.json')
  const load = 'a a.js:1 > b a.js:2 > c a.js:3 > d a.js:4 > e a.js:5 > f a.js:6 > main a.js:7'
  writeTrace(file, {
    label: 'a.js',
    spans: [
      [`${load} > parse a.js:8`, 40],
      [`${load} > read a.js:9`, 300, { cpuMs: 0 }],
      [`${load} > emit a.js:10`, 40],
    ],
  })
  const recording = await readPage([file])
  const state = readState('#view=time', recording)
  const costs = costsOf(recording, [0], spanOf(state, recording))
  const { levels, middle } = layoutFlame(recording, { state, costs, function: -1 }, 600)
  const found = levels.slice(6).map((level) =>
    level.map(({ item, state }) => {
      return `${recording.names[item]} ${state === undefined ? '' : STATES[state]}`.trim()
    }),
  )
  assert.deepEqual(found, [['main'], ['parse', 'read blocked', 'emit']])
  // The graph begins where the work divides.
  assert.equal(middle, 7)
})
