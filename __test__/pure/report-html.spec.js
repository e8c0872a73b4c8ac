'use strict'

// The HTML report: its numbers are those of report().

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { callsOf, leavesWith, lineCosts, threadTimes } = require('../../cli/page/data/calls.js')
const { costsOf } = require('../../cli/page/data/costs.js')
const { layoutFlame } = require('../../cli/page/layout/flame.js')
const { STATES, readRecording } = require('../../cli/page/data/recording.js')
const { layoutList } = require('../../cli/page/layout/lists.js')
const { readState, tablesOf, threadsOf, writeState } = require('../../cli/page/state.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { profileText, writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */
/** @typedef {import('../../cli/page/data/recording.js').Recording} Recording */

const AGAIN = 'again program.js:6@7 > again program.js:6@7 > again program.js:6@7'

/** Works, collects garbage, waits for a call and for events: 700 ms. @type {Span[]} */
const MAIN = [
  ['(program)', 20],
  [`main program.js:1 > ${AGAIN} > spin program.js:3@4`, 90],
  [`main program.js:1 > ${AGAIN}`, 10],
  ['main program.js:1 > collect program.js:9@10', 60],
  ['(garbage collector)', 30],
  ['main program.js:1 > collect program.js:9@11 > push', 10],
  ['main program.js:1 > (anonymous) node_modules/left-pad/index.js:3:8@4', 20],
  ['main program.js:1 > readFileSync node:fs:400:20', 20],
  ['main program.js:1 > sleep program.js:12@13', 300, { cpuMs: 0 }],
  ['(idle)', 100],
  ['spin program.js:3@5', 40],
]

/** A worker of it, from 150 ms on, which waits for tasks in its own file. @type {Span[]} */
const WORKER = [
  [`${AGAIN} > spin program.js:3@4`, 80],
  ['sleep program.js:12@13', 101, { cpuMs: 38.5 }],
  ['(garbage collector)', 20],
  ['(idle)', 60],
]

/** Another process, from 50 ms on, which waits for a core at first. @type {Span[]} */
const LINT = [
  ['lint lint.js:2@3', 30, { cpuMs: 10, waitMs: 20, everyMs: 30 }],
  [
    'lint lint.js:2 > ruleErrorHandler node_modules/eslint/lib/linter/linter.js:1 > ' +
      'check node_modules/eslint-plugin-react/lib/rules/jsx-key.js:8@9',
    50,
  ],
]

/** Writes the recordings of a program and its worker. @param {string} cwd @returns {string[]} their files */
function writeProgram(cwd) {
  const of = { label: 'program.js', cwd: '/project' }
  const worker = { tid: 1, script: 'program.js', start: 1e9 + 150_000 }
  return [
    writeTrace(path.join(cwd, 'main.trace.json'), { ...of, spans: MAIN }),
    writeTrace(path.join(cwd, 'worker.trace.json'), { ...of, ...worker, spans: WORKER }),
  ]
}

/** Reads inputs as the page does. @param {string[]} inputs */
async function readPage(inputs) {
  return readRecording(JSON.parse(await pageData(inputs, {})))
}

/**
 * Returns the costs of all that is selected at first: those that the page sums up itself, or those that the
 * addon gives it.
 * @param {Recording} recording @param {boolean} [isWhole]
 */
function allCosts(recording, isWhole) {
  const threads = threadsOf(readState('', recording), recording)
  return costsOf(recording, threads, { fromUs: 0, toUs: recording.durationUs }, isWhole)
}

for (const isWhole of [true, false]) {
  test(`times are those of report(), in all tables, ${isWhole ? 'from the addon' : 'from samples'}`, () =>
    compareTables(isWhole))
}

/** @param {boolean} isWhole */
async function compareTables(isWhole) {
  const cwd = temporaryDirectory()
  const lint = { pid: 8, label: 'lint.js', cwd: '/project', start: 1e9 + 50_000, spans: LINT }
  const files = [...writeProgram(cwd), writeTrace(path.join(cwd, 'lint.trace.json'), lint)]
  const recording = await readPage(files)
  const costs = allCosts(recording, isWhole)
  const whole = await report(files, { top: Number.POSITIVE_INFINITY })
  assert.equal(recording.durationUs / 1000, whole.durationMs)
  assert.deepEqual([recording.title, recording.sentence], ['program.js', whole.sentence])
  assert.deepEqual(recording.chain, whole.chain)

  const states = { javascript: 418.5, native: 30, gc: 50, waiting: 20, blocked: 300, idle: 222.5 }
  assert.deepEqual(inMs(costs.states), states)
  const totals = Object.entries(states).map(([name, ms]) => [`${name}Ms`, ms])
  assert.deepEqual(whole.totals, Object.fromEntries(totals))

  const { functionCosts, fileCosts, packageCosts, ownerCosts } = costs
  const relative = (/** @type {string} */ file) => file.replace('/project/', '')
  const { names, filePaths, lines, columns } = recording
  assert.equal(whole.functions.length, 11)
  for (const { name, file, line, column, ...times } of whole.functions) {
    const item = names.findIndex(
      (other, item) =>
        other === name &&
        lines[item] === line &&
        columns[item] === column &&
        filePaths[recording.files[item]] === relative(file),
    )
    assert.deepEqual(timesOf(functionCosts, item), costOf(times), `${name} ${file}:${line}`)
  }
  assert.equal(whole.files.length, 7)
  for (const { file, ...times } of whole.files) {
    const item = filePaths.indexOf(relative(file))
    assert.deepEqual(timesOf(fileCosts, item), costOf(times), file)
  }
  assert.equal(whole.packages.length, 6)
  for (const { name, ...times } of whole.packages) {
    const item = recording.packages.indexOf(name)
    assert.deepEqual(timesOf(packageCosts, item), costOf(times), name)
  }
  assert.equal(whole.owners.length, 3)
  for (const { name, kind, ...times } of whole.owners) {
    const item = recording.ownerNames.indexOf(name)
    assert.equal(recording.ownerKinds[item], kind)
    assert.deepEqual(timesOf(ownerCosts, item), costOf(times), name)
  }
}

test('two halves sum up to the whole', async () => {
  const cwd = temporaryDirectory()
  const lint = { pid: 8, label: 'lint.js', cwd: '/project', start: 1e9 + 50_000, spans: LINT }
  const files = [...writeProgram(cwd), writeTrace(path.join(cwd, 'lint.trace.json'), lint)]
  const recording = await readPage(files)
  const costs = allCosts(recording)
  const half = recording.durationUs / 2
  const threads = threadsOf(readState('', recording), recording)
  const parts = [
    costsOf(recording, threads, { fromUs: 0, toUs: half }),
    costsOf(recording, threads, { fromUs: half, toUs: recording.durationUs }),
  ]
  assert.equal(parts[0].workUs + parts[1].workUs, costs.workUs)
  const states = { javascript: 40, native: 0, gc: 1, waiting: 0, blocked: 210, idle: 160 }
  assert.deepEqual(inMs(parts[1].states), states)
  for (const name of /** @type {const} */ (['self', 'critical', 'blocked', 'waiting'])) {
    const [first, second, all] = [...parts, costs].map(({ functionCosts }) => functionCosts[name])
    for (let item = 0; item < all.length; item++) {
      const difference = first[item] + second[item] - all[item]
      assert.ok(Math.abs(difference) < 0.5, `${name} of ${recording.names[item]}: ${difference}`)
    }
  }
})

test('callers, callees and lines are those of report()', async () => {
  const files = writeProgram(temporaryDirectory())
  const recording = await readPage(files)
  const costs = allCosts(recording)
  const { names } = recording
  for (const [name, expected] of /** @type {const} */ ([
    ['again', { callers: { main: 100, '(event loop)': 80 }, callees: { spin: 170 } }],
    ['spin', { callers: { again: 170, '(event loop)': 40 }, callees: {} }],
    ['collect', { callers: { main: 70 }, callees: { push: 10 } }],
  ])) {
    const detail = (await report(files, { function: name })).details?.[0]
    const calls = callsOf(recording, costs, names.indexOf(name))
    for (const side of /** @type {const} */ (['callers', 'callees'])) {
      const known = detail?.[side].map(({ name = '(event loop)', totalMs }) => [name, totalMs])
      const shown = calls[side].map(({ item, us }) => [names[item] ?? '(event loop)', us / 1000])
      assert.deepEqual(shown, Object.entries(expected[side]), `${side} of ${name}`)
      assert.deepEqual(known, shown)
    }
  }
  const lines = lineCosts(recording, costs).map(({ item, line, us }) => {
    return [names[item], line, us / 1000]
  })
  assert.deepEqual(lines, [
    ['spin', 4, 170],
    ['collect', 10, 60],
    ['spin', 5, 40],
    ['sleep', 13, 38.5],
    ['(anonymous)', 4, 20],
    ['readFileSync', 0, 20],
    ['again', 7, 10],
  ])
  const whole = await report(files, { top: Number.POSITIVE_INFINITY })
  // Native functions have no lines on the page.
  const known = whole.lines.filter(({ file }) => file !== '')
  assert.deepEqual(
    known.map(({ name, line, selfMs }) => [name, line, selfMs]),
    lines,
  )
})

/** @param {Float64Array} states microseconds */
function inMs(states) {
  return Object.fromEntries(STATES.map((name, state) => [name, states[state] / 1000]))
}

/** @param {import('../../cli/page/data/recording.js').Items} items microseconds @param {number} item */
function timesOf({ self, total, blocked, waiting, critical }, item) {
  return costOf({
    selfMs: self[item] / 1000,
    totalMs: total[item] / 1000,
    blockedMs: blocked[item] / 1000,
    waitingMs: waiting[item] / 1000,
    criticalMs: critical[item] / 1000,
  })
}

/** Returns the times; shares of the wall time are rounded. @param {import('../../index.js').ReportCost} cost */
const costOf = ({ selfMs, totalMs, blockedMs, waitingMs, criticalMs }) => ({
  selfMs,
  totalMs,
  blockedMs,
  waitingMs,
  criticalMs: Math.round(criticalMs * 10) / 10,
})

test('flame graphs have the boxes of the stacks', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  const text = profileText([
    ['a a.js:5', 1],
    ['a a.js:5 > b b.js:5', 2],
    ['(garbage collector)', 1],
    ['c c.js:5 > b b.js:5', 1],
    ['(idle)', 1],
  ])
  // The first sample comes a millisecond after the start.
  const late = text.replace('"startTime":1000,', '"startTime":0,')
  fs.writeFileSync(file, late.replace('"timeDeltas":[0,', '"timeDeltas":[1000,'))
  const recording = await readPage([file])
  const costs = allCosts(recording)
  const boxesOf = (/** @type {string} */ fragment) =>
    layoutFlame(recording, shownFor(recording, costs, fragment), 700).levels.map((level) =>
      level.map(
        ({ item, from, to }) => `${recording.names[item]} ${Math.round((to - from) / 1000)}`,
      ),
    )
  assert.deepEqual(boxesOf('#view=heavy'), [
    ['a 3', '(garbage collector) 1', 'c 1'],
    ['b 2', 'b 1'],
  ])
  assert.deepEqual(boxesOf('#view=inverted'), [
    ['b 3', 'a 1', '(garbage collector) 1'],
    ['a 2', 'c 1'],
  ])
  // The collection is drawn on the stack that it interrupted.
  assert.equal(recording.durationUs, 7000)
  const byTime = [['a 4', 'c 1'], ['b 3', 'b 1'], ['(garbage collector) 1']]
  assert.deepEqual(boxesOf('#view=time'), byTime)
  // What is selected does not change what is visible.
  assert.deepEqual(boxesOf('#view=time&from=2000&to=3000'), byTime)
  assert.deepEqual(boxesOf('#view=time&left=2000&right=3000'), [['a 1'], ['b 1']])
  // Callers stand above a function, callees below, over all calls.
  const item = (/** @type {string} */ name) => recording.names.indexOf(name)
  assert.deepEqual(boxesOf(`#view=sandwich&function=${item('b')}`), [['a 2', 'c 1'], ['b 3']])
  assert.deepEqual(boxesOf(`#view=sandwich&function=${item('a')}`), [['a 3'], ['b 2']])
})

