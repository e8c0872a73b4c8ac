'use strict'

// `cpu-prof lake add`: what lands in a lake, once, and what bad inputs and lakes give.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { lakeOf, neededLake } = require('../../base/lake-of.js')
const { openLake } = require('../../lake/duckdb.js')
const { report } = require('../../../../index.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { writeProfile, writeTrace } = require('../../../../__test__/helpers/written.js')

/** @type {import('../../../../__test__/helpers/written.js').Span[]} */
const SPANS = [
  ['main app.js:1 > parse src/parse.js:4', 300],
  ['main app.js:1 > chunk node_modules/lodash/chunk.js:2', 50],
]

/** Writes a recording of a process in a folder, which is not a repository. @param {{ cwd?: string, pid?: number, ms?: number }} [options] */
function recording({ cwd = temporaryDirectory(), pid = 42, ms = 300 } = {}) {
  const [[stack], ...others] = SPANS
  const file = path.join(temporaryDirectory(), 'a.trace.json')
  return writeTrace(file, { cwd, pid, spans: [[stack, ms], ...others] })
}

/** Returns stderr without what made-up recordings lack. @param {string} stderr */
const withoutTime = (stderr) => stderr.replace(pattern`^cpu-prof: ${messages.noStart}: .*\n`, '')

/** Returns all paths of files below a folder. @param {string} folder */
function filesBelow(folder) {
  if (!fs.existsSync(folder)) return []
  const entries = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return entries.filter((name) => fs.statSync(path.join(folder, name)).isFile()).sort()
}

/** Asks a lake. @param {string} lake @param {string} sql */
async function query(lake, sql) {
  const opened = await openLake(lake)
  try {
    return await opened.query(sql)
  } finally {
    opened.close()
  }
}

test('a run is added once, with its facts, and its sums are those of the report', async () => {
  const run = recording()
  const lake = path.join(temporaryDirectory(), 'lake')
  const facts = [
    '--repo',
    'org/app',
    '--commit',
    'abc1234',
    '--commit-seq',
    '7',
    '--branch',
    'main',
  ]
  const args = ['lake', 'add', run, '--to', lake, ...facts, '--job', 'lint', '--host', 'h']
  const first = await cli(args)
  assert.equal(first.code, 0, first.stderr)
  assert.match(
    first.stdout,
    /^added to the lake \S+: run [0-9a-f]{16} \(org\/app abc1234 main; \d+ kB, \d+ functions, 350 samples\)\n$/,
  )
  assert.equal(withoutTime(first.stderr), '')
  const before = filesBelow(lake)
  assert.equal(before.length, 5)
  assert.ok(
    before.every((file) => file.includes('repo=org%2Fapp')),
    before.join('\n'),
  )

  const again = await cli(args)
  assert.deepEqual([again.code, withoutTime(again.stderr)], [0, ''])
  assert.match(
    again.stdout,
    /^already in the lake \S+: run [0-9a-f]{16} \(org\/app abc1234 main\)\n$/,
  )
  assert.deepEqual(filesBelow(lake), before)

  const rows = await query(
    lake,
    `SELECT repo, "commit", commit_seq AS seq, branch, job, host, count(DISTINCT run_id) AS runs,
       sum(self_us) AS self FROM functions GROUP BY ALL`,
  )
  const { functions } = await report(run)
  const self = Math.round(functions.reduce((sum, { selfMs }) => sum + 1000 * selfMs, 0))
  const told = {
    repo: 'org/app',
    commit: 'abc1234',
    seq: 7,
    branch: 'main',
    job: 'lint',
    host: 'h',
  }
  assert.deepEqual(
    rows.map((row) => ({ ...row, self: Number(row.self), runs: Number(row.runs) })),
    [{ ...told, runs: 1, self }],
  )
})

test('--replace writes other facts, and readers see the run once', async () => {
  const run = recording()
  const lake = path.join(temporaryDirectory(), 'lake')
  const args = ['lake', 'add', run, '--to', lake, '--repo', 'a/b', '--commit', 'abc1234']
  assert.equal((await cli([...args, '--job', 'one'])).code, 0)
  const replaced = await cli([...args, '--job', 'two', '--replace', '--json'])
  assert.equal(replaced.code, 0, replaced.stderr)
  const [result] = JSON.parse(replaced.stdout)
  assert.deepEqual([result.outcome, result.repo, result.job], ['replaced', 'a/b', 'two'])
  const sql = 'SELECT job, count(DISTINCT run_id)::INT AS runs FROM functions GROUP BY job'
  assert.deepEqual(await query(lake, sql), [{ job: 'two', runs: 1 }])
})

test('each run of a folder is a run, and CPU_PROF_LAKE names the lake', async () => {
  const folder = temporaryDirectory()
  for (const pid of [1001, 1002, 1003]) {
    fs.mkdirSync(path.join(folder, `run-${pid}`))
    fs.copyFileSync(recording({ pid, ms: pid }), path.join(folder, `run-${pid}`, 'a.trace.json'))
  }
  const lake = path.join(temporaryDirectory(), 'lake')
  const env = { CPU_PROF_LAKE: lake }
  const { code, stdout, stderr } = await cli(['lake', 'add', folder, '--repo', 'a/b'], { env })
  assert.equal(code, 0, stderr)
  assert.equal(stdout.match(/^added to the lake /gm)?.length, 3)
  const sql = 'SELECT count(DISTINCT run_id)::INT AS runs FROM functions'
  assert.deepEqual(await query(lake, sql), [{ runs: 3 }])
})

test('filters choose what is added, and stdin can have the recording', async () => {
  const lake = path.join(temporaryDirectory(), 'lake')
  const input = fs.readFileSync(recording())
  const args = ['lake', 'add', '-', '--to', lake, '--repo', 'a/b', '--package', 'lodash', '-q']
  const { code, stdout } = await cli(args, { input })
  assert.deepEqual([code, stdout], [0, ''])
  const sql = "SELECT sum(self_us)::INT AS self FROM functions WHERE file = 'src/parse.js'"
  assert.deepEqual(await query(lake, sql), [{ self: null }])
  const rest = 'SELECT sum(self_us)::INT AS self FROM functions'
  assert.deepEqual(await query(lake, rest), [{ self: 50_000 }])
})

test('files are named from the top level of the repository, and credentials never reach the lake', async () => {
  const cwd = fs.realpathSync(temporaryDirectory())
  const origin = 'https://user:s3cret-token@host.example/group/sub/app.git'
  for (const args of [
    ['init', '-q'],
    ['remote', 'add', 'origin', origin],
  ]) {
    assert.equal(spawnSync('git', args, { cwd }).status, 0)
  }
  const lake = path.join(temporaryDirectory(), 'lake')
  const { code, stdout, stderr } = await cli([
    'lake',
    'add',
    recording({ cwd }),
    '--to',
    lake,
    '--json',
  ])
  assert.equal(code, 0, stderr)
  const everything = [stdout, stderr, ...filesBelow(lake)].join('\n')
  assert.doesNotMatch(everything, /s3cret|token/)
  const rows = await query(
    lake,
    "SELECT DISTINCT repo, columns(f -> f = 'file') FROM functions ORDER BY ALL",
  )
  assert.ok(rows.every(({ repo }) => repo === 'group/sub/app'))
  assert.ok(!JSON.stringify(rows).includes(cwd), JSON.stringify(rows))
  const all = await query(lake, 'SELECT * FROM functions')
  assert.doesNotMatch(
    JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? 0 : value)),
    /s3cret/,
  )
})

