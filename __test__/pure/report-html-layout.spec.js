'use strict'

// What is where on the HTML report: the arithmetic that its views draw.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { pageData } = require('../../lib/offline.js')
const { costsOf } = require('../../cli/page/data/costs.js')
const { readRecording } = require('../../cli/page/data/recording.js')
const { matcher } = require('../../cli/page/data/names.js')
const {
  boxAt,
  inside,
  layoutFlame,
  moved,
  placeOfBox,
  scaled,
  LEVEL,
} = require('../../cli/page/layout/flame.js')
const { layoutTable } = require('../../cli/page/layout/table.js')
const timeline = require('../../cli/page/layout/timeline.js')
const { chooseThreads, readState, spanOf, threadsOf } = require('../../cli/page/state.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { seededRandom } = require('../helpers/random.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../../cli/page/data/recording.js').Recording} Recording */

const { ROW, STACK, layoutTimeline, rowAt, rowsOf, sharesOf } = timeline

/** Reads a program with a worker, and another program: 620 ms. */
async function readProgram() {
  const folder = temporaryDirectory()
  const of = { label: 'program.js', cwd: '/project' }
  const files = [
    writeTrace(path.join(folder, 'main.trace.json'), {
      ...of,
      spans: [
        ['(program)', 21],
        ['main program.js:1 > again program.js:6 > again program.js:6 > spin program.js:3', 93],
        ['main program.js:1 > collect node_modules/left-pad/index.js:9', 57],
        ['(garbage collector)', 31],
        ['main program.js:1 > sleep program.js:12', 211, { cpuMs: 0 }],
        ['(idle)', 101],
        ['spin program.js:3', 43],
      ],
    }),
    writeTrace(path.join(folder, 'worker.trace.json'), {
      ...{ ...of, tid: 1, script: 'program.js', start: 1e9 + 153_000 },
      spans: [
        ['again program.js:6 > spin program.js:3', 83],
        ['(garbage collector)', 19],
        ['(idle)', 67],
        ['sleep program.js:12', 97, { cpuMs: 0 }],
      ],
    }),
    writeTrace(path.join(folder, 'lint.trace.json'), {
      ...{ pid: 8, label: 'lint.js', cwd: '/project', start: 1e9 + 310_000 },
      spans: [['lint lint.js:2 > check lint.js:20', 310]],
    }),
  ]
  return readRecording(JSON.parse(await pageData(files, {})))
}

/** Returns what the views draw for an address. @param {Recording} recording @param {string} fragment */
function shownFor(recording, fragment) {
  const state = readState(fragment, recording)
  const costs = costsOf(recording, threadsOf(state, recording), spanOf(state, recording))
  return { state, costs, isWanted: matcher(recording, state.query), isDark: false }
}

test('each pixel of the time line has the times of its threads in that time', async () => {
  const recording = await readProgram()
  const rows = rowsOf(recording)
  const labels = ['program.js (7)', 'main', 'worker 1: program.js', 'lint.js (8)']
  assert.deepEqual(
    rows.map(({ label }) => label),
    labels,
  )
  // Pixels that are longer and shorter than a sample.
  for (const width of [1, 97, 1500]) {
    const usPerPixel = recording.durationUs / width
    for (const { label, threads } of rows) {
      const shares = sharesOf(recording, threads, width)
      for (let pixel = 0; pixel < width; pixel++) {
        const span = { fromUs: pixel * usPerPixel, toUs: (pixel + 1) * usPerPixel }
        const { states } = costsOf(recording, threads, span)
        for (const [index, { name }] of STACK.entries()) {
          const us = shares[pixel * STACK.length + index] * usPerPixel * threads.length
          const text = `${label}, ${name} in pixel ${pixel} of ${width}`
          assert.ok(Math.abs(us - states[name]) < 1e-3, `${text}: ${us}, not ${states[name]}`)
        }
      }
    }
  }
})

test('rows of the time line are under the pointer where they are drawn', async () => {
  const recording = await readProgram()
  const rows = rowsOf(recording)
  const state = readState('#from=155000&to=310000&threads=1&thread=2', recording)
  const layout = layoutTimeline(recording, rows, state, 1000)
  assert.deepEqual(layout.span, { from: 250, to: 500 })
  assert.equal(rowAt(rows, layout.rows[0].top - 1), undefined)
  for (const [index, { top }] of layout.rows.entries()) {
    assert.deepEqual([rowAt(rows, top), rowAt(rows, top + ROW - 1)], [rows[index], rows[index]])
  }
  assert.equal(rowAt(rows, layout.height), undefined)
  // A process is selected with any of its threads.
  const selected = layout.rows.map(({ isSelected }) => isSelected)
  assert.deepEqual(selected, [true, false, true, false])
  assert.deepEqual(
    layout.rows.map(({ isShown }) => isShown),
    [false, false, false, true],
  )
  for (const durationUs of [7_000, 366_000, 1_290_000, 59e6, 3.7e9, 8.6e10]) {
    const { ticks } = layoutTimeline({ ...recording, durationUs }, rows, state, 1000)
    const distances = ticks.slice(1).map(({ x }, index) => x - ticks[index].x)
    assert.ok(distances.length >= 3, `${durationUs} µs: ${distances}`)
    assert.ok(Math.min(...distances) >= 110 && ticks[0].x === 0, `${durationUs} µs: ${distances}`)
    assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length)
  }
  const { ticks } = layoutTimeline({ ...recording, durationUs: 2_500_000 }, rows, state, 1000)
  const scale = ['0', '500 ms', '1.00 s', '1.50 s', '2.00 s']
  assert.deepEqual(
    ticks.map(({ label }) => label),
    scale,
  )
})

