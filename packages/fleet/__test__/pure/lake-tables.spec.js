'use strict'

// The tables of a run for a lake tell what the report tells, whatever files the recordings are in.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, merge, report } = require('../../../../index.js')
const { lakeTables } = require('../../base/tables.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { tablesOf, filesOf, TABLES } = require('../helpers/lake-tables.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { SYSTEMS } = require('../../../../__test__/helpers/other-systems.js')
const { writeProfile, writeTrace } = require('../../../../__test__/helpers/written.js')

/** @typedef {import('../../../../__test__/helpers/written.js').Span} Span */
/** @typedef {import('../../../../__test__/helpers/written.js').Recorded} Recorded */

const ALL = { top: Number.POSITIVE_INFINITY }
const ESLINT = 'node_modules/eslint/lib'

/** What a thread can do: work of own code, packages, Node and rules; labels, collections, calls that block. @type {Span[]} */
const SPANS = [
  ['(idle)', 300],
  ['main src/app.js:1@3', 40],
  ['main src/app.js:1@4 > parse src/parse.js:7:3@9', 710, { labels: { route: '/a', tenant: 't' } }],
  ['main src/app.js:1 > parse src/parse.js:7:3@12 > chunk node_modules/lodash/chunk.js:3@5', 900],
  ['main src/app.js:1 > parse src/parse.js:7:3 > parse src/parse.js:7:3@9', 50],
  ['main src/app.js:1 > readFileSync node:fs:400:20 > read', 200, { cpuMs: 60 }],
  ['main src/app.js:1 > sort node_modules/.pnpm/x@1.0.0/node_modules/x/lib/x.js:2', 30],
  [
    `runRules ${ESLINT}/linter/linter.js:1046 > ruleErrorHandler ${ESLINT}/linter/linter.js:1171 > Program rules/slow.js:3`,
    25,
  ],
  ['main src/app.js:1 > wait src/app.js:20@21', 120, { waitMs: 50, cpuMs: 70, everyMs: 10 }],
  ['(garbage collector)', 35],
  ['(program)', 15],
  ['main src/app.js:1 > parse src/parse.js:7:3@9', 60, { labels: { route: '/b' } }],
]

/** Writes a recording into a new folder. @param {Recorded} [recorded] */
const write = (recorded) =>
  writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), {
    spans: SPANS,
    cwd: '/srv/repo',
    processKey: 'k1',
    ...recorded,
  })

/** Writes a run: a launcher, the program with a worker, and a child on two clocks. */
function writeRun() {
  const folder = temporaryDirectory()
  /** @param {string} name @param {Recorded} recorded */
  const add = (name, recorded) =>
    writeTrace(path.join(folder, name), { cwd: '/srv/repo', spans: SPANS, ...recorded })
  add('npm.trace.json', { pid: 5, label: 'npm', argv: ['run', 'x'], processKey: 'k5' })
  add('main.trace.json', { pid: 7, ppid: 5, ancestors: [5], processKey: 'k7', start: 1e9 + 3e5 })
  add('worker.trace.json', { pid: 7, ppid: 5, tid: 3, processKey: 'k7', start: 1e9 + 1_234_567 })
  add('child.trace.json', { pid: 9, ppid: 7, processKey: 'k9', label: 'child', start: 1e9 + 5e5 })
  return folder
}

/** Returns microseconds. @param {number} ms */
const us = (ms) => Math.round(ms * 1000)
/** Returns rows that an order makes comparable. @param {any[][]} rows */
const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort()

/**
 * Checks that the tables have the numbers of the report.
 * @param {string | string[]} inputs @param {Record<string, any>} [selection]
 * @param {boolean} [isExact] whether times are round, so that no microsecond is lost
 */
