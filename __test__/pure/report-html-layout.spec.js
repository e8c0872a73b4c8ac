'use strict'

// What is where on the HTML report: the arithmetic that its views draw.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { pageData } = require('../../lib/offline.js')
const { costsOf } = require('../../cli/page/data/costs.js')
const { IDLE, STATES, readRecording } = require('../../cli/page/data/recording.js')
const { leavesWith } = require('../../cli/page/data/calls.js')
const { matcher } = require('../../cli/page/data/names.js')
const boxes = require('../../cli/page/layout/boxes.js')
const { layoutCalls } = require('../../cli/page/layout/calls.js')
const { layoutFlame } = require('../../cli/page/layout/flame.js')
const { layoutLegend } = require('../../cli/page/layout/legend.js')
const { layoutTable } = require('../../cli/page/layout/table.js')
const timeline = require('../../cli/page/layout/timeline.js')
const { rowsOf } = require('../../cli/page/layout/tracks.js')
const { chooseThreads, readState, spanOf, threadsOf } = require('../../cli/page/state.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { seededRandom } = require('../helpers/random.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../../cli/page/data/recording.js').Recording} Recording */

const { LEVEL, boxAt, inside, moved, placeOfBox, scaled } = boxes
const { MARK, VALUES, layoutTimeline, rowAt, sharesOf } = timeline

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
      ...of,
      tid: 1,
      script: 'program.js',
      start: 1e9 + 153_000,
      spans: [
        ['again program.js:6 > spin program.js:3', 83],
        ['(garbage collector)', 19],
        ['(idle)', 67],
        ['sleep program.js:12', 97, { cpuMs: 0 }],
      ],
    }),
    writeTrace(path.join(folder, 'lint.trace.json'), {
      pid: 8,
      label: 'lint.js',
      cwd: '/project',
      start: 1e9 + 310_000,
      spans: [['lint lint.js:2 > check lint.js:20', 310]],
    }),
  ]
  return readRecording(JSON.parse(await pageData(files, {})))
}

/** Returns what the views draw for an address. @param {Recording} recording @param {string} fragment */
function shownFor(recording, fragment) {
  const state = readState(fragment, recording)
  const costs = costsOf(recording, threadsOf(state, recording), spanOf(state, recording))
  const isWanted = matcher(recording, state.query)
  return { state, costs, isWanted, isDark: false, function: state.function ?? -1 }
}

test('each pixel of the time line has the times of its threads in that time', async () => {
  const recording = await readProgram()
  const rows = rowsOf(recording)
  const isSpin = leavesWith(recording, (item) => recording.names[item] === 'spin')
  // Pixels that are longer and shorter than a sample, of all the time and of a part.
  for (const [width, from, to] of [
    [1, 0, 620_000],
    [97, 0, 620_000],
    [1500, 0, 620_000],
    [300, 87_300, 301_700],
  ]) {
    const usPerPixel = (to - from) / width
    for (const { label, threads } of rows) {
      const shares = sharesOf(recording, threads, { from, to }, width, isSpin)
      const marked = threads.reduce(
        (sum, thread) => sum + timeIn(recording, thread, isSpin, from, to),
        0,
      )
      let marks = 0
      for (let pixel = 0; pixel < width; pixel++) {
        const fromUs = from + pixel * usPerPixel
        const { states } = costsOf(recording, threads, { fromUs, toUs: fromUs + usPerPixel })
        const usOf = (/** @type {number} */ value) =>
          shares[pixel * VALUES + value] * usPerPixel * threads.length
        for (let state = 0; state < IDLE; state++) {
          const text = `${label}, ${STATES[state]} in pixel ${pixel} of ${width}`
          const us = usOf(state)
          assert.ok(Math.abs(us - states[state]) < 1, `${text}: ${us}, not ${states[state]}`)
        }
        marks += usOf(MARK)
      }
      assert.ok(Math.abs(marks - marked) < 5, `${label}: ${marks} are marked, not ${marked}`)
    }
  }
})

/** Returns the time of a thread in leaves, microseconds. @param {Recording} recording @param {number} thread @param {Uint8Array} isMarked @param {number} from @param {number} to */
function timeIn({ threads }, thread, isMarked, from, to) {
  const { times, leaves } = threads[thread]
  return [...leaves].reduce((sum, leaf, index) => {
    if (leaf === -1 || isMarked[leaf] === 0) return sum
    return sum + Math.max(0, Math.min(to, times[index + 1]) - Math.max(from, times[index]))
  }, 0)
}

