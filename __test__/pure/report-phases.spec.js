'use strict'

// The chain's phases within a process, on recordings with known times.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')
const { START, compiled, measure } = require('../helpers/written-events.js')

/** @typedef {import('../helpers/written.js').Recorded} Recorded */
/** @typedef {import('../helpers/written.js').Span} Span */

const LOAD = 'run node:internal/main/run_main_module:1 > load node:internal/modules/cjs/loader:2'
const TSC = 'check /t/node_modules/typescript/lib/_tsc.js:1'

/** Writes a process named `build` in the folder /repo. @param {Recorded} recorded */
function write(recorded) {
  const folder = temporaryDirectory()
  const of = { label: 'build', cwd: '/repo', start: START }
  const file = path.join(folder, '1.trace.json')
  writeTrace(file, { ...of, ...recorded })
  return { folder, file }
}

/** Returns the parts of the chain: name of the process, phase, milliseconds. @param {Recorded} recorded */
async function chainOf(recorded) {
  const { chain, durationMs } = await report(write(recorded).file)
  const sum = chain.reduce((sum, { ms }) => sum + ms, 0)
  assert.ok(Math.abs(sum - durationMs) < 0.001, `${sum} of ${durationMs} ms`)
  return chain.map(({ label = 'idle', phase, ms }) => [label, phase, ms])
}

/** A process that works for a second. @param {any[]} events */
const working = (events) => ({ spans: /** @type {Span[]} */ ([['work a.js:1', 1000]]), events })

/** @param {[string, number, number][]} list */
const measured = (list) =>
  list.flatMap((each) => measure(...each)).sort((one, other) => one.ts - other.ts)

test('the outermost measures of the program are phases', async () => {
  const chain = await chainOf(
    working(
      measured([
        ['read', 0, 200],
        ['bundle', 200, 700],
        ['parse', 250, 400],
        ['write', 800, 1000],
      ]),
    ),
  )
  assert.deepEqual(chain, [
    ['build', 'read', 200],
    ['build', 'bundle', 500],
    ['build', undefined, 100],
    ['build', 'write', 200],
  ])
})

test('measures that overlap, are short or last for the whole process are no phases', async () => {
  const chain = await chainOf(
    working(
      measured([
        ['everything', 0, 950],
        ['one request', 100, 500],
        ['another request', 300, 600],
        ['after both', 600, 800],
        ['short', 810, 850],
      ]),
    ),
  )
  assert.deepEqual(chain, [
    ['build', undefined, 600],
    ['build', 'after both', 200],
    ['build', undefined, 200],
  ])
})

test('a measure without an end lasts until the end, and idle time is told in its phase', async () => {
  const [begin] = measure('fetch', 150, 0)
  const spans = /** @type {Span[]} */ ([
    ['work a.js:1', 200],
    ['(idle)', 700],
    ['work a.js:1', 100],
  ])
  const { chain } = await report(write({ spans, events: [begin] }).file)
  assert.deepEqual(
    chain.map(({ phase, ms, idleMs }) => [phase, ms, idleMs]),
    [
      [undefined, 150, 0],
      ['fetch', 850, 700],
    ],
  )
})

test('time beside the phases joins its neighbour where it is short', async () => {
  const chain = await chainOf(
    working(
      measured([
        ['bundle', 10, 490],
        ['bundle', 500, 700],
        ['write', 715, 990],
      ]),
    ),
  )
  assert.deepEqual(chain, [
    ['build', 'bundle', 715],
    ['build', 'write', 285],
  ])
})

test('the projects of a build of TypeScript are phases, the files that it checks are not', async () => {
  const [a, b] = ['a', 'b'].map((name) => ({ project: `/repo/packages/${name}/tsconfig.json` }))
  const spans = /** @type {Span[]} */ ([[TSC, 1000]])
  const events = [
    compiled(100, 100, a),
    compiled(150, 450, { ...a, file: '/repo/packages/a/one.ts' }),
    compiled(500, 500, b),
    compiled(600, 900, { ...b, file: '/repo/packages/b/two.ts' }),
  ]
  assert.deepEqual(await chainOf({ spans, events }), [
    ['build', undefined, 100],
    ['build', 'packages/a', 400],
    ['build', 'packages/b', 500],
  ])
  assert.deepEqual(await chainOf({ spans, events: events.slice(0, 2) }), [
    ['build', undefined, 1000],
  ])
})

