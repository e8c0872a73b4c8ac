'use strict'

// `cpu-prof lake top`, with known times, and how a lake is opened.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { DuckDBInstance } = require('@duckdb/node-api')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { filesIn, temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { hex, writeLake } = require('../helpers/lakes.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')

/** @typedef {import('../helpers/lakes.js').MadeRun} MadeRun */

/** Four runs; the second has no `rare`, and the last is of another repository. @type {MadeRun[]} */
const RUNS = [
  {
    start: '2026-11-01 23:59:59.999',
    branch: 'main',
    commit: 'aaa111',
    host: 'one',
    functions: [
      { function: 'main', self: 10_000, total: 100_000 },
      { function: 'rare', file: 'src/rare.js', self: 40_000 },
      { function: 'chunk', package: 'lodash', file: 'chunk.js', self: 50_000 },
    ],
    groups: [{ kind: 'label', sort: 'route', name: '/a', self: 30_000 }],
  },
  {
    start: '2026-11-02 00:00:00',
    branch: 'main',
    commit: 'aaa222',
    host: 'two',
    functions: [
      { function: 'main', self: 20_000, total: 100_000 },
      { function: 'chunk', package: 'lodash', file: 'chunk.js', self: 80_000 },
    ],
    groups: [{ kind: 'owner', sort: 'rule', name: 'no-cycle', self: 15_000, total: 25_000 }],
  },
  {
    start: '2026-11-03 12:00:00',
    branch: 'next',
    commit: 'bbb333',
    job: 'build',
    // Two functions of one name call each other: their total times have a part in common.
    functions: [
      { function: 'main', self: 30_000, total: 100_000 },
      { function: 'rare', file: 'src/rare.js', line: 1, self: 30_000, total: 70_000 },
      { function: 'rare', file: 'src/rare.js', line: 9, self: 40_000, total: 40_000 },
    ],
  },
  {
    repo: 'org/other',
    start: '2026-11-03 12:00:00',
    functions: [{ function: 'main', self: 100_000 }],
  },
]

