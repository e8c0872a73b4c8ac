'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, merge, report } = require('../../index.js')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { readMerged, moments, threadOf } = require('../helpers/merged.js')
const { messages, pattern } = require('../helpers/messages.js')
const { VERSIONS } = require('../../scripts/matrix.js')
const { readJson } = require('../helpers/times.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const MAIN = 'main main.js:1:1'
/** Spans with all kinds of frames. @type {Span[]} */
const SPANS = [
  ['(program)', 2],
  [`${MAIN} > (anonymous) node_modules/tool/index.js:12:34@14`, 3],
  [`${MAIN} > (anonymous) node_modules/tool/index.js:12:34@15`, 2],
  [`${MAIN} > na\u00efve"\u{1f600} sub/b.mjs:5:6 > na\u00efve"\u{1f600} sub/b.mjs:5:6`, 4],
  [`${MAIN} > readFileSync node:fs:441:22`, 1],
  [`${MAIN} > (garbage collector)`, 2],
  ['(idle)', 5],
  [MAIN, 1],
]
/** Their samples, as moments() returns them. */
const MOMENTS = SPANS.flatMap(([stack, ms]) =>
  Array(ms).fill(String(stack).replace(/@\d+/, '')),
).map((stack, i) => `${i} ${stack}`)

/** Reads the only thread of a `.cpuprofile`. @param {string} file @param {{ isOurs: boolean }} [options] */
const readThread = (file, options) => threadOf(readCpuProfile(file, options))

/** Reads a trace that was converted from a `.cpuprofile`: a merged trace of one thread. @param {string} file */
async function readConverted(file) {
  const { threads } = await readMerged(file)
  assert.equal(threads.length, 1)
  return threads[0]
}

test('a trace converted to a .cpuprofile and back keeps its samples, lines and times', async () => {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  const recorded = { label: 'app.js', argv: ['natural'], cwd: '/project', flushMs: 6 }
  writeTrace(at('a.trace.json'), { ...recorded, spans: SPANS })
  const { files } = await convert(at('a.trace.json'), at('a.cpuprofile'))
  assert.deepEqual(files, [at('a.cpuprofile')])
  const profile = readCpuProfile(at('a.cpuprofile'))
  assert.equal(fs.statSync(at('a.cpuprofile')).mode & 0o777, 0o600)
  assert.deepEqual(moments(threadOf(profile)), MOMENTS)
  assert.deepEqual([profile.startTime, profile.endTime], [1e9, 1e9 + 20_000])
  const lines = profile.nodes.flatMap((/** @type {any} */ { positionTicks = [] }) => positionTicks)
  assert.deepEqual(lines, [
    { line: 14, ticks: 3 },
    { line: 15, ticks: 2 },
  ])

  await convert(at('a.cpuprofile'), at('b.json'))
  const back = await readConverted(at('b.json'))
  assert.deepEqual(moments(back), MOMENTS)
  assert.deepEqual([back.startUs, back.endUs], [1e9, 1e9 + 19_000])
  assert.equal(back.url, 'app.js: natural (pid 7)')
  const totals = { javascriptMs: 11, idleMs: 5, gcMs: 2, nativeMs: 2 }
  assert.deepEqual((await report(at('a.trace.json'))).totals, {
    ...totals,
    waitingMs: 0,
    blockedMs: 0,
  })
  // A .cpuprofile does not tell when a thread waited or was blocked.
  for (const name of ['a.cpuprofile', 'b.json']) {
    assert.deepEqual((await report(at(name))).totals, totals, name)
  }
})

for (const version of VERSIONS) {
  test(`a .cpuprofile of Node ${version} converts to a trace that DevTools' parser reads`, async () => {
    const dir = temporaryDirectory()
    const gzip = fs.readFileSync(path.join(FIXTURES, 'foreign', `node-${version}.cpuprofile.gz`))
    const file = path.join(dir, 'CPU.20251125.100000.321.0.001.cpuprofile')
    fs.writeFileSync(file, zlib.gunzipSync(gzip))
    const output = path.join(dir, 'a.trace.json')
    await convert(file, output)
    const trace = await readConverted(output)
    assert.equal(trace.pid, 321)
    assert.deepEqual(moments(trace), moments(readThread(file, { isOurs: false })))
    for (const name of ['parse', 'render', 'recurse']) assert.ok(trace.functions.has(name), name)
  })
}

const SPIN = 'spin spin.js:2:3'
const WAIT = `${MAIN} > wait wait.js:2:1`

/** Writes recordings of a process with two workers: the last one was terminated. */
function writeWorkers() {
  const dir = temporaryDirectory()
  const common = { cwd: '/project', label: 'workers.js', argv: ['terminate'] }
  const worker = { ...common, script: 'workers.js', flushMs: 8 }
  const at = (/** @type {string} */ name) => path.join(dir, `CPU.7.${name}.trace.json`)
  const own = Object.entries({ [MAIN]: 4, '(idle)': 20 })
  writeTrace(at('0'), { ...common, flushMs: 24, spans: [[WAIT, 24, { cpuMs: 4 }], ...own] })
  const busy = Object.entries({ [SPIN]: 12, '(garbage collector)': 2, '(program)': 1 })
  writeTrace(at('1'), { ...worker, tid: 1, start: 1e9 + 5000, spans: busy })
  const cut = Object.entries({ '(idle)': 3, [SPIN]: 7 })
  writeTrace(at('2'), { ...worker, tid: 2, start: 1e9 + 6000, spans: cut, isKilled: true })
  return dir
}

test('each thread of a trace gets its own .cpuprofile, or an entry in the other formats', async () => {
  const recordings = writeWorkers()
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  await merge(recordings, at('all.json'))
  const { files } = await convert(at('all.json'), at('x.cpuprofile'))
  assert.deepEqual(files, ['x.7.0.cpuprofile', 'x.7.1.cpuprofile', 'x.7.2.cpuprofile'].map(at))
  /** @type {(from: number, stacks: Record<string, number>) => string[]} */
  const samples = (from, stacks) =>
    Object.entries(stacks)
      .flatMap(([stack, ms]) => Array(ms).fill(stack))
      .map((stack, i) => `${from + i} ${stack}`)
  assert.deepEqual(
    files.map((file) => moments(readThread(file))),
    [
      samples(0, { [WAIT]: 24, [MAIN]: 4, '(idle)': 20 }),
      samples(5, { [SPIN]: 12, '(garbage collector)': 2, '(program)': 1 }),
      samples(6, { '(idle)': 3, [SPIN]: 7 }),
    ],
  )
  const work = { javascriptMs: 4 + 4 + 12 + 7, nativeMs: 1, gcMs: 2 }
  const totals = { ...work, waitingMs: 0, blockedMs: 20, idleMs: 23 }
  assert.deepEqual((await report(recordings)).totals, totals)
  assert.deepEqual((await report(at('all.json'))).totals, totals)
  // A .cpuprofile does not tell when a thread waited or was blocked.
  const { waitingMs, blockedMs, ...others } = totals
  const converted = { ...others, javascriptMs: totals.javascriptMs + blockedMs }
  assert.deepEqual((await report(files)).totals, converted)

  await convert(at('all.json'), at('x.collapsed'))
  assert.deepEqual(fs.readFileSync(at('x.collapsed'), 'utf8').split('\n'), [
    'workers.js (pid 7) - main;main (main.js:1) 4000',
    'workers.js (pid 7) - main;main (main.js:1);wait (wait.js:2) 24000',
    'workers.js (pid 7) - main;(idle) 20000',
    'workers.js (pid 7) - worker 1: workers.js;spin (spin.js:2) 12000',
    'workers.js (pid 7) - worker 1: workers.js;(garbage collector) 2000',
    'workers.js (pid 7) - worker 1: workers.js;(program) 1000',
    'workers.js (pid 7) - worker 2: workers.js;(idle) 3000',
    'workers.js (pid 7) - worker 2: workers.js;spin (spin.js:2) 7000',
    '',
  ])

  await convert(at('all.json'), at('x.speedscope.json.gz'))
  const { shared, profiles } = readJson(at('x.speedscope.json.gz'))
  const stacks = profiles.map(
    (/** @type {any} */ { name, startValue, endValue, samples, weights }) => {
      assert.equal(samples.length, weights.length)
      const weighted = samples.map((/** @type {number[]} */ sample, /** @type {number} */ i) =>
        [weights[i], ...sample.map((frame) => shared.frames[frame].name)].join(' '),
      )
      return [name, startValue, endValue, weighted]
    },
  )
  assert.deepEqual(stacks, [
    ['workers.js (pid 7) - main', 0, 48_000, ['24000 main wait', '4000 main', '20000']],
    [
      'workers.js (pid 7) - worker 1: workers.js',
      5000,
      20_000,
      ['12000 spin', '2000 (garbage collector)', '1000 (program)'],
    ],
    ['workers.js (pid 7) - worker 2: workers.js', 6000, 16_000, ['3000', '7000 spin']],
  ])
  const wait = shared.frames.find((/** @type {any} */ { name }) => name === 'wait')
  assert.deepEqual(wait, { name: 'wait', file: '/project/wait.js', line: 2, col: 1 })
})

test('convert replaces an existing output and leaves nothing on failure', async () => {
  const dir = temporaryDirectory()
  const trace = writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), { spans: SPANS })
  const at = (/** @type {string} */ name) => path.join(dir, name)
  fs.writeFileSync(at('a.cpuprofile'), 'old')
  await convert(trace, at('a.cpuprofile'))
  assert.deepEqual(moments(readThread(at('a.cpuprofile'))), MOMENTS)
  await convert(trace, at('made/if/missing.cpuprofile'))
  assert.deepEqual(moments(readThread(at('made/if/missing.cpuprofile'))), MOMENTS)

  fs.writeFileSync(at('b.json'), '{}')
  /** @type {[any, any, RegExp][]} */
  const wrong = [
    [trace, at('x.html'), /x\.html has no ending that convert knows: \.json .*\.speedscope\.json/],
    [
      trace,
      at('x.made-up.gz'),
      /x\.made-up\.gz has no ending that convert knows: \.json .*\.speedscope\.json.*\.pb or \.pprof/,
    ],
    [trace, at('b.json/x.txt'), /could not make the folder of .*b\.json/],
    [at('b.json'), at('x.txt'), pattern`${messages.noProfile}`],
    [at('missing'), at('x.txt'), /does not exist/],
    [5, at('x.txt'), pattern`inputs ${messages.atLeastOnePath}, not 5`],
    [trace, undefined, /output must be a file's path, not undefined/],
  ]
  for (const [input, output, message] of wrong) {
    await assert.rejects(convert(input, output), (error) => {
      assert.match(String(error), message)
      assert.match(String(error), /cpu-prof: /)
      return true
    })
  }
  assert.deepEqual(fs.readdirSync(dir).sort(), ['a.cpuprofile', 'b.json', 'made'])
})
