'use strict'

// The chain's phases within a process, on recordings with known times: what programs and the recorder name.

const assert = require('node:assert/strict')
const test = require('node:test')
const { report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { chainOf, write } = require('../helpers/chains.js')
const { cli } = require('../helpers/cli.js')
const { compiled, measure } = require('../helpers/written-events.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const LOAD = 'run node:internal/main/run_main_module:1 > load node:internal/modules/cjs/loader:2'
const TSC = 'check /t/node_modules/typescript/lib/_tsc.js:1'

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

test('a slice has the phases of its time', async () => {
  const { file } = write(
    working(
      measured([
        ['read', 0, 200],
        ['bundle', 200, 950],
      ]),
    ),
  )
  const { chain } = await report(file, { from: 100, to: 400 })
  assert.deepEqual(
    chain.map(({ phase, ms }) => [phase, ms]),
    [
      ['read', 100],
      ['bundle', 200],
    ],
  )
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