/** Returns what the views draw for an address. @param {Recording} recording @param {ReturnType<typeof costsOf>} costs @param {string} fragment */
function shownFor(recording, costs, fragment) {
  const state = readState(fragment, recording)
  return { state, costs, function: state.function ?? -1 }
}

test('a function has its time in each thread', async () => {
  const files = writeProgram(temporaryDirectory())
  const recording = await readPage(files)
  /** @param {string} name @param {[number, number]} [span] milliseconds */
  const times = (name, [from, to] = [0, 700]) => {
    const leaves = leavesWith(recording, (item) => recording.names[item] === name)
    const span = { fromUs: 1000 * from, toUs: 1000 * to }
    return threadTimes(recording, leaves, span).map((us) => us / 1000)
  }
  assert.deepEqual(times('again'), [100, 80])
  assert.deepEqual(times('spin'), [130, 80])
  // Time in which the thread is blocked counts too, but not that of a worker which waits for tasks.
  assert.deepEqual(times('sleep'), [300, 38.5])
  assert.deepEqual(times('again', [100, 160]), [20, 10])
  assert.deepEqual(times('nothing'), [0, 0])
})

test('the page has stalls, imports and scripts of the report, where there are some', async () => {
  const file = path.join(temporaryDirectory(), 'main.trace.json')
  const module = 'Module._compile node:internal/modules/cjs/loader:1554 > '
  const main = `${module}(anonymous) program.js:1`
  writeTrace(file, {
    label: 'program.js',
    cwd: '/project',
    spans: [
      [`${main} > ${module}(anonymous) node_modules/left-pad/index.js:1`, 40],
      [`${main} > spin program.js:3`, 30],
      ['(idle)', 20],
      ['spin program.js:3', 90],
      ['(idle)', 20],
    ],
  })
  const recording = await readPage([file])
  const whole = await report([file], { imports: true, stalls: 50 })
  assert.equal(whole.stalls?.length, 2)
  assert.equal(whole.imports?.[0]?.children.length, 1)
  assert.deepEqual([recording.stalls, recording.imports], [whole.stalls, whole.imports])
  assert.deepEqual(recording.scripts, [])
  assert.deepEqual(tablesOf(recording).slice(6), ['stalls', 'imports'])

  const state = readState('#table=stalls', recording)
  const [row] = layoutList(recording, state).rows
  assert.deepEqual([row.name, row.cells], ['spin', ['90 ms', '90 ms', '0.0 ms', '0.0 ms']])
  // A click shows the stall where it is on the time line.
  const { from, to, left, right, threads, view } = row.choice ?? {}
  assert.deepEqual([from, to, threads, view], [90_000, 180_000, [0], 'time'])
  assert.deepEqual([left, right], [72_000, 198_000])
  const imports = layoutList(recording, readState('#table=imports&query=pad', recording)).rows
  assert.deepEqual(
    imports.map(({ name, level }) => [name, level]),
    [['left-pad/index.js', 1]],
  )
})

