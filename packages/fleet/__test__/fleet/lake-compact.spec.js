'use strict'

// `cpu-prof lake compact`: nothing is lost or doubled, also when it is killed, raced or given bad files.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { openLake } = require('../../lake/duckdb.js')
const { openStore } = require('../../base/store.js')
const { compactDay } = require('../../lake/compact/partition.js')
const { replaceCompacted } = require('../../lake/compact/replace.js')
const { TABLES } = require('../../lake/schema.js')
const { lakeTables } = require('../../base/tables.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { hex, madeRuns, writeLake } = require('../helpers/lakes.js')
const { seededRandom } = require('../../../../__test__/helpers/random.js')
const { writeTrace } = require('../../../../__test__/helpers/written.js')

const KILLS = Number(process.env.KILLS ?? 8)
const ALL = ['--older-than', '0d', '--grace', '0s']
/** Everything that must be the same before and after, as one row. */
const SUMS = `SELECT
  (SELECT concat_ws(' ', count(*), count(DISTINCT run_id), sum(self_us), sum(total_us), sum(hash(
    run_id, started_at, "commit", commit_seq, branch, job, host, busy_us, function_id, package, file,
    "function", line, col, self_us, total_us, samples, repo, "date")::HUGEINT)) FROM functions) AS functions,
  (SELECT concat_ws(' ', count(*), sum(self_us), sum(hash(kind, sort, name, total_us, run_id)::HUGEINT))
    FROM groups) AS groups,
  (SELECT concat_ws(' ', count(*), sum(busy_us), sum(hash(run_id, thread, process)::HUGEINT))
    FROM threads) AS threads,
  (SELECT concat_ws(' ', count(*), sum(hash(run_id, stack_id, frames)::HUGEINT)) FROM stacks) AS stacks,
  (SELECT concat_ws(' ', count(*), sum(self_us), sum(hash(run_id, thread, bucket_us, stack_id)::HUGEINT))
    FROM stack_times) AS stack_times`

/** @param {string} lake */
async function sumsOf(lake) {
  const opened = await openLake(lake)
  try {
    return JSON.stringify((await opened.query(SUMS))[0])
  } finally {
    opened.close()
  }
}

/** Returns the files of a table, or of the changes. @param {string} lake @param {string} table */
function filesOf(lake, table) {
  const folder = path.join(lake, 'v1', table)
  if (!fs.existsSync(folder)) return []
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.(parquet|json)$/.test(name)).sort()
}

/** Returns runs with stacks, on a few days of two repositories. */
function runsWithStacks() {
  const runs = [
    ...madeRuns({ commits: 4, runs: 4 }),
    ...madeRuns({ repo: 'org/b', commits: 2, runs: 3 }),
  ]
  return runs.map((run) => ({
    ...run,
    stacks: [0, 1].map((stack_id) => ({ stack_id, frames: [stack_id, 0] })),
    stack_times: [0, 1].map((stack_id) => ({
      thread: 0,
      bucket_us: 0,
      stack_id,
      line: 3,
      self_us: 1000 + stack_id,
      samples: 1,
    })),
  }))
}

test('the runs of a day become one file a table, with the same rows', async () => {
  const lake = await writeLake(runsWithStacks())
  const before = await sumsOf(lake)
  assert.ok(!before.includes('null'), before)
  const { code, stdout, stderr } = await cli(['lake', 'compact', lake, ...ALL])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(
    stdout,
    /^org\/app 2026-11-01: 8 files of 8 runs became one \(\d+ kB became \d+ kB\)\n/,
  )
  assert.equal(await sumsOf(lake), before)
  for (const table of TABLES) {
    const files = filesOf(lake, table)
    assert.equal(files.length, 3, files.join('\n'))
    assert.ok(
      files.every((file) => /\/c-[0-9a-f]{16}\.parquet$/.test(file)),
      files.join('\n'),
    )
  }
  const again = await cli(['lake', 'compact', lake, ...ALL])
  assert.deepEqual([again.code, again.stdout], [0, ''])
  assert.match(again.stderr, /^cpu-prof: nothing to compact in the lake /)
  assert.equal(filesOf(lake, 'changes').length, 3)
})