async function assertLikeReport(inputs, selection = {}, isExact = true) {
  const told = await report(inputs, { ...ALL, ...selection })
  const tables = await tablesOf(inputs, { root: '/srv/repo' }, selection)
  const { query } = tables
  // Functions, with the places of which the report has whole paths.
  const functions = await query('SELECT * FROM functions')
  assert.ok(functions.length > 0)
  assert.deepEqual(
    sorted(
      functions.map((row) => [
        row.package,
        row.function,
        row.line,
        row.col,
        row.self_us,
        row.total_us,
      ]),
    ),
    sorted(
      told.functions.map((row) => [
        row.package,
        row.name,
        row.line || null,
        row.column || null,
        us(row.selfMs),
        us(row.totalMs),
      ]),
    ),
  )
  assert.equal(tables.functions, functions.length)
  assert.deepEqual(
    functions.map((row) => row.function_id),
    functions.map((_, id) => id),
  )
  const ofLines = told.lines.reduce((sum, { samples }) => sum + samples, 0)
  assert.equal(
    functions.reduce((sum, row) => sum + row.samples, 0),
    ofLines,
  )
  for (const [kind, list] of /** @type {[string, any[]][]} */ ([
    ['package', told.packages.map((row) => ['', row.name, us(row.selfMs), us(row.totalMs)])],
    ['owner', told.owners.map((row) => [row.kind, row.name, us(row.selfMs), us(row.totalMs)])],
  ])) {
    const rows = await query(`SELECT * FROM groups WHERE kind = '${kind}'`)
    assert.deepEqual(
      sorted(rows.map((row) => [row.sort, row.name, row.self_us, row.total_us])),
      sorted(list),
    )
  }
  const labels = await query("SELECT * FROM groups WHERE kind = 'label'")
  const expected = []
  for (const key of told.labelKeys) {
    const byKey = await report(inputs, { ...ALL, ...selection, by: `label:${key}` })
    expected.push(...byKey.labels.map((row) => [key, row.name, us(row.selfMs), us(row.totalMs)]))
  }
  assert.deepEqual(
    sorted(labels.map((row) => [row.sort, row.name, row.self_us, row.total_us])),
    sorted(expected),
  )
  // The run and its threads.
  const { javascriptMs, nativeMs, gcMs } = told.totals
  const [run] = await query("SELECT * FROM groups WHERE kind = 'run'")
  const busyUs = us(javascriptMs) + us(nativeMs) + us(gcMs)
  assert.deepEqual(
    [run.busy_us, run.self_us, run.duration_us],
    [busyUs, busyUs, us(told.durationMs)],
  )
  const threads = await query('SELECT * FROM threads')
  const ofReport = told.processes.flatMap(({ threads, pid, name: process }) =>
    threads.map((thread) => ({ ...thread, pid, process })),
  )
  assert.deepEqual(
    threads.map((row) => [
      row.pid,
      row.tid,
      row.process,
      row.thread_name,
      row.start_us,
      row.end_us - row.start_us,
      row.busy_us,
      row.gc_us,
      row.blocked_us,
      row.idle_us,
      row.cpu_us,
    ]),
    ofReport.map((of) => [
      of.pid,
      of.threadId,
      of.process,
      of.name,
      us(of.startMs),
      us(of.durationMs),
      us(of.javascriptMs) + us(of.nativeMs) + us(of.gcMs),
      us(of.gcMs),
      us(of.blockedMs ?? 0),
      us(of.idleMs),
      of.cpuMs === undefined ? null : us(of.cpuMs),
    ]),
  )
  assert.equal(
    run.samples_run,
    ofReport.reduce((sum, { samples }) => sum + samples, 0),
  )
  // Stacks have the self times of their leaves, and lines those of the report. The times in which a thread was
  // not on a core are whole microseconds in each sample, and what rounding leaves goes to the next sample.
  const ofStacks = await query(`
    SELECT f.function, f.samples, f.self_us, coalesce(s.self_us, 0) AS of_stacks
    FROM functions f LEFT JOIN (
      SELECT frames[1] AS function_id, sum(t.self_us)::BIGINT AS self_us
      FROM stack_times t JOIN stacks USING (stack_id) GROUP BY 1
    ) s USING (function_id)`)
  for (const row of ofStacks) {
    const mostUs = isExact ? 0 : row.samples
    assert.ok(Math.abs(row.self_us - row.of_stacks) <= mostUs, JSON.stringify(row))
  }
  const lines = await query(`
    SELECT f.package, f.function, f.line AS first, t.line, sum(t.self_us)::BIGINT AS self_us
    FROM stack_times t JOIN stacks s USING (stack_id) JOIN functions f ON f.function_id = s.frames[1]
    GROUP BY f.package, f.function, f.line, t.line HAVING sum(t.self_us) > 0`)
  /** @param {any[]} key @param {number} us */
  const add = (key, us) => {
    const text = JSON.stringify(key)
    differences.set(text, (differences.get(text) ?? 0) + us)
  }
  /** @type {Map<string, number>} */
  const differences = new Map()
  for (const row of lines) add([row.package, row.function, row.line], row.self_us)
  let samples = 0
  for (const row of told.lines) {
    add([row.package, row.name, row.line || null], -us(row.selfMs))
    samples += row.samples
  }
  for (const [line, difference] of differences) {
    assert.ok(Math.abs(difference) <= (isExact ? 0 : samples), `${line}: ${difference}`)
  }
  // Each stack once, each row once, all of them in whole seconds of threads that are no launchers.
  const [counts] = await query(`
    SELECT (SELECT count(*) FROM stacks) AS stacks,
      (SELECT count(DISTINCT frames) FROM stacks) AS paths,
      (SELECT count(DISTINCT stack_id) FROM stack_times) AS used,
      (SELECT count(*) FROM stack_times WHERE bucket_us % 1000000 <> 0) AS uneven,
      (SELECT count(*) FROM stack_times WHERE self_us <= 0) AS empty,
      (SELECT count(*) FROM (SELECT DISTINCT thread, bucket_us, stack_id, line FROM stack_times)) AS keys,
      (SELECT count(*) FROM stack_times) AS rows,
      (SELECT count(*) FROM (SELECT run_id FROM functions UNION SELECT run_id FROM groups
        UNION SELECT run_id FROM threads UNION SELECT run_id FROM stacks
        UNION SELECT run_id FROM stack_times)) AS runs`)
  assert.equal(counts.paths, counts.stacks)
  assert.equal(counts.used, counts.stacks)
  assert.deepEqual([counts.uneven, counts.empty, counts.runs], [0, 0, 1])
  assert.equal(counts.keys, counts.rows)
  tables.close()
  return { told, tables }
}