test('a million samples are thinned, with the same times', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  fs.writeFileSync(file, millionSamples())
  const recording = await readPage([file])
  const { workUs, functionCosts } = allCosts(recording)
  assert.equal(recording.thinnedToUs, 2000)
  const { length } = recording.threads[0].leaves
  assert.ok(length <= 500_000, `${length} samples`)
  assert.equal(workUs, 1e9)
  for (const [name, us] of /** @type {const} */ ([
    ['a', 2e9 / 3],
    ['b', 1e9 / 3],
    ['c', 1e9 / 3],
  ])) {
    const total = functionCosts.total[recording.names.indexOf(name)]
    // The last sample of each function may count for another.
    assert.ok(Math.abs(total - us) <= 2000, `${name}: ${total}`)
  }
})

/** Returns a profile of `a`, `b` in `a`, and `c` in turns, a millisecond each. */
function millionSamples() {
  const { nodes } = JSON.parse(
    profileText([
      ['a a.js:5', 1],
      ['a a.js:5 > b b.js:5', 1],
      ['c c.js:5', 1],
    ]),
  )
  const samples = Array.from({ length: 1_000_000 }, (_, at) => 2 + (at % 3))
  const timeDeltas = samples.map((_, at) => (at === 0 ? 0 : 1000))
  return JSON.stringify({ nodes, startTime: 1, endTime: 1e9 + 1, samples, timeDeltas })
}