/** Runs a question, and returns its answer. @param {string[]} args */
async function json(...args) {
  const { code, stdout, stderr } = await cli(['lake', ...args, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('times are summed, and quantiles are over all runs', async () => {
  const lake = await writeLake(RUNS)
  const { runs, busyMs, first, last, rows } = await json('top', lake, '--repo', 'org/app')
  assert.deepEqual([runs, busyMs], [3, 300])
  assert.deepEqual([first, last], ['2026-11-01 23:59:59.999', '2026-11-03 12:00:00'])
  const brief = rows.map((/** @type {any} */ row) => [
    row.name,
    row.place,
    row.runs,
    row.selfMs,
    row.totalMs,
    row.share.toFixed(3),
    row.meanMs.toFixed(2),
    row.medianMs,
    row.p95Ms.toFixed(1),
  ])
  assert.deepEqual(brief, [
    ['chunk', 'lodash/chunk.js', 2, 130, 130, '0.433', '43.33', 50, '77.0'],
    ['rare', 'src/rare.js', 2, 110, 140, '0.367', '36.67', 40, '67.0'],
    ['main', 'src/main.js', 3, 60, 300, '0.200', '20.00', 20, '29.0'],
  ])
})

test('rows are of what is asked for', async () => {
  const lake = await writeLake(RUNS)
  for (const [by, expected] of /** @type {[string, any[]][]} */ ([
    [
      'file',
      [
        ['src/main.js', 160],
        ['chunk.js', 130],
        ['src/rare.js', 110],
      ],
    ],
    [
      'packages',
      [
        ['(own code)', 270],
        ['lodash', 130],
      ],
    ],
    ['owner', [['rule no-cycle', 15]]],
    ['label:route', [['route=/a', 30]]],
    ['label:none', []],
  ])) {
    const { rows } = await json('top', lake, '--by', by)
    const found = rows.map((/** @type {any} */ { name, selfMs }) => [name, selfMs])
    assert.deepEqual(found, expected, by)
  }
  const { rows, notes } = await json('top', lake, '--by', 'file', '--top', '1')
  assert.deepEqual([rows.length, rows[0].totalMs], [1, undefined])
  assert.deepEqual(notes, ['the runs are of 2 repositories (--repo chooses one)'])
})

test('functions of one name in other files are other rows, and not all are among the largest', async () => {
  const functions = [30, 10, 20].map((ms, at) => ({
    function: "it's",
    file: `src/${at}.js`,
    self: ms * 1000,
  }))
  const lake = await writeLake([{ start: '2026-11-01 00:00:00', functions }])
  const { rows } = await json('top', lake, '--top', '2')
  const found = rows.map((/** @type {any} */ { place, selfMs }) => [place, selfMs])
  assert.deepEqual(found, [
    ['src/0.js', 30],
    ['src/2.js', 20],
  ])
})

test('runs are chosen by their facts, and by whole days', async () => {
  const lake = await writeLake(RUNS)
  for (const [args, expected] of /** @type {[string[], number][]} */ ([
    [['--branch', 'main'], 2],
    [['--branch', "x' OR '1' = '1"], 0],
    [['--commit', 'aaa'], 2],
    [['--commit', 'aaa222'], 1],
    [['--commit', '%'], 0],
    [['--host', 'one'], 1],
    [['--job', 'build'], 1],
    [['--repo', 'org/other'], 1],
    [['--since', '2026-11-02'], 3],
    [['--until', '2026-11-01'], 1],
    [['--since', '2026-11-02', '--until', '2026-11-02'], 1],
    [['--since', '1h'], 0],
    [['--since', '0.5d'], 0],
    // Before the first year: all.
    [['--since', '1000000d'], 4],
    [['--since', '100000w'], 4],
  ])) {
    assert.equal((await json('top', lake, ...args)).runs, expected, args.join(' '))
  }
  for (const time of ['yesterday', '2026-02-30', '5', '-1d', '1.5.2d', '1000001d']) {
    const { code, stderr } = await cli(['lake', 'top', lake, `--since=${time}`])
    assert.deepEqual(
      [code, stderr.includes(`'${time}' is not a time for --since`)],
      [2, true],
      time,
    )
  }
})

test('a lake that was compacted, or whose path looks like its folders, gives the same', async () => {
  const above = path.join(temporaryDirectory(), "repo=x[1]*'", 'date=no', 'self_us=3')
  const expected = await json('top', await writeLake(RUNS))
  for (const compacted of [false, true]) {
    const folder = path.join(above, String(compacted))
    assert.deepEqual(await json('top', await writeLake(RUNS, { folder, compacted })), expected)
  }
})

test('a run that was added again counts once', async () => {
  const folder = await writeLake(RUNS)
  const expected = await json('top', folder)
  await writeLake([{ ...RUNS[0], hash: 'f'.repeat(16), id: hex('run 0') }], { folder })
  assert.deepEqual(await json('top', folder), expected)
})

test('columns of a later version, in one of the files, change nothing', async () => {
  const lake = await writeLake(RUNS)
  const expected = await json('top', lake)
  const day = path.join(lake, 'v1', 'functions', 'repo=org%2Fapp', 'date=2026-11-02')
  const [file] = filesIn(day, '.parquet')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const query = `SELECT 1 AS future, * FROM read_parquet('${file}', hive_partitioning = false)`
  await connection.run(`CREATE TABLE made AS ${query}`)
  await connection.run(`COPY made TO '${file}' (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
  assert.deepEqual(await json('top', lake), expected)
})

test('an empty lake has no rows, and no folder is no lake', async () => {
  const lake = path.join(temporaryDirectory(), 'lake')
  const none = await cli(['lake', 'top', lake])
  assert.deepEqual([none.code, none.stdout], [1, ''])
  assert.match(none.stderr, pattern`${messages.noRunInLake} ${lake}`)
  const full = await writeLake(RUNS)
  const { runs, rows, notes } = await json('top', full, '--repo', 'org/none')
  assert.deepEqual([runs, rows, notes], [0, [], [messages.noneChosen]])
})

test('CPU_PROF_LAKE names the lake of a question that names none', async () => {
  const lake = await writeLake(RUNS)
  const env = { CPU_PROF_LAKE: lake }
  for (const words of [
    ['top'],
    ['trend', '--repo', 'org/app'],
    ['blame', '--repo', 'org/app'],
    ['compare', '--base', 'branch=main', '--head', 'branch=next'],
  ]) {
    const named = await cli(['lake', words[0], lake, ...words.slice(1), '--json'])
    const unnamed = await cli(['lake', ...words, '--json'], { env })
    assert.deepEqual([unnamed.code, unnamed.stdout], [0, named.stdout], unnamed.stderr)
    const none = await cli(['lake', ...words])
    assert.deepEqual([none.code, none.stdout], [2, ''])
    assert.match(none.stderr, pattern`${messages.noLake}: .* or set CPU_PROF_LAKE`)
    const wrong = await cli(['lake', ...words], { env: { CPU_PROF_LAKE: 'ftp://u:s3cret@h/x' } })
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /CPU_PROF_LAKE=.* is no lake/)
    assert.doesNotMatch(wrong.stderr, /s3cret/)
  }
})

test('sentences are whole on a narrow screen, and only cells of tables are cut', async () => {
  const lake = await writeLake(RUNS)
  const env = { COLUMNS: '60' }
  for (const question of ['top', 'trend']) {
    const { stdout } = await cli(['lake', question, lake], { env })
    const lines = stdout.split('\n')
    const sentences = lines.slice(0, lines.indexOf(''))
    assert.ok(sentences.length > 2 && !sentences.join('').includes('…'), stdout)
    assert.ok(
      lines.every((line) => line.length <= 60),
      stdout,
    )
    assert.match(sentences.join(' '), /not over calls.*\)/)
  }
})

test('a file that is broken or foreign is named', async () => {
  for (const spoil of [
    (/** @type {string} */ file) => fs.truncateSync(file, fs.statSync(file).size - 9),
    (/** @type {string} */ file) => fs.writeFileSync(file, 'text'),
    (/** @type {string} */ file) =>
      fs.copyFileSync(
        file.replace(`${path.sep}functions${path.sep}`, `${path.sep}groups${path.sep}`),
        file,
      ),
  ]) {
    const lake = await writeLake(RUNS)
    const day = path.join(lake, 'v1', 'functions', 'repo=org%2Fapp', 'date=2026-11-02')
    const [file] = filesIn(day, '.parquet')
    spoil(file)
    const { code, stderr, stdout } = await cli(['lake', 'top', lake])
    assert.deepEqual([code, stdout, stderr.trim().split('\n').length], [1, '', 1])
    assert.ok(stderr.includes(file), stderr)
    assert.match(stderr, /remove it/)
  }
})

test('a DuckDB without a binary says what to do', async () => {
  const script = path.join(temporaryDirectory(), 'without.js')
  const source = `
    const Module = require('node:module')
    const load = Module._load
    Module._load = (name, ...others) => {
      if (name === '@duckdb/node-api') throw new Error('no binary\\nof this system')
      return load(name, ...others)
    }`
  fs.writeFileSync(script, source)
  const lake = await writeLake(RUNS)
  const env = { NODE_OPTIONS: `--require ${script}` }
  const { code, stdout, stderr } = await cli(['lake', 'top', lake], { env })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^cpu-prof: .* cannot be loaded \(no binary\): .*; run: npm install .*-fleet@\S+\n$/,
  )
})