test('a click selects threads alone or again all, a key adds and removes them', async () => {
  const recording = await readProgram()
  let state = readState('', recording)
  const clicks = /** @type {[number[], boolean, number[] | undefined][]} */ ([
    [[1], false, [1]],
    [[2], true, [1, 2]],
    [[0], true, [0, 1, 2]],
    // A process of which all threads are selected.
    [[0, 1], true, [2]],
    [[2], true, undefined],
    [[2], true, [0, 1]],
    [[0], false, [0]],
    [[0], false, undefined],
    [[0, 1], false, [0, 1]],
    [[1], false, [1]],
    // A process of which one thread is selected.
    [[0, 1], true, [0, 1]],
  ])
  for (const [threads, isAdded, expected] of clicks) {
    state = { ...state, thread: 2, ...chooseThreads(state, recording, threads, isAdded) }
    assert.deepEqual([state.threads, state.thread], [expected, undefined], `${threads} ${isAdded}`)
  }
})

test('a box of a flame graph is under the pointer where it is drawn', async () => {
  const recording = await readProgram()
  const width = 1000
  for (const fragment of ['#view=heavy', '#view=inverted', '#view=time', '#view=time&thread=1']) {
    const { state, costs } = shownFor(recording, fragment)
    const { whole } = layoutFlame(recording, state, costs, width)
    const part = { from: whole.from + 33_333.3, to: whole.to - 22_222.2 }
    const zooms =
      state.view === 'time'
        ? [state, { ...state, ...part }].map((each) => layoutFlame(recording, each, costs, width))
        : [undefined, part].map((zoom) => layoutFlame(recording, state, costs, width, zoom))
    for (const flame of zooms) {
      assert.ok(flame.levels.length > 1)
      for (const [level, boxes] of flame.levels.entries()) {
        let end = 0
        for (const box of boxes) {
          const place = placeOfBox(box, flame.visible, width)
          const text = `${fragment}, level ${level}, ${recording.names[box.item]}`
          assert.ok(place.left >= end - 1e-6 && place.width > 0, text)
          end = place.left + place.width
          assert.ok(end <= width, text)
          for (const y of [level * LEVEL, (level + 1) * LEVEL - 1]) {
            const found = boxAt(flame, (place.left + place.width / 2) / width, y)
            assert.equal(found, box, text)
          }
        }
      }
    }
  }
})

test('however the user zooms and moves, the visible part stays in the graph', (t) => {
  const random = seededRandom(t)
  const whole = { from: 1000, to: 701_000 }
  let part = whole
  for (let step = 0; step < 2000; step++) {
    const [length, at] = [part.to - part.from, random()]
    if (random() < 0.5) {
      const share = 3 * (random() - 0.5)
      const next = moved(part, whole, share)
      assert.ok(Math.abs(next.to - next.from - length) < 1e-6, 'a move keeps the length')
      const from = Math.min(Math.max(part.from + share * length, whole.from), whole.to - length)
      assert.ok(Math.abs(next.from - from) < 1e-6, 'a move ends at the end of the graph')
      part = next
    } else {
      const factor = length < 100 ? 1.3 : random() < 0.5 ? 1.3 : 1 / 1.3
      const next = scaled(part, factor, at)
      const place = part.from + at * length
      const nextPlace = next.from + at * (next.to - next.from)
      assert.ok(Math.abs(place - nextPlace) < 1e-6, 'what is under the pointer stays there')
      assert.ok(Math.abs(next.to - next.from - factor * length) < 1e-6)
      part = inside(next, whole)
    }
    assert.ok(part.from >= whole.from - 1e-6 && part.to <= whole.to + 1e-6 && part.from < part.to)
  }
})

test('a table is sorted by a column that it has', async () => {
  const recording = await readProgram()
  const tableFor = (/** @type {string} */ fragment) => {
    const { rows, ...table } = layoutTable(recording, shownFor(recording, fragment))
    return { ...table, names: rows.map(({ name }) => name) }
  }
  const all = ['self', 'total', 'blocked']
  const workUs = 657_000
  assert.deepEqual(tableFor('#sort=total'), {
    ...{ columns: all, sort: 'total', wholeUs: workUs },
    names: ['check', 'lint', 'spin', 'again', 'main', 'collect', 'sleep'],
  })
  // The worker that waits in its own file is idle.
  assert.deepEqual(tableFor('#sort=blocked&query=program.js'), {
    ...{ columns: all, sort: 'blocked', wholeUs: 211_000 },
    names: ['sleep', 'spin', 'main', 'again'],
  })
  // The second program was not blocked, and no line has a total.
  assert.deepEqual(tableFor('#sort=blocked&threads=2'), {
    ...{ columns: ['self', 'total'], sort: 'self', wholeUs: 310_000 },
    names: ['check', 'lint'],
  })
  assert.deepEqual(tableFor('#table=lines&sort=total&threads=0'), {
    ...{ columns: ['self'], sort: 'self', wholeUs: 245_000 },
    names: ['spin', 'collect'],
  })
  assert.deepEqual(tableFor('#table=packages&query=PAD').names, ['left-pad'])
})