test('one recording has the numbers of its report', async () => {
  await assertLikeReport(write())
})

test('a run of several processes has the numbers of its report, without launchers', async () => {
  const folder = writeRun()
  const { told } = await assertLikeReport(folder)
  assert.ok(told.processes.some(({ launcher }) => launcher))
})

test('selections count as in the report', async () => {
  const folder = writeRun()
  for (const selection of [
    { from: 700, to: 2100 },
    { from: -900 },
    { thread: 'main' },
    { process: '7' },
    { package: 'lodash' },
    { label: 'route=/a' },
    { ignore: 'chunk', from: 250 },
  ]) {
    await assertLikeReport(folder, selection)
  }
})

test('a .cpuprofile has the numbers of its report', async () => {
  const file = path.join(temporaryDirectory(), 'CPU.20260101.010101.7.0.001.cpuprofile')
  await assertLikeReport(writeProfile(file, SPANS, { root: '/srv/repo' }))
})

test('a profile that only counts samples has all its times in the first second', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  writeProfile(file, SPANS)
  const { samples, timeDeltas, ...rest } = JSON.parse(fs.readFileSync(file, 'utf8'))
  fs.writeFileSync(file, JSON.stringify({ ...rest, labels: undefined, labelSets: undefined }))
  const told = await report(file, ALL)
  const { query, close } = await tablesOf(file)
  const rows = await query(`
    SELECT f.function, f.self_us, sum(t.self_us)::BIGINT AS of_stacks, max(t.bucket_us) AS last_us
    FROM stack_times t JOIN stacks s USING (stack_id) JOIN functions f ON f.function_id = s.frames[1]
    GROUP BY f.function_id, f.function, f.self_us`)
  assert.equal(rows.length, told.functions.filter(({ selfMs }) => selfMs > 0).length)
  for (const row of rows) assert.deepEqual([row.self_us, row.last_us], [row.of_stacks, 0])
  close()
})

