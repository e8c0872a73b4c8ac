'use strict'

// The chain's phases within a process, on recordings with known times: what samples tell.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { chainOf } = require('../helpers/chains.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')
const { measure } = require('../helpers/written-events.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const LOAD = 'run node:internal/main/run_main_module:1 > load node:internal/modules/cjs/loader:2'

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