test('a recording that cannot be read does not keep others out', async () => {
  const lake = path.join(temporaryDirectory(), 'lake')
  const broken = path.join(temporaryDirectory(), 'b.trace.json')
  fs.writeFileSync(broken, 'not a trace')
  const cut = path.join(temporaryDirectory(), 'c.trace.json')
  const whole = fs.readFileSync(recording({ pid: 77 }))
  fs.writeFileSync(cut, whole.subarray(0, whole.length - 60))
  const inputs = [broken, '/nowhere/at/all', cut, recording()]
  const { code, stdout, stderr } = await cli([
    'lake',
    'add',
    ...inputs,
    '--to',
    lake,
    '--repo',
    'a/b',
  ])
  assert.equal(code, 1)
  assert.equal(stdout.match(/^added to the lake /gm)?.length, 2, stdout + stderr)
  assert.match(
    stderr,
    new RegExp(pattern`^cpu-prof: ${messages.notAdded} \S+: \S+b\.trace\.json: `, 'm'),
  )
  assert.match(
    stderr,
    new RegExp(pattern`^cpu-prof: ${messages.notAdded} \S+: /nowhere/at/all: `, 'm'),
  )
})

test('a .cpuprofile of Node is a run too', async () => {
  const file = writeProfile(path.join(temporaryDirectory(), 'x.cpuprofile'), SPANS)
  const lake = path.join(temporaryDirectory(), 'lake')
  const { code, stdout, stderr, cwd } = await cli(['lake', 'add', file, '--to', lake])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^added to the lake /)
  // Without git and without a working directory of the recording, the folder names the repository.
  assert.ok(stdout.includes(` (${path.basename(cwd)};`), stdout)
  assert.match(stderr, pattern`${messages.commitUnknown}`)
})