test('tracks stand by their work, and the busiest process is open', async () => {
  const recording = await readProgram()
  const labels = (/** @type {Map<string, boolean> | undefined} */ opened) =>
    rowsOf(recording, opened).map(({ label, level }) => `${' '.repeat(level)}${label}`)
  const program = ['program.js (7)', ' main', ' worker 1: program.js', ' CPU']
  assert.deepEqual(labels(undefined), [...program, 'lint.js (8)'])
  assert.deepEqual(labels(new Map([['p0', false]])), [program[0], 'lint.js (8)'])
})

test('processes with little work are one row, which opens', async () => {
  const folder = temporaryDirectory()
  const files = [5, 3, 900, 4, 300].map((ms, index) =>
    writeTrace(path.join(folder, `${index}.trace.json`), {
      pid: 10 + index,
      label: `kid.js ${ms}`,
      cwd: '/project',
      spans: [['work kid.js:1', ms]],
    }),
  )
  const recording = readRecording(JSON.parse(await pageData(files, {})))
  const labels = (/** @type {Map<string, boolean>} */ opened) =>
    rowsOf(recording, opened)
      .filter(({ lane }) => lane === undefined)
      .map(({ label }) => label)
  const closed = ['kid.js 900 (12)', 'kid.js 300 (14)', '3 more processes']
  assert.deepEqual(labels(new Map()), closed)
  const [fold] = rowsOf(recording, new Map()).filter(({ id }) => id === 'p+')
  assert.deepEqual([fold.threads.length, fold.busyUs, fold.isOpen], [3, 12_000, false])
  const opened = ['kid.js 5 (10)', 'kid.js 4 (13)', 'kid.js 3 (11)']
  assert.deepEqual(labels(new Map([[fold.id, true]])), [...closed, ...opened])
})

test('rows of the time line are under the pointer where they are drawn', async () => {
  const recording = await readProgram()
  const rows = rowsOf(recording)
  const state = readState('#from=155000&to=310000&threads=1&thread=2', recording)
  const layout = layoutTimeline(recording, rows, state, 1000)
  assert.deepEqual(layout.span, { from: 0.25, to: 0.5 })
  assert.equal(rowAt(rows, -1), -1)
  for (const [index, { top, height }] of layout.rows.entries()) {
    assert.deepEqual([rowAt(rows, top), rowAt(rows, top + height - 1)], [index, index])
  }
  assert.equal(rowAt(rows, layout.height), -1)
  // A process is selected with any of its threads.
  const selected = layout.rows.map(({ isSelected }) => isSelected)
  assert.deepEqual(selected, [true, false, true, false, false])
  assert.deepEqual(
    layout.rows.map(({ isShown }) => isShown),
    [false, false, false, false, true],
  )
  // The selection is where its time is visible.
  const zoomed = readState('#from=155000&to=310000&left=155000&right=465000', recording)
  assert.deepEqual(layoutTimeline(recording, rows, zoomed, 1000).span, { from: 0, to: 0.5 })
})

test('times on the scale are apart from each other, different, and not cut off', async () => {
  const recording = await readProgram()
  const ticksOf = (/** @type {number} */ durationUs, fragment = '') => {
    const whole = { ...recording, durationUs }
    return layoutTimeline(whole, [], readState(fragment, whole), 1000).ticks
  }
  for (const durationUs of [7_000, 366_000, 1_290_000, 59e6, 3.7e9, 8.6e10]) {
    const ticks = ticksOf(durationUs)
    const distances = ticks.slice(1).map(({ x }, index) => x - ticks[index].x)
    assert.ok(distances.length >= 3, `${durationUs} µs: ${distances}`)
    assert.ok(Math.min(...distances) >= 110 && ticks[0].x === 0, `${durationUs} µs: ${distances}`)
    assert.ok(ticks.every(({ x }) => x <= 1000 - 48))
    assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length)
  }
  const labels = (/** @type {{ label: string }[]} */ ticks) => ticks.map(({ label }) => label)
  assert.deepEqual(labels(ticksOf(2_500_000)), ['0', '0.5 s', '1.0 s', '1.5 s', '2.0 s'])
  const zoomed = ticksOf(2_500_000, '#left=1234000&right=1237000')
  assert.deepEqual(labels(zoomed).slice(0, 3), ['1.2340 s', '1.2345 s', '1.2350 s'])
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
  const item = recording.names.indexOf('again')
  const sandwich = `#view=sandwich&function=${item}`
  const views = ['#view=heavy', '#view=inverted', '#view=time', '#view=time&thread=1', sandwich]
  for (const fragment of views) {
    const shown = shownFor(recording, fragment)
    const { whole } = layoutFlame(recording, shown, width)
    const part = { from: whole.from + 33_333.3, to: whole.to - 22_222.2 }
    const zoomed = { ...shown.state, left: part.from, right: part.to }
    const zooms =
      shown.state.view === 'time'
        ? [shown.state, zoomed].map((state) => layoutFlame(recording, { ...shown, state }, width))
        : [undefined, part].map((zoom) => layoutFlame(recording, shown, width, zoom))
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
    const { rows, columns, sort, wholeUs } = layoutTable(recording, shownFor(recording, fragment))
    return { columns, sort, wholeUs, names: rows.map(({ name }) => name) }
  }
  const all = ['self', 'total', 'critical', 'blocked']
  const workUs = 657_000
  assert.deepEqual(tableFor('#sort=total'), {
    columns: all,
    sort: 'total',
    wholeUs: workUs,
    names: ['check', 'lint', 'spin', 'again', 'main', 'collect', 'sleep'],
  })
  // The worker that waits in its own file is idle.
  assert.deepEqual(tableFor('#sort=blocked&query=program.js'), {
    columns: all,
    sort: 'blocked',
    wholeUs: 211_000,
    names: ['sleep', 'spin', 'main', 'again'],
  })
  // The second program was not blocked, and no line has a total.
  assert.deepEqual(tableFor('#sort=blocked&threads=2'), {
    columns: ['self', 'total', 'critical'],
    sort: 'self',
    wholeUs: 310_000,
    names: ['check', 'lint'],
  })
  assert.deepEqual(tableFor('#table=lines&sort=total&threads=0'), {
    columns: ['self'],
    sort: 'self',
    wholeUs: 245_000,
    names: ['spin', 'collect'],
  })
  assert.deepEqual(tableFor('#table=packages&query=PAD').names, ['left-pad'])
})