test('a real recording has the numbers of its report', async () => {
  const cwd = temporaryDirectory()
  const work = `
    const { Worker, isMainThread } = require('node:worker_threads')
    const text = JSON.stringify(Array.from({ length: 5e4 }, (_, i) => ({ i, s: 'x' + i })))
    function parse(until) { let n = 0; while (Date.now() < until) n += JSON.parse(text).length; return n }
    if (isMainThread) new Worker(__filename)
    require('node:child_process').execFileSync(process.execPath, ['-e', 'setTimeout(() => {}, 60)'])
    parse(Date.now() + 1300)`
  fs.writeFileSync(path.join(cwd, 'app.js'), work)
  const { code, stderr } = await cli(
    ['run', '--dir', path.join(cwd, 'run'), '--', process.execPath, 'app.js'],
    { cwd },
  )
  assert.equal(code, 0, stderr)
  const { tables, told } = await assertLikeReport(path.join(cwd, 'run'), {}, false)
  const today = Math.abs(Date.parse(tables.startedAt) - Date.now())
  assert.ok(today < 600_000, tables.startedAt)
  assert.ok(told.functions.some(({ name }) => name === 'parse'))
  assert.ok(!tables.notes.some((note) => note.includes('when it was made')))
})

test('the facts of a run are in its functions and its groups, or null', async () => {
  const facts = {
    commit: 'abc',
    commitSeq: 12,
    branch: 'main',
    job: 'build',
    host: 'h',
    node: 'v1',
  }
  const { query, startedAt, runId, stem, close, folder } = await tablesOf(write(), facts)
  const columns = 'run_id, commit, commit_seq, branch, job, host, node, tool, interval_us'
  const { version } = require('../../../../package.json')
  const expected = { run_id: runId, commit: 'abc', commit_seq: 12, branch: 'main', job: 'build' }
  const more = { host: 'h', node: 'v1', tool: `cpu-prof ${version}`, interval_us: 1000 }
  for (const table of ['functions', 'groups']) {
    assert.deepEqual(await query(`SELECT DISTINCT ${columns} FROM ${table}`), [
      { ...expected, ...more },
    ])
  }
  assert.match(stem, new RegExp(`^${runId}-[0-9a-f]{16}$`))
  assert.match(runId, /^[0-9a-f]{16}$/)
  const [{ at }] = await query('SELECT epoch_ms(started_at) AS at FROM functions LIMIT 1')
  assert.equal(at, Date.parse(startedAt))
  const types = await query('SELECT column_name, column_type FROM (DESCRIBE functions)')
  const typeOf = Object.fromEntries(types.map((row) => [row.column_name, row.column_type]))
  assert.equal(typeOf.started_at, 'TIMESTAMP')
  assert.ok(!types.some(({ column_type: type }) => type.startsWith('U')))
  assert.deepEqual(filesOf(folder), TABLES.map((table) => `${table}.parquet`).sort())
  for (const table of TABLES) {
    const file = path.join(folder, `${table}.parquet`)
    const [{ created_by: by }] = await query(
      `SELECT created_by FROM parquet_file_metadata('${file}')`,
    )
    assert.equal(by, `cpu-prof ${version}`)
    const values = await query(
      `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('${file}')`,
    )
    assert.deepEqual(values, [{ key: 'cpu-prof.lake', value: '1' }])
    const [{ codecs }] = await query(
      `SELECT string_agg(DISTINCT compression) AS codecs FROM parquet_metadata('${file}')`,
    )
    assert.equal(codecs, 'GZIP')
  }
  close()
  const without = await tablesOf(write())
  const [row] = await without.query(`SELECT DISTINCT ${columns} FROM functions`)
  assert.deepEqual(
    [row.commit, row.commit_seq, row.branch, row.job, row.host, row.node],
    [null, null, null, null, null, 'v24.0.0'],
  )
  const [native] = await without.query("SELECT line, col FROM functions WHERE function = 'read'")
  assert.deepEqual(native, { line: null, col: null })
  without.close()
})