test('what is compacted keeps the types, and is sorted', async () => {
  const trace = writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), {
    cwd: temporaryDirectory(),
    spans: [
      ['b b.js:1 > a a.js:1', 20],
      ['c node_modules/c/c.js:1', 5],
    ],
  })
  const lake = path.join(temporaryDirectory(), 'lake')
  const other = fs.readFileSync(trace, 'utf8').replaceAll('"ts":', '"ts":1')
  const second = path.join(temporaryDirectory(), 'b.trace.json')
  fs.writeFileSync(second, other)
  for (const input of [trace, second]) {
    assert.equal((await cli(['lake', 'add', input, '--to', lake, '--repo', 'a/b', '-q'])).code, 0)
  }
  const typesOf = async () => {
    const opened = await openLake(lake)
    const types = []
    for (const table of TABLES) types.push(await opened.query(`DESCRIBE SELECT * FROM ${table}`))
    opened.close()
    return types.flat().map(({ column_name, column_type }) => `${column_name} ${column_type}`)
  }
  const before = await typesOf()
  assert.ok(before.includes('started_at TIMESTAMP'), before.join('\n'))
  assert.ok(before.includes('frames INTEGER[]'), before.join('\n'))
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  assert.equal(filesOf(lake, 'functions').length, 1)
  assert.deepEqual(await typesOf(), before)
  const opened = await openLake(lake, { tables: ['functions'] })
  const rows = await opened.query('SELECT package, file, "function" AS f FROM functions')
  opened.close()
  const keys = rows.map(({ package: name, file, f }) => `${name}\0${file}\0${f}`)
  assert.deepEqual(keys, [...keys].sort())
})

test('only old days, and one repository', async () => {
  const day = (/** @type {number} */ ago) =>
    new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  const runs = [0, 1, 8].flatMap((ago) =>
    ['org/a', 'org/b'].flatMap((repo) =>
      madeRuns({ repo, commits: 1, runs: 2 }).map((run) => ({
        ...run,
        id: hex(`${repo} ${ago} ${run.id}`),
        start: `${day(ago)} 00:00:01`,
      })),
    ),
  )
  const lake = await writeLake(runs)
  const compacted = async (/** @type {string[]} */ ...args) => {
    const { code, stdout, stderr } = await cli(['lake', 'compact', lake, '--json', ...args])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout).days.map((/** @type {any} */ { repo, date }) => `${repo} ${date}`)
  }
  assert.deepEqual(await compacted('--older-than', '7d', '--repo', 'org/b'), [`org/b ${day(8)}`])
  assert.deepEqual(await compacted('--older-than', '7d'), [`org/a ${day(8)}`])
  assert.deepEqual(await compacted(), [`org/a ${day(1)}`, `org/b ${day(1)}`])
  assert.deepEqual(await compacted('--older-than', '0d'), [`org/a ${day(0)}`, `org/b ${day(0)}`])
  for (const age of ['1', 'd', '-1d', '1.5', '1y']) {
    assert.equal((await cli(['lake', 'compact', lake, '--older-than', age])).code, 2, age)
  }
})

test('a run that is in two files comes out once, and what comes later joins', async () => {
  const [run, ...others] = madeRuns({ commits: 1, runs: 3 })
  const lake = await writeLake([{ ...run, hash: hex('1') }, { ...run, hash: hex('2') }, ...others])
  const before = await sumsOf(lake)
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  assert.equal(await sumsOf(lake), before)
  assert.equal(filesOf(lake, 'functions').length, 1)

  const later = madeRuns({ commits: 1, runs: 2, seed: 9 })
  await writeLake(later, { folder: lake })
  const all = await sumsOf(lake)
  assert.notEqual(all, before)
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  assert.equal(await sumsOf(lake), all)
  assert.equal(filesOf(lake, 'functions').length, 1)
})