test('the phases of the compiler are those of a process of the compiler', async () => {
  const stack = (/** @type {string} */ text) =>
    text.replace(/(\w+)( > |$)/g, '$1 /t/node_modules/typescript/lib/_tsc.js:1$2')
  const spans = /** @type {Span[]} */ ([
    [stack('main'), 60],
    [stack('main > createProgram'), 100],
    [stack('main > createProgram > createSourceFile2'), 100],
    [stack('main > checkSourceFileWorker'), 200],
    // Other work of the compiler, and a file that is bound while another is checked.
    [stack('main > report'), 40],
    [stack('main > checkSourceFileWorker > bindSourceFile'), 90],
    ['(garbage collector)', 100],
    [stack('main > checkSourceFileWorker'), 110],
    [stack('main > emitFiles'), 200],
  ])
  assert.deepEqual(await chainOf({ spans, label: 'tsc' }), [
    ['tsc', undefined, 60],
    ['tsc', 'parse', 200],
    ['tsc', 'check', 540],
    ['tsc', 'emit', 200],
  ])
  assert.deepEqual(await chainOf({ spans, label: 'bundler' }), [['bundler', undefined, 1000]])
})

test('test files that ran one after the other are phases', async () => {
  const load = (/** @type {string} */ file) => /** @type {Span} */ ([`load test/${file}:1`, 10])
  const run = (/** @type {string} */ file, /** @type {number} */ ms) =>
    /** @type {Span} */ (
      [`run runner.js:1 > test/${file}`, ms].map((part, index) =>
        index === 0 ? `run runner.js:1 > callback test/${file}:9 > compute lib.js:2` : part,
      )
    )
  const chain = await chainOf({
    spans: [
      load('a.test.js'),
      load('b.spec.js'),
      ['run runner.js:1', 180],
      run('a.test.js', 200),
      // Code after an await.
      ['compute lib.js:2', 50],
      run('a.test.js', 150),
      run('b.spec.js', 400),
      // A package's test says nothing.
      ['run node_modules/x/x.test.js:1', 200],
    ],
  })
  assert.deepEqual(chain, [
    ['build', undefined, 200],
    ['build', 'test/a.test.js', 400],
    ['build', 'test/b.spec.js', 400],
    ['build', undefined, 200],
  ])
  const mostlyOther = await chainOf({
    spans: [
      ['setUp test/a.test.js:1', 100],
      ['run runner.js:1', 700],
      ['tearDown test/a.test.js:2', 200],
    ],
  })
  assert.deepEqual(mostlyOther, [
    ['build', 'test/a.test.js', 100],
    ['build', undefined, 700],
    ['build', 'test/a.test.js', 200],
  ])
  const spans = /** @type {Span[]} */ ([
    [LOAD, 50],
    ['run test/a.test.js:1', 950],
  ])
  assert.deepEqual(await chainOf({ label: 'a.test.js', spans }), [['a.test.js', undefined, 1000]])
})

test('the start-up lasts as long as a thread mostly loads modules', async () => {
  const chain = await chainOf({
    spans: [
      [LOAD, 150],
      // A module's own code, which is more than half of no time since the start.
      [`${LOAD} > main a.js:1`, 60],
      [`${LOAD} > main a.js:1 > ${LOAD} > read node:fs:9`, 140],
      ['work a.js:2', 550],
      // A module that is loaded later.
      [`work a.js:2 > ${LOAD}`, 100],
    ],
  })
  assert.deepEqual(chain, [
    ['build', 'start-up', 350],
    ['build', undefined, 650],
  ])
  const short = /** @type {Span[]} */ ([
    [LOAD, 90],
    ['work a.js:2', 910],
  ])
  assert.deepEqual(await chainOf({ spans: short }), [['build', undefined, 1000]])
  assert.deepEqual(await chainOf({ spans: short, events: measure('load plugins', 10, 80) }), [
    ['build', 'load plugins', 80],
    ['build', undefined, 920],
  ])
})

test('a measure counts before the start-up', async () => {
  const spans = /** @type {Span[]} */ ([
    [LOAD, 400],
    ['work a.js:2', 600],
  ])
  assert.deepEqual(await chainOf({ spans, events: measure('configure', 250, 600) }), [
    ['build', 'start-up', 250],
    ['build', 'configure', 350],
    ['build', undefined, 400],
  ])
})