test('two writers of one run at once leave one run', async () => {
  const run = recording()
  const lake = path.join(temporaryDirectory(), 'lake')
  const args = ['lake', 'add', run, '--to', lake, '--repo', 'a/b', '--commit', 'abc1234']
  const jobs = ['one', 'two', 'three', 'one']
  const endings = await Promise.all(jobs.map((job) => cli([...args, '--job', job])))
  for (const { code, stderr } of endings) assert.deepEqual([code, withoutTime(stderr)], [0, ''])
  const sql = 'SELECT count(*)::INT AS rows, count(DISTINCT job)::INT AS jobs FROM functions'
  const { functions } = await report(run)
  const [{ rows, jobs: seen }] = await query(lake, sql)
  assert.ok(
    rows >= functions.length && rows <= functions.length + 3,
    `${rows}, ${functions.length}`,
  )
  assert.equal(seen, 1)
  assert.deepEqual(
    await query(lake, "SELECT count(*)::INT AS runs FROM groups WHERE kind = 'run'"),
    [{ runs: 1 }],
  )
})

test('a lake of another version, a lake that is a file, and no lake are clear errors', async () => {
  const run = recording()
  const other = path.join(temporaryDirectory(), 'lake')
  fs.mkdirSync(path.join(other, 'v2', 'functions'), { recursive: true })
  const version = await cli(['lake', 'add', run, '--to', other, '--repo', 'a/b'])
  assert.equal(version.code, 1)
  assert.match(version.stderr, new RegExp(pattern`^cpu-prof: ${messages.notAdded} .*version`, 'm'))
  assert.deepEqual(filesBelow(other), [])

  const file = path.join(temporaryDirectory(), 'lake')
  fs.writeFileSync(file, 'mine')
  const occupied = await cli(['lake', 'add', run, '--to', file, '--repo', 'a/b'])
  assert.deepEqual([occupied.code, occupied.stdout], [1, ''])
  assert.equal(fs.readFileSync(file, 'utf8'), 'mine')

  const none = await cli(['lake', 'add', run])
  assert.equal(none.code, 2)
  assert.match(
    none.stderr,
    pattern`^cpu-prof: ${messages.noLake}: use --to, or set CPU_PROF_LAKE\n$`,
  )
  for (const value of ['-1', '1.5', 'x', '2147483648']) {
    const { code, stderr } = await cli(['lake', 'add', run, '--to', file, '--commit-seq', value])
    assert.equal(code, 2, stderr)
  }
})

test('arguments of programs, which can be secrets, do not reach a lake', async () => {
  const [[stack, ms]] = SPANS
  const lake = path.join(temporaryDirectory(), 'lake')
  const run = writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), {
    pid: 42,
    label: 'deploy',
    argv: ['--token', 's3cret'],
    spans: [[stack, ms]],
  })
  const { code, stderr } = await cli(['lake', 'add', run, '--to', lake, '--repo', 'a/b'])
  assert.equal(code, 0, stderr)
  assert.deepEqual(await query(lake, 'SELECT process FROM threads'), [{ process: 'deploy' }])
})

test('nothing is left in the folder for temporary files', async () => {
  const tmp = temporaryDirectory()
  const lake = path.join(temporaryDirectory(), 'lake')
  const env = { TMPDIR: tmp, TEMP: tmp, TMP: tmp }
  assert.equal(
    (await cli(['lake', 'add', recording(), '--to', lake, '--repo', 'a'], { env })).code,
    0,
  )
  const file = path.join(tmp, 'none')
  fs.writeFileSync(file, '')
  assert.equal((await cli(['lake', 'add', recording(), '--to', `${file}/lake`], { env })).code, 1)
  assert.deepEqual(fs.readdirSync(tmp), ['none'])
})

test('the name of a lake is a folder or an address of S3, and messages have no password', () => {
  const folder = path.resolve('lake')
  assert.equal(lakeOf('lake', { CPU_PROF_LAKE: 's3://b' }), folder)
  assert.equal(lakeOf(undefined, { CPU_PROF_LAKE: 's3://bucket/a/b' }), 's3://bucket/a/b')
  for (const env of [{}, { CPU_PROF_LAKE: '' }]) assert.equal(lakeOf(undefined, env), undefined)
  for (const wrong of [
    '',
    ' ',
    'https://u:s3cret@h/lake',
    's3://',
    's3://k:s3cret@b/x',
    's3://b?s3cret',
  ]) {
    assert.throws(
      () => lakeOf(wrong, {}),
      (/** @type {Error} */ { message }) => {
        assert.match(message, /name a folder, or s3:\/\//)
        assert.doesNotMatch(message, /s3cret/)
        return true
      },
    )
  }
  assert.throws(() => neededLake(undefined, '--to'), pattern`${messages.noLake}`)
})
