'use strict'

// Google's own package reads the pprof files that are converted here, and finds the times of the report.

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { ENGINES, missing } = require('../helpers/engines.js')
const { filesIn, temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { isState, timesOf } = require('../helpers/function-times.js')
const { pprofBytes } = require('../helpers/pprof.js')
const { run } = require('../helpers/run.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../../index.js').ConvertOptions} ConvertOptions */
/** @typedef {{ inputs: string | string[], options?: ConvertOptions }} Case */
/** @typedef {import('../helpers/written.js').Span} Span */

const skip = missing('pprof')
const MAIN = 'main main.js:1:1'
const TOOL = `${MAIN} > (anonymous) node_modules/tool/index.js:12:34`
/** @type {Span[]} */
const SPANS = [
  [`${MAIN} > wait wait.js:2:1`, 24, { cpuMs: 4 }],
  ['(program)', 2],
  [`${TOOL}@14`, 3],
  [`${TOOL}@15`, 2],
  [`${MAIN} > na\u00efve"\u{1f600} sub/b.mjs:5:6 > na\u00efve"\u{1f600} sub/b.mjs:5:6`, 4],
  [`${MAIN} > x sub/b.mjs:5:30 > x sub/b.mjs:5:40`, 1],
  [`${MAIN} > _ZN4node2vmE sub/b.mjs:9:1`, 2],
  [`${MAIN} > (garbage collector)`, 2],
  [`${MAIN} > late wait.js:9:1`, 20, { cpuMs: 10, waitMs: 10 }],
  ['(idle)', 30],
  [MAIN, 1],
]
/** @type {Span[]} */
const LABELLED = [
  [`${TOOL}@15`, 8, { labels: { route: '/users/:id', thread: 'own', package: '' } }],
  [`${TOOL}@15`, 4, { labels: { route: '/x' } }],
  [MAIN, 4],
]

/** Returns what Google's package says of a file. @param {string} file */
const factsOf = (file) =>
  JSON.parse(execFileSync(ENGINES.pprof.file, [file], { maxBuffer: 1 << 28 }).toString())

/**
 * Checks that Google's package reads the pprof file of inputs, and finds the times of the report.
 * @param {Case} input
 */
async function check({ inputs, options = {} }) {
  const file = path.join(temporaryDirectory(), 'x.pb.gz')
  await convert(inputs, file, options)
  const facts = factsOf(file)
  const { functions, processes, totals } = await report(inputs, { ...options, top: Infinity })
  assert.ok(processes.every(({ launcher }) => !launcher))
  const expected = timesOf(functions)
  /** @type {typeof expected} */
  const found = {}
  for (const [key, total] of Object.entries(facts.total)) {
    if (isState(key)) continue
    const [, cpu = 0, wall = 0] = facts.self[key] ?? []
    found[key] = { self: [cpu / 1000, wall / 1000], total: total[1] / 1000 }
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const none = { self: [0, 0], total: 0 }
    assert.deepEqual(found[key] ?? none, expected[key] ?? none, key)
  }
  const ms = (/** @type {string} */ state, /** @type {number} */ type) =>
    (facts.self[`${state} :0`]?.[type] ?? 0) / 1e6
  assert.equal(ms('(garbage collector)', 1), totals.gcMs)
  assert.equal(ms('(idle)', 1), 0)
  const { javascriptMs, nativeMs, gcMs, idleMs, blockedMs = 0, waitingMs = 0 } = totals
  // The rest is time in which an idle thread waited for a core.
  assert.ok(ms('(idle)', 2) >= idleMs && ms('(idle)', 2) <= idleMs + waitingMs + blockedMs + 1e-6)
  const near = (/** @type {number} */ one, /** @type {number} */ other) =>
    assert.ok(Math.abs(one - other) < 1e-6, `${one} ${other}`)
  near(facts.totals[1] / 1e6, javascriptMs + nativeMs + gcMs)
  near(facts.totals[2] / 1e6, javascriptMs + nativeMs + gcMs + idleMs + blockedMs + waitingMs)
  const samples = processes.flatMap(({ threads }) => threads.map((thread) => thread.samples))
  assert.equal(
    facts.totals[0],
    samples.reduce((sum, count) => sum + count, 0),
  )
  return facts
}

/** Returns the path of a file of another tool. @param {string} name */
const foreign = (name) => path.join(FIXTURES, 'foreign', name)

/** Writes a process with a worker. */
function writeRecordings() {
  const dir = temporaryDirectory()
  const common = { cwd: '/project', label: 'app.js', argv: ['natural'], flushMs: 24 }
  writeTrace(path.join(dir, 'CPU.7.0.trace.json'), { ...common, spans: SPANS })
  const worker = { tid: 1, script: 'crunch.js', start: 1e9 + 5000 }
  writeTrace(path.join(dir, 'CPU.7.1.trace.json'), { ...common, ...worker, spans: LABELLED })
  return dir
}