test('replaced files stay for the grace time, for those who still read them', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 3 }))
  const before = await sumsOf(lake)
  assert.equal((await cli(['lake', 'compact', lake, '--older-than', '0d'])).code, 0)
  assert.equal(filesOf(lake, 'functions').length, 4)
  assert.equal(await sumsOf(lake), before)
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  assert.equal(filesOf(lake, 'functions').length, 1)
  assert.equal(await sumsOf(lake), before)
})

test('two compactions at once: each day is compacted once, and both end well', async () => {
  const lake = await writeLake(runsWithStacks())
  const before = await sumsOf(lake)
  const args = ['lake', 'compact', lake, '--older-than', '0d', '--json']
  const endings = await Promise.all([1, 2, 3].map(() => cli(args)))
  const days = []
  for (const { code, stdout, stderr } of endings) {
    assert.deepEqual([code, stderr], [0, ''])
    days.push(...JSON.parse(stdout).days)
  }
  const done = days.filter(({ outcome }) => outcome === 'compacted')
  assert.equal(done.length, 3, JSON.stringify(days))
  assert.equal(await sumsOf(lake), before)
  assert.equal(filesOf(lake, 'changes').length, 3)
})

test('the loser of a race reads the day again', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 4 }))
  const before = await sumsOf(lake)
  const store = openStore(lake)
  const day = { repo: 'org/app', date: '2026-11-01' }
  let races = 0
  /** @type {import('../../base/store.js').Store} */
  const late = {
    ...store,
    async commit(change) {
      if (races++ === 0) assert.equal((await compactDay(store, day)).outcome, 'compacted')
      return store.commit(change)
    },
  }
  assert.deepEqual(await compactDay(late, day), { outcome: 'alone' })
  assert.deepEqual([races, await sumsOf(lake)], [1, before])

  // A store that never takes a change.
  const busy = { ...store, commit: async () => ({ committed: false }) }
  const other = await writeLake(madeRuns({ commits: 1, runs: 2 }))
  const stuck = { ...openStore(other), commit: busy.commit }
  assert.deepEqual(await compactDay(stuck, day), { outcome: 'busy' })
})

test(`${KILLS} kills at random moments lose and double nothing, while others read`, async (t) => {
  const random = seededRandom(t)
  const lake = await writeLake(runsWithStacks())
  const before = await sumsOf(lake)
  const start = performance.now()
  const copy = path.join(temporaryDirectory(), 'copy')
  fs.cpSync(lake, copy, { recursive: true })
  assert.equal((await cli(['lake', 'compact', copy, ...ALL])).code, 0)
  const lastsMs = performance.now() - start
  let killed = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const folder = kill % 5 === 0 ? path.join(temporaryDirectory(), 'lake') : lake
    if (folder !== lake) fs.cpSync(lake, folder, { recursive: true })
    const ms = random() * lastsMs
    const during = (/** @type {import('node:child_process').ChildProcess} */ child) => {
      child.stdin?.end()
      setTimeout(() => child.kill('SIGKILL'), ms)
    }
    const [ending, seen] = await Promise.all([
      cli(['lake', 'compact', folder, '--older-than', '0d'], { during }),
      sumsOf(folder),
    ])
    if (ending.signal === 'SIGKILL') killed++
    assert.equal(seen, before)
    assert.equal(await sumsOf(folder), before)
  }
  assert.ok(killed > 0)
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  assert.equal(await sumsOf(lake), before)
  for (const table of TABLES) assert.equal(filesOf(lake, table).length, 3, table)
})

