'use strict'

// `cpu-prof lake trend`, with known times.

const assert = require('node:assert/strict')
const test = require('node:test')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')

/** @typedef {import('../helpers/lakes.js').MadeRun} MadeRun */

/** @param {string} start @param {number} self @param {Partial<MadeRun>} [facts] @returns {MadeRun} */
function run(start, self, facts = {}) {
  const functions = [
    { function: 'other', self: 100_000 - self },
    ...(self > 0 ? [{ function: 'slow', file: 'src/slow.js', self }] : []),
  ]
  return { start, functions, ...facts }
}

/** Commits whose hashes and times are not in their order. */
const RUNS = [
  run('2026-11-03 10:00:00', 10_000, { commit: 'ccc', seq: 1 }),
  run('2026-11-03 11:00:00', 30_000, { commit: 'ccc', seq: 1 }),
  run('2026-11-03 12:00:00', 20_000, { commit: 'ccc', seq: 1 }),
  run('2026-11-01 10:00:00', 40_000, { commit: 'bbb', seq: 2 }),
  run('2026-11-02 10:00:00', 0, { commit: 'bbb', seq: 2 }),
  run('2026-11-04 10:00:00', 50_000, { commit: 'aaa', seq: 3 }),
]

/** @param {string[]} args */
async function json(...args) {
  const { code, stdout, stderr } = await cli(['lake', 'trend', ...args, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('commits are in their order, and a run without a sample counts as 0', async () => {
  const lake = await writeLake(RUNS)
  const { kind, name, place, measure, unit, by, points, notes } = await json(
    lake,
    '--function',
    'slow',
  )
  assert.deepEqual([kind, name, place, measure], ['function', 'slow', 'src/slow.js', 'self'])
  assert.deepEqual([unit, by], ['share', 'commit'])
  const brief = points.map((/** @type {any} */ { at, runs, runsWith, ...values }) => {
    const numbers = [values.mean, values.p25, values.median, values.p75, values.p95]
    return [at, runs, runsWith, ...numbers.map((number) => number.toFixed(3))]
  })
  assert.deepEqual(brief, [
    ['ccc', 3, 3, '0.200', '0.150', '0.200', '0.250', '0.290'],
    ['bbb', 2, 1, '0.200', '0.100', '0.200', '0.300', '0.380'],
    ['aaa', 1, 1, '0.500', '0.500', '0.500', '0.500', '0.500'],
  ])
  assert.deepEqual(notes, ['1 of 6 runs have no sample of it, and count as 0'])
})

test('days, times, totals, and the whole work', async () => {
  const lake = await writeLake(RUNS)
  const median = (/** @type {any} */ { points }) =>
    points.map((/** @type {any} */ { at, median }) => [at, median])
  const days = await json(lake, '--file', 'src/slow.js', '--by', 'day', '--absolute')
  assert.deepEqual(median(days), [
    ['2026-11-01', 40],
    ['2026-11-02', 0],
    ['2026-11-03', 20],
    ['2026-11-04', 50],
  ])
  const whole = await json(lake, '--since', '2026-11-04')
  assert.deepEqual([whole.kind, whole.unit, median(whole)], ['run', 'ms', [['aaa', 100]]])
  const own = await json(lake, '--package', '(own code)', '--total')
  assert.deepEqual([own.measure, median(own)[0]], ['total', ['ccc', 1]])
})

test('a slow machine cancels in shares, and runs without commits have days', async () => {
  const slow = {
    functions: [
      { function: 'a', self: 20_000 },
      { function: 'b', self: 60_000 },
    ],
  }
  const fast = {
    functions: [
      { function: 'a', self: 10_000 },
      { function: 'b', self: 30_000 },
    ],
  }
  const lake = await writeLake([slow, fast])
  const { by, points } = await json(lake, '--function', 'a')
  assert.deepEqual([by, points.length], ['day', 1])
  assert.deepEqual([points[0].at, points[0].p25, points[0].p95], ['2026-11-01', 0.25, 0.25])
})

test('owners and labels have trends', async () => {
  const lake = await writeLake(madeRuns({ commits: 2, runs: 2 }))
  for (const [flag, name, shown] of [
    ['--owner', 'rule no-cycle', 'rule no-cycle'],
    ['--owner', 'no-cycle', 'rule no-cycle'],
    ['--label', 'route=/users', 'route=/users'],
  ]) {
    const { name: found, points } = await json(lake, flag, name)
    assert.deepEqual([found, points.length], [shown, 2])
  }
})

test('a name of several functions lists them, and each can be named', async () => {
  const functions = [
    { function: 'f', file: 'src/a.js', self: 3000 },
    { function: 'f', file: 'src/b.js', self: 2000 },
    { function: 'f', file: 'src/b.js', package: 'lib', self: 1000 },
  ]
  const lake = await writeLake([{ functions }])
  const { code, stderr } = await cli(['lake', 'trend', lake, '--function', 'f'])
  assert.equal(code, 1)
  assert.ok(
    stderr.endsWith('(own code)/src/a.js:f, (own code)/src/b.js:f, lib/src/b.js:f\n'),
    stderr,
  )
  for (const [name, expected] of /** @type {[string, number][]} */ ([
    ['src/a.js:f', 3],
    ['(own code)/src/b.js:f', 2],
    ['lib/src/b.js:f', 1],
  ])) {
    const { points } = await json(lake, '--absolute', '--function', name)
    assert.equal(points[0].median, expected, name)
  }
  for (const name of ['none', "f' OR 1 = 1 --", 'src/b.js:f']) {
    assert.equal((await cli(['lake', 'trend', lake, '--function', name])).code, 1, name)
  }
})

test('several repositories have days, and their commits no order', async () => {
  const runs = ['org/a', 'org/b'].map((repo) =>
    run('2026-11-01 10:00:00', 10_000, { repo, commit: repo, seq: 1 }),
  )
  const lake = await writeLake(runs)
  const { by, notes } = await json(lake)
  assert.deepEqual([by, notes.length], ['day', 1])
  const { code, stderr } = await cli(['lake', 'trend', lake, '--by', 'commit'])
  assert.equal(code, 1)
  assert.match(stderr, /choose with --repo: org\/a, org\/b/)
})

test('the chart has a bar for each commit, plain where there is no terminal', async () => {
  const lake = await writeLake(RUNS)
  const { stdout } = await cli(['lake', 'trend', lake, '--function', 'slow'])
  const lines = stdout.trimEnd().split('\n').slice(-3)
  const bars = lines.map((line) => /#*$/.exec(line)?.[0].length)
  assert.deepEqual(bars, [12, 12, 30])
  assert.match(stdout, /over runs, not over calls/)
  assert.match(stdout, /1 of 6 runs have no sample of it, and count as 0/)
  assert.doesNotMatch(stdout, /█/)
})