test('a fragment keeps the choices, and a wrong one does no harm', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  writeProfile(file, [
    ['a a.js:5', 1],
    ['b b.js:5', 1],
  ])
  const recording = await readPage([file])
  const chosen =
    'from=100&to=900&left=50&right=950&threads=0&thread=0&view=inverted&table=lines&sort=total&query=a+b'
  const state = readState(`#${chosen}&function=3&theme=dark`, recording)
  assert.deepEqual(readState(writeState(state), recording), state)
  const wrong =
    '#from=9&to=1&left=-1&right=7&threads=7,x&thread=-1&view=<b>&table=none&function=1e9&theme=&x'
  assert.equal(writeState(readState(wrong, recording)), '')
})

test('a page that cannot be written is an error, and leaves no file', async () => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'a.cpuprofile')
  writeProfile(file, [['a a.js:5', 1]])
  for (const [output, message] of [
    ['.', pattern`^cpu-prof: ${messages.htmlIsFolder('.')}\n$`],
    ['x/', /^cpu-prof: x\/ is a folder/],
    ['a.cpuprofile/x.html', /^cpu-prof: could not make the folder of a\.cpuprofile\/x\.html: /],
  ]) {
    const { code, stderr } = await cli(['report', file, '--html', String(output)], { cwd })
    assert.equal(code, 1)
    assert.match(stderr, /** @type {RegExp} */ (message))
  }
  const both = await cli(['report', file, '--html', 'x.html', '--json'], { cwd })
  assert.equal(both.code, 2)
  const nothing = await cli(['report', 'missing', '--html', 'x.html'], { cwd })
  assert.equal(nothing.code, 1)
  assert.deepEqual(fs.readdirSync(cwd), ['a.cpuprofile'])
})