test('a run in a compacted file is replaced, again and back to what it was', async () => {
  const trace = writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), {
    cwd: temporaryDirectory(),
    spans: [['main app.js:1', 50]],
  })
  const lake = path.join(temporaryDirectory(), 'lake')
  const add = (/** @type {string[]} */ ...args) =>
    cli(['lake', 'add', trace, '--to', lake, '--repo', 'a/b', ...args])
  const { runId, date } = JSON.parse((await add('--job', 'one', '--json')).stdout)[0]
  const more = madeRuns({ commits: 1, runs: 3, repo: 'a/b' })
  await writeLake(
    more.map((run) => ({ ...run, start: `${date} 00:00:00` })),
    { folder: lake },
  )
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  const jobs = async () => {
    const opened = await openLake(lake)
    const sql = `SELECT job, count(DISTINCT run_id)::INT AS runs, (sum(self_us))::INT AS self FROM functions
      WHERE run_id = '${runId}' GROUP BY job`
    const found = await opened.query(sql)
    const [{ runs }] = await opened.query(
      'SELECT count(DISTINCT run_id)::INT AS runs FROM functions',
    )
    opened.close()
    return [found, runs]
  }
  assert.deepEqual(await jobs(), [[{ job: 'one', runs: 1, self: 50_000 }], 4])
  assert.match((await add('--job', 'two')).stdout, /^already in the lake /)
  for (const job of ['two', 'three', 'two', 'one']) {
    const { code, stdout, stderr } = await add('--job', job, '--replace')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^replaced in the lake /)
    assert.deepEqual(await jobs(), [[{ job, runs: 1, self: 50_000 }], 4])
    await openStore(lake).sweep({ graceMs: 0 })
    assert.deepEqual(await jobs(), [[{ job, runs: 1, self: 50_000 }], 4])
  }
  assert.equal(filesOf(lake, 'functions').length, 1)

  // No compacted file has another run.
  const folder = temporaryDirectory()
  const tables = await lakeTables(trace, { repo: 'a/b' }, folder)
  const unknown = { repo: 'a/b', date, stem: tables.stem, folder, runId: '0'.repeat(16) }
  assert.equal(await replaceCompacted(openStore(lake), unknown), false)
})

test('half a file and a foreign Parquet file: the day stays, others are compacted', async () => {
  const lake = await writeLake(runsWithStacks())
  const damaged = path.join(lake, 'v1', 'functions', 'repo=org%2Fapp', 'date=2026-11-01')
  const [first, second] = fs.readdirSync(damaged).map((name) => path.join(damaged, name))
  const whole = fs.readFileSync(first)
  fs.writeFileSync(first, whole.subarray(0, whole.length / 2))
  const half = await cli(['lake', 'compact', lake, ...ALL])
  assert.equal(half.code, 1)
  assert.match(half.stderr, /^cpu-prof: org\/app 2026-11-01 stays as it is: /m)
  assert.equal(fs.readdirSync(damaged).length, 8)
  assert.match(half.stdout, /^org\/app 2026-11-02: .* became one/m)
  assert.match(half.stdout, /^org\/b 2026-11-01: .* became one/m)

  // Another table, and another run.
  const threads = path.join(lake, 'v1', 'threads', 'repo=org%2Fapp', 'date=2026-11-01')
  for (const other of [path.join(threads, path.basename(second)), second]) {
    fs.copyFileSync(other, first)
    const foreign = await cli(['lake', 'compact', lake, ...ALL])
    assert.equal(foreign.code, 1)
    assert.match(
      foreign.stderr,
      /stays as it is: \S+ (lacks columns|has another run).*; remove it$/m,
    )
    assert.equal(fs.readdirSync(damaged).length, 8)
  }

  fs.writeFileSync(first, whole)
  // Names of others are nobody's run.
  fs.copyFileSync(second, path.join(damaged, 'part-0001.snappy.parquet'))
  assert.equal((await cli(['lake', 'compact', lake, ...ALL])).code, 0)
  assert.ok(fs.existsSync(path.join(damaged, 'part-0001.snappy.parquet')))
})

test('a lake of another version, an empty one, and none', async () => {
  const other = temporaryDirectory()
  fs.mkdirSync(path.join(other, 'v2'))
  for (const lake of [other, temporaryDirectory(), '/nowhere/lake']) {
    const { code, stdout, stderr } = await cli(['lake', 'compact', lake])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^cpu-prof: [^\n]+\n$/)
  }
  assert.equal((await cli(['lake', 'compact'])).code, 2)
})