test('calls are a tree, the longest first, whose large calls are open', async () => {
  const recording = await readProgram()
  /** @param {string} fragment @param {Map<string, boolean>} [opened] */
  const rowsIn = (fragment, opened = new Map()) =>
    layoutCalls(recording, shownFor(recording, fragment), opened)
  const textOf = (/** @type {ReturnType<typeof rowsIn>[number]} */ row) => {
    const [total, self] = [row.totalUs, row.selfUs].map((us) => Math.round(us / 1000))
    const sign = row.isOpen === undefined ? '' : row.isOpen ? '-' : '+'
    return `${' '.repeat(row.level)}${sign}${row.name} ${total} ${self}`
  }
  const first = ['+main 150 0', '+again 83 0', '(garbage collector) 50 50', 'spin 43 43']
  // The linter has nearly half of the work, and is no launcher.
  const lint = '+lint 310 0'
  assert.deepEqual(rowsIn('').map(textOf).slice(0, 5), [lint, ...first])
  const [{ id }] = rowsIn('')
  const open = ['-lint 310 0', ' check 310 310', first[0]]
  assert.deepEqual(
    rowsIn('', new Map([[id, true]]))
      .map(textOf)
      .slice(0, 3),
    open,
  )
  // Of the linter alone, the call has all.
  assert.deepEqual(rowsIn('#threads=2').map(textOf), open.slice(0, 2))
  assert.deepEqual(rowsIn('#threads=2', new Map([[id, false]])).map(textOf), [lint])

  const inverted = rowsIn('#threads=0&view=inverted').map(textOf)
  assert.deepEqual(inverted.slice(0, 3), ['-spin 136 136', ' +again 93 0', '+collect 57 57'])
})

test('the legend names each colour, and its parts sum up to the work', async () => {
  const recording = await readProgram()
  const { costs } = shownFor(recording, '')
  const legendWith = (/** @type {string[]} */ colourful) =>
    layoutLegend(recording, costs, (name) => (colourful.includes(name) ? name : 'grey'))
  const known = ['(own code)', '(garbage collector)', '(program)']
  const textsOf = (/** @type {ReturnType<typeof legendWith>} */ parts) =>
    parts.map(({ name, colour, us }) => [name, colour, Math.round(us / 1000)])
  const named = [
    ['own code', '(own code)', 529],
    ['gc', '(garbage collector)', 50],
    ['other native code', '(program)', 21],
  ]
  assert.deepEqual(textsOf(legendWith(known)), [...named, ['left-pad', 'grey', 57]])
  const all = legendWith([...known, 'left-pad'])
  assert.deepEqual(textsOf(all), [named[0], ['left-pad', 'left-pad', 57], ...named.slice(1)])
  assert.ok(Math.abs(all.reduce((sum, { us }) => sum + us, 0) - costs.workUs) < 1)
  assert.deepEqual(textsOf(legendWith([])), [['4 other packages', 'grey', 657]])
})