test('workers are phases while the main thread does not work', async () => {
  const folder = temporaryDirectory()
  const of = { label: 'build', cwd: '/repo', flushMs: 50 }
  /** @type {[tid: number, spans: Span[]][]} */
  const threads = [
    [
      0,
      [
        ['work a.js:1', 250],
        ['(idle)', 150],
        // A message of a worker.
        ['work a.js:1', 10],
        ['wait a.js:9', 240, { cpuMs: 0 }],
        ['work a.js:1', 150],
        ['(idle)', 200],
      ],
    ],
    [
      1,
      [
        ['(idle)', 250],
        ['task task.js:1', 400],
        ['(idle)', 350],
      ],
    ],
    // Works less than a tenth of the time of the other, and later alone.
    [
      2,
      [
        ['(idle)', 640],
        ['task task.js:1', 10],
        ['(idle)', 150],
        ['task task.js:1', 150],
        ['(idle)', 50],
      ],
    ],
    // Works while the main thread does.
    [
      3,
      [
        ['task task.js:1', 250],
        ['(idle)', 750],
      ],
    ],
  ]
  for (const [tid, spans] of threads) {
    const worker = tid === 0 ? {} : { script: 'task.js' }
    writeTrace(path.join(folder, `${tid}.trace.json`), { ...of, ...worker, tid, spans })
  }
  const chain = async () =>
    (await report(folder)).chain.map(({ phase, ms, idleMs }) => [phase, ms, idleMs])
  assert.deepEqual(await chain(), [
    [undefined, 250, 0],
    ['worker 1: task.js', 400, 0],
    [undefined, 150, 0],
    ['worker 2: task.js', 150, 0],
    [undefined, 50, 50],
  ])
  const other = { ...of, script: 'task.js', tid: 4 }
  const spans = /** @type {Span[]} */ ([
    ['(idle)', 300],
    ['task task.js:1', 300],
  ])
  writeTrace(path.join(folder, '4.trace.json'), { ...other, spans })
  assert.deepEqual((await chain())[1], ['2 workers: task.js', 400, 0])
})

test('phases that come back are one part where there are many', async () => {
  const rounds = Array.from({ length: 8 }, (_, index) => 120 * index)
  const events = measured(rounds.map((at) => ['fetch', at, at + 60]))
  assert.deepEqual(await chainOf(working(events)), [
    ['build', 'fetch', 480],
    ['build', undefined, 520],
  ])
  const named = measured(rounds.map((at, index) => [`step ${index}`, at, at + 60 + index]))
  const chain = await chainOf(working(named))
  assert.deepEqual(chain, [
    ['build', undefined, 1000 - 7 * 60 - (1 + 2 + 3 + 4 + 5 + 6 + 7)],
    ...rounds.slice(1).map((_, index) => ['build', `step ${index + 1}`, 61 + index]),
  ])
})

test('text, Markdown and page show the phases; a name cannot break the line', async () => {
  const hostile = `bundle\n\u001b[31m\u202e${'x'.repeat(10_000)}`
  const { folder, file } = write(
    working(
      measured([
        ['read', 0, 300],
        [hostile, 300, 1000],
      ]),
    ),
  )
  const { chain } = await report(file)
  assert.deepEqual(
    chain.map(({ label, ms }) => [label, ms]),
    [
      ['build', 300],
      ['build', 700],
    ],
  )
  assert.equal(chain[1].phase?.length, 80)
  assert.deepEqual(JSON.parse(await pageData([file], {})).chain, chain)
  for (const option of [[], ['--markdown']]) {
    const { stdout, code } = await cli(['report', file, ...option], { cwd: folder })
    assert.equal(code, 0)
    const text = /^the end waited for.*?(?=\n\n)/ims.exec(stdout)?.[0] ?? ''
    assert.match(text, /: build · read 300 ms →\s+build · bundle/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e]/)
  }
})

test('a chain of one part is shown if it names a phase', async () => {
  const text = async (/** @type {any[]} */ events) => {
    const { folder, file } = write(working(events))
    return (await cli(['report', file], { cwd: folder })).stdout
  }
  assert.match(await text(measure('bundle', 60, 940)), /the end waited for: .*bundle 880 ms/)
  assert.match(
    await text(
      measured([
        ['a', 0, 500],
        ['a', 500, 1000],
      ]),
    ),
    /waited for: build · a 1\.00 s\n/,
  )
  assert.doesNotMatch(await text([]), /the end waited for/)
})