test('files have one name on all systems and in all folders', async () => {
  const expected = [
    ['(native)', ''],
    ['(own code)', 'rules/slow.js'],
    ['(own code)', 'src/app.js'],
    ['(own code)', 'src/parse.js'],
    ['eslint', 'lib/linter/linter.js'],
    ['lodash', 'chunk.js'],
    ['node:', 'node:fs'],
    ['x', 'lib/x.js'],
  ]
  for (const { cwd, root } of Object.values(SYSTEMS)) {
    for (const given of new Set([cwd, root])) {
      const { query, close, notes } = await tablesOf(write({ cwd }), { root: given })
      const rows = await query('SELECT DISTINCT package, file FROM functions ORDER BY ALL')
      assert.deepEqual(
        rows.map((row) => [row.package, row.file]),
        expected,
      )
      assert.deepEqual(
        notes.filter((note) => note.includes('root')),
        [],
      )
      close()
    }
  }
  const other = await tablesOf(write(), { root: '/another' })
  const rows = await other.query("SELECT DISTINCT file FROM functions WHERE package = '(own code)'")
  assert.ok(rows.every(({ file }) => file.startsWith('/srv/repo/')))
  assert.ok(other.notes.some((note) => note.includes('no file of the program is in /another')))
  other.close()
})

/** Returns the id of a run. @param {string | string[]} inputs @param {object} [selection] */
async function idOf(inputs, selection = {}) {
  const run = await lakeTables(inputs, { repo: 'o/n' }, temporaryDirectory(), selection)
  return run.runId
}

test('a run has one id, whatever files its recordings are in', async () => {
  const folder = writeRun()
  const id = await idOf(folder)
  const names = fs.readdirSync(folder).map((name) => path.join(folder, name))
  const out = temporaryDirectory()
  const packed = path.join(out, 'packed')
  fs.mkdirSync(packed)
  for (const [number, file] of names.entries()) {
    const bytes = zlib.gzipSync(fs.readFileSync(file))
    fs.writeFileSync(path.join(packed, `${number}.json.gz`), bytes)
  }
  const merged = path.join(out, 'merged.json')
  await merge(folder, merged)
  const mergedTwice = path.join(out, 'twice.json.gz')
  await merge(merged, mergedTwice)
  const profiles = path.join(out, 'profiles')
  fs.mkdirSync(profiles)
  await convert(folder, path.join(profiles, 'x.cpuprofile'))
  for (const [form, inputs] of /** @type {[string, string | string[]][]} */ ([
    ['files', names],
    ['files in another order', [...names].reverse()],
    ['gzip', packed],
    ['merged', merged],
    ['merged twice', mergedTwice],
    ['.cpuprofile', profiles],
    ['traces and .cpuprofile', [folder, profiles]],
  ])) {
    assert.equal(await idOf(inputs), id, form)
  }
  assert.equal(await idOf(folder, { from: 100, to: 1500 }), id, 'a slice')
  assert.equal(await idOf(folder, { package: 'lodash', sourceMaps: false }), id, 'some stacks')
})

test('two recordings of one thread have one id, alone and merged', async () => {
  const folder = temporaryDirectory()
  const first = writeTrace(path.join(folder, '1.trace.json'), { spans: SPANS, processKey: 'k' })
  writeTrace(path.join(folder, '2.trace.json'), { spans: SPANS, processKey: 'k', start: 2e9 })
  const merged = path.join(temporaryDirectory(), 'm.json')
  await merge(folder, merged)
  assert.equal(await idOf(merged), await idOf(folder))
  assert.equal(await idOf(first), await idOf(folder))
})

test('other recordings make other runs', async () => {
  const all = [
    write(),
    write({ processKey: 'k2' }),
    write({ processKey: undefined }),
    write({ processKey: undefined, boot: 'c' }),
    write({ processKey: undefined, processStartMs: 6 }),
    write({ pid: 8 }),
    write({ tid: 1 }),
    write({ start: 1e9 + 1 }),
    writeProfile(path.join(temporaryDirectory(), 'a.cpuprofile'), SPANS),
    writeProfile(path.join(temporaryDirectory(), 'a.cpuprofile'), SPANS, { startUs: 5 }),
    writeProfile(path.join(temporaryDirectory(), 'a.cpuprofile'), SPANS.slice(1)),
    writeRun(),
  ]
  const ids = await Promise.all(all.map((input) => idOf(input)))
  assert.equal(new Set(ids).size, all.length)
  // The name of a file does not matter.
  const named = path.join(temporaryDirectory(), 'CPU.20260101.010101.7.0.001.cpuprofile')
  fs.copyFileSync(all[8], named)
  assert.equal(await idOf(named), ids[8])
})