for (const name of fs.readdirSync(path.join(FIXTURES, 'foreign'))) {
  if (!/cpuprofile|chrome-page/.test(name)) continue
  test(`the functions of ${name}`, { skip }, async () => {
    const { samples } = await check({ inputs: foreign(name) })
    assert.ok(samples > 0)
  })
}

/** @type {Record<string, ConvertOptions>} */
const SELECTIONS = {
  'no filter': {},
  'a thread': { thread: ['crunch'] },
  'a function': { focus: ['wait'] },
  'all but a function': { ignore: ['naïve'] },
  'a package': { package: ['tool'] },
  'a label': { label: ['route=/users/:id'] },
  'no label': { label: ['route='] },
  'a slice': { from: 3, to: 12 },
}
for (const [name, options] of Object.entries(SELECTIONS)) {
  test(`written recordings with ${name}`, { skip }, async () => {
    await check({ inputs: writeRecordings(), options })
  })
}

test('labels, comments and times', { skip }, async () => {
  const dir = writeRecordings()
  const { labels, comments, types, period, defaultType, durationNanos } = await check({
    inputs: dir,
  })
  assert.deepEqual(types, ['samples/count', 'cpu/nanoseconds', 'wall/nanoseconds'])
  assert.deepEqual([period, defaultType, durationNanos], [1e6, 'cpu', 91e6])
  assert.deepEqual(labels.route, { '/users/:id': 8e6, '/x': 4e6 })
  assert.deepEqual(labels['label.thread'], { own: 8e6 })
  assert.deepEqual(Object.keys(labels.thread), ['main', 'worker 1: crunch.js'])
  assert.equal(labels.package.tool, 16_166_000)
  assert.ok(comments.includes('command: app.js natural (pid 7)'))
})

test('files of Windows and files without samples', { skip }, async () => {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  writeProfile(
    at('w.cpuprofile'),
    [
      [MAIN, 3],
      [TOOL, 4],
    ],
    { root: 'C:\\repo' },
  )
  await check({ inputs: at('w.cpuprofile') })
  writeProfile(at('empty.cpuprofile'), [])
  const { samples, functions } = await check({ inputs: at('empty.cpuprofile') })
  assert.deepEqual([samples, functions], [0, 0])
})

test('a merged trace, and pprof of pprof', { skip }, async () => {
  const dir = writeRecordings()
  const merged = path.join(temporaryDirectory(), 'all.json')
  await merge(dir, merged)
  await check({ inputs: merged })
  const pprof = path.join(path.dirname(merged), 'x.pb')
  await convert(dir, pprof)
  await check({ inputs: pprof })
})

test('a file of another tool', { skip }, async () => {
  const file = path.join(temporaryDirectory(), 'go.pb')
  const stack = ['main.main /go/main.go:7', 'main.work /go/work.go:20']
  fs.writeFileSync(file, pprofBytes([{ stack, values: [3, 30e6] }]))
  assert.deepEqual(factsOf(file).self['main.work /go/work.go:20'], [3, 30e6])
  const facts = await check({ inputs: file })
  assert.deepEqual(facts.self['main.work /go/work.go:20'], [3, 30e6, 30e6])
})

test('recorded programs: workers, hot lines, labels, V8 itself', { skip }, async () => {
  const workers = await run(['workers.js', 'natural'])
  await check({ inputs: workers.cwd })
  const hot = await run(['hot-line.js'])
  await check({ inputs: hot.cwd })
  const { totals, timeNanos, period } = await check({
    inputs: (await run(['labelled.js', '300', '20'])).cwd,
  })
  assert.ok(totals[1] > 0 && period === 1e6)
  assert.ok(Math.abs(timeNanos / 1e6 - Date.now()) < 600_000)
  const cwd = temporaryDirectory()
  const program = 'for (const end = Date.now() + 200; Date.now() < end;) JSON.stringify([1, {}])'
  execFileSync(process.execPath, ['--cpu-prof', '-e', program], { cwd })
  const files = filesIn(cwd, '.cpuprofile')
  assert.equal(files.length, 1)
  await check({ inputs: files })
})

test("Go's own pprof shows a file", { skip }, async () => {
  const file = path.join(temporaryDirectory(), 'x.pb.gz')
  await convert(writeRecordings(), file)
  const env = { ...process.env, GOPROXY: 'off', HOME: path.dirname(file) }
  const args = ['tool', 'pprof', '-top', '-nodefraction=0', file]
  const { stdout, stderr } = spawnSync('go', args, { env, encoding: 'utf8' })
  assert.match(stdout, /Type: cpu/, stderr)
  assert.match(stdout, /16166us .* \(anonymous\)/)
  // A JavaScript function with a name of C++ keeps it.
  assert.match(stdout, /1667us .* _ZN4node2vmE/)
})