test('the same tables have the same name, and other facts another', async () => {
  const folder = writeRun()
  fs.utimesSync(path.join(folder, 'main.trace.json'), 1.7e9, 1.7e9)
  const stem = async (/** @type {object} */ facts) => {
    const all = { repo: 'o/n', ...facts }
    return (await lakeTables(folder, all, temporaryDirectory())).stem
  }
  const first = await stem({})
  assert.equal(await stem({}), first)
  const other = await stem({ commit: 'b' })
  assert.notEqual(other, first)
  assert.equal(other.slice(0, 16), first.slice(0, 16))
})

test('a run without a wall time has that of its first file, with a note', async () => {
  const file = write()
  fs.utimesSync(file, 1.7e9, 1.7e9)
  const { date, startedAt, notes, close } = await tablesOf(file)
  assert.deepEqual([date, startedAt], ['2023-11-14', '2023-11-14T22:13:20.000Z'])
  assert.ok(notes.some((note) => note.includes(messages.noStart)))
  close()
  fs.utimesSync(file, 0, 0)
  const early = await tablesOf(file)
  assert.equal(early.date, '1970-01-01')
  assert.ok(early.notes.some((note) => note.includes('before 2000')))
  early.close()
})

test('hostile names and huge times make sound tables', async () => {
  const names = ['a\0b', '\u001b[31m', 'x'.repeat(100_000), "';DROP TABLE x", '😀/../..', '(idle)x']
  const spans = names.map(
    (name) => /** @type {Span} */ ([[{ name, file: `/srv/repo/${name}.js`, line: 3 }], 5]),
  )
  const { query, close } = await tablesOf(
    write({ spans: [...spans, ['f src/a.js:2147483647', 3, { labels: { '': 'v', k: '\0' } }]] }),
  )
  const rows = await query('SELECT function FROM functions')
  // A name of a function has 4096 bytes at most.
  const kept = [...names, 'f'].map((name) => name.replace(/^(x{4093})x+$/, '$1…')).sort()
  const found = rows.map((row) => row.function).sort()
  assert.ok(found.join() === kept.join(), found.map((name) => name.slice(-40)).join())
  close()
  // A sample that lasts for decades is one row.
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  const profile = JSON.parse(fs.readFileSync(writeProfile(file, SPANS), 'utf8'))
  profile.timeDeltas[400] = 1e15
  profile.endTime += 1e15
  fs.writeFileSync(file, JSON.stringify(profile))
  const huge = await tablesOf(file)
  const [{ rows: count }] = await huge.query('SELECT count(*) AS rows FROM stack_times')
  assert.ok(count > 0 && count < 1000, `${count}`)
  huge.close()
})

test('a cut recording is added and told, and what cannot be read is an error that leaves nothing', async () => {
  const file = write()
  const text = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, text.slice(0, text.length * 0.7))
  const cut = await tablesOf(file)
  assert.deepEqual(cut.repaired, [file])
  cut.close()
  const folder = temporaryDirectory()
  const bad = path.join(temporaryDirectory(), 'bad.json')
  fs.writeFileSync(bad, '{"nodes":[')
  for (const [inputs, facts, message] of /** @type {[any, any, RegExp][]} */ ([
    [temporaryDirectory(), {}, pattern`${messages.nothingToRead}`],
    [bad, {}, pattern`${messages.nothingRead}`],
    [path.join(folder, 'missing'), {}, pattern`${messages.nothingRead}`],
    [write(), { commitSeq: 'x' }, /facts of the run are wrong/],
  ])) {
    await assert.rejects(lakeTables(inputs, facts, folder), message)
  }
  assert.deepEqual(filesOf(folder), [])
  const taken = temporaryDirectory()
  fs.mkdirSync(path.join(taken, 'functions.parquet'))
  await assert.rejects(lakeTables(write(), { repo: 'o/n' }, taken), /functions\.parquet/)
  assert.deepEqual(filesOf(taken), ['functions.parquet'])
})
