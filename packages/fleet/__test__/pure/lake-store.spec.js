'use strict'

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { openStore } = require('../../base/store.js')
const { cli, LIMITED } = require('../../../../__test__/helpers/cli.js')
const { cleanEnv, temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { TABLES, stemOf, compactedStem, runFolder, runOf, stemsOf, filesBelow } =
  require('../helpers/lake.js')
const { startServer, variablesOf } = require('../helpers/s3.js')
const { seededRandom } = require('../../../../__test__/helpers/random.js')

const STORE = path.join(__dirname, '..', '..', 'base', 'store.js')
const DAY = { repo: 'org/app', date: '2026-01-31' }
const FUNCTIONS = { tables: ['functions'] }
/** Returns the folder of a table in the day. @param {string} lake @param {string} table */
const dayOf = (lake, table) => path.join(lake, 'v1', table, 'repo=org%2Fapp', 'date=2026-01-31')

function newLake() {
  const lake = path.join(temporaryDirectory(), 'some', 'lake')
  return { lake, store: openStore(lake) }
}

test('a run is added once, with all its tables', async () => {
  const { lake, store } = newLake()
  assert.equal(store.isRemote, false)
  const run = runOf(1)
  assert.deepEqual(await store.addRun(run), { outcome: 'added' })
  assert.deepEqual(await store.addRun(run), { outcome: 'present' })
  assert.deepEqual(await store.addRun(runOf(1, 2)), { outcome: 'present' })
  const { partitions, files, ignored } = await store.live({ tables: TABLES })
  const partition = { ...DAY, stems: [run.stem], replacedStems: [], nextChange: 1 }
  assert.deepEqual(partitions, [partition])
  assert.equal(ignored, 0)
  for (const table of TABLES) {
    assert.deepEqual(files[table], [path.join(dayOf(lake, table), `${run.stem}.parquet`)])
    assert.equal(fs.readFileSync(files[table][0], 'utf8'), `${table} ${run.stem}`)
  }
  assert.equal(filesBelow(lake).length, TABLES.length)
})

test('a run is replaced at once, and what was replaced is removed after the grace time', async () => {
  const { lake, store } = newLake()
  await store.addRun(runOf(1, 1))
  const replaced = { ...runOf(1, 2), replace: true }
  assert.deepEqual(await store.addRun(replaced), { outcome: 'replaced' })
  assert.deepEqual(await store.addRun(replaced), { outcome: 'present' })
  const { partitions } = await store.live(FUNCTIONS)
  assert.deepEqual(partitions, [
    { ...DAY, stems: [stemOf(1, 2)], replacedStems: [stemOf(1, 1)], nextChange: 2 },
  ])
  assert.deepEqual(await store.sweep({ graceMs: 3_600_000 }), { removed: 0 })
  assert.deepEqual(await store.sweep({ graceMs: 0 }), { removed: TABLES.length })
  const left = filesBelow(lake).filter((file) => file.endsWith('.parquet'))
  assert.equal(left.length, TABLES.length)
  assert.ok(left.every((file) => file.includes(stemOf(1, 2))))
  await assert.rejects(store.addRun({ ...runOf(1, 1), replace: true }), /cannot come back/)
  assert.deepEqual(await store.addRun({ ...runOf(2), replace: true }), { outcome: 'added' })
})

test('writers of one run at the same moment: it is read once', async () => {
  const { store } = newLake()
  const runs = Array.from({ length: 8 }, (_, content) => runOf(1, content))
  await Promise.all(runs.map((run) => store.addRun(run)))
  const { files } = await store.live({ tables: ['functions', 'stacks'] })
  assert.deepEqual(stemsOf(files.functions), stemsOf(files.stacks))
  assert.equal(files.functions.length, 1)
})

test('replacements at the same moment: each is committed, and the run is read once', async () => {
  const { store } = newLake()
  await store.addRun(runOf(1, 0))
  const runs = Array.from({ length: 6 }, (_, at) => runOf(1, at + 1, { replace: true }))
  const outcomes = await Promise.all(runs.map((run) => store.addRun(run)))
  assert.ok(outcomes.every(({ outcome }) => outcome === 'replaced'))
  const { partitions, files } = await store.live(FUNCTIONS)
  assert.equal(files.functions.length, 1)
  assert.equal(partitions[0].nextChange, runs.length + 1)
})

test('one of the commits with one number is taken', async () => {
  const { store } = newLake()
  for (const run of [1, 2, 3]) await store.addRun(runOf(run))
  const replaces = [1, 2].map((run) => stemOf(run))
  const folder = runFolder('compacted')
  const change = (/** @type {number} */ content, number = 1) => ({
    ...DAY,
    number,
    replaces,
    adds: [{ stem: compactedStem(content), folder }],
  })
  const commits = Array.from({ length: 8 }, (_, content) => store.commit(change(content)))
  const won = (await Promise.all(commits)).map(({ committed }) => committed)
  assert.equal(won.filter(Boolean).length, 1)
  const compacted = compactedStem(won.indexOf(true))
  const { partitions, files } = await store.live(FUNCTIONS)
  assert.deepEqual(stemsOf(files.functions), [stemOf(3), compacted])
  assert.equal(partitions[0].nextChange, 2)
  // A run that was compacted is there, and is not replaced.
  assert.deepEqual(await store.addRun(runOf(1, 5)), { outcome: 'present' })
  await assert.rejects(store.addRun(runOf(1, 5, { replace: true })), /in a compacted file/)
  // The others left files of which a sweep takes care.
  await store.sweep({ graceMs: 0 })
  assert.deepEqual((await store.live(FUNCTIONS)).partitions[0].replacedStems, [])
  assert.deepEqual(await store.commit(change(1)), { committed: false })
  await assert.rejects(store.commit(change(1, 3)), /the next change has the number 2, not 3/)
  const own = { ...change(9, 2), replaces: [compactedStem(9)] }
  await assert.rejects(store.commit(own), /is replaced, and cannot be added again/)
  const back = { ...change(0, 2), adds: [{ stem: stemOf(1), folder }] }
  await assert.rejects(store.commit(back), /is replaced, and cannot be added again/)
})

test('what is wanted is a repository, and days from one to another', async () => {
  const { store } = newLake()
  const names = ['org/app', 'né=% .', '..', 'a\\b:c\n"d"*?<>|']
  const dates = ['2025-12-31', '2026-01-01', '2026-01-02']
  for (const [at, repo] of names.entries()) {
    for (const date of dates) await store.addRun(runOf(at, 1, { repo, date }))
  }
  const dated = async (/** @type {object} */ wanted) =>
    (await store.live({ ...FUNCTIONS, ...wanted })).partitions.map(({ date }) => date)
  const all = await store.live(FUNCTIONS)
  assert.deepEqual(new Set(all.partitions.map(({ repo }) => repo)), new Set(names))
  assert.equal(all.files.functions.length, names.length * dates.length)
  for (const repo of names) {
    assert.deepEqual(await dated({ repo }), dates)
    assert.deepEqual(await dated({ repo, from: '2026-01-01' }), dates.slice(1))
    assert.deepEqual(await dated({ repo, to: '2026-01-01' }), dates.slice(0, 2))
    const day = { from: '2026-01-01', to: '2026-01-01' }
    assert.deepEqual(await dated({ repo, ...day }), dates.slice(1, 2))
  }
  assert.deepEqual(await dated({ repo: 'org' }), [])
  assert.deepEqual(await dated({ from: '2027-01-01' }), [])
})

test('files that are of nothing of ours are ignored, and counted', async () => {
  const { lake, store } = newLake()
  await store.addRun(runOf(1))
  const day = dayOf(lake, 'functions')
  fs.mkdirSync(path.join(lake, 'v1', 'functions', 'year=2026'))
  fs.mkdirSync(path.join(lake, 'v1', 'functions', 'repo=org%2Fapp', 'date=2026-02-30'))
  for (const file of [
    path.join(day, 'data_0.parquet'),
    path.join(day, `${stemOf(2)}.parquet.tmp`),
    path.join(lake, 'v1', 'functions', 'repo=org%2Fapp', 'date=2026-02-30', `${stemOf(3)}.parquet`),
    path.join(lake, 'v1', 'functions', 'year=2026', `${stemOf(3)}.parquet`),
    path.join(lake, 'README.md'),
  ]) {
    fs.writeFileSync(file, '')
  }
  // A killed writer's: not there, and no foreign file.
  fs.writeFileSync(path.join(dayOf(lake, 'stacks'), `${stemOf(4)}.parquet`), '')
  fs.writeFileSync(path.join(day, `${stemOf(5)}.parquet#1`), '')
  const before = await store.live({ tables: ['functions', 'stacks'] })
  assert.deepEqual(
    before.partitions.map(({ stems }) => stems),
    [[stemOf(1)]],
  )
  assert.equal(before.ignored, 3)
  assert.equal(before.files.stacks.length, 1)
  // The two leftovers.
  assert.deepEqual(await store.sweep({ graceMs: 3_600_000 }), { removed: 0 })
  assert.deepEqual(await store.sweep({ graceMs: 0 }), { removed: 2 })
  assert.deepEqual(await store.live({ tables: ['functions', 'stacks'] }), before)
})

test('a lake without runs, of another version, or that is no folder is refused', async () => {
  const { lake, store } = newLake()
  const empty = pattern`${messages.noRunInLake} .*cpu-prof lake add profiles/run --to`
  await assert.rejects(store.live(FUNCTIONS), empty)
  await assert.rejects(store.sweep({ graceMs: 0 }), empty)
  assert.ok(!fs.existsSync(lake))
  fs.mkdirSync(lake, { recursive: true })
  await assert.rejects(store.live(FUNCTIONS), empty)
  fs.mkdirSync(path.join(lake, 'v2'))
  const other = /has the layout v2, and this version .* has v1/
  await assert.rejects(store.live(FUNCTIONS), other)
  await assert.rejects(store.addRun(runOf(1)), other)
  // A folder of a later version beside ours.
  fs.mkdirSync(path.join(lake, 'v1'))
  assert.deepEqual(await store.addRun(runOf(1)), { outcome: 'added' })
  const file = path.join(temporaryDirectory(), 'file')
  fs.writeFileSync(file, '')
  await assert.rejects(openStore(file).live(FUNCTIONS), /is a file, and a lake is a folder/)
  await assert.rejects(openStore(file).addRun(runOf(1)), /cannot be made: .*take another folder/)
})

test('a change that is damaged or missing is told, since runs would count twice', async () => {
  const { lake, store } = newLake()
  await store.addRun(runOf(1))
  for (const content of [2, 3]) await store.addRun(runOf(1, content, { replace: true }))
  const change = path.join(dayOf(lake, 'changes'), '00000001.json')
  const text = fs.readFileSync(change, 'utf8')
  const { by, ...rest } = JSON.parse(text)
  assert.deepEqual(rest, { version: 1, adds: [stemOf(1, 2)], replaces: [stemOf(1, 1)] })
  assert.equal(typeof by, 'string')
  fs.writeFileSync(change, text.slice(0, 20))
  await assert.rejects(store.live(FUNCTIONS), /00000001\.json of the lake is damaged/)
  fs.writeFileSync(change, text.replace('"version":1', '"version":2'))
  await assert.rejects(store.live(FUNCTIONS), /is of another version of cpu-prof/)
  fs.rmSync(change)
  await assert.rejects(store.live(FUNCTIONS), /lacks the change .*00000001\.json/)
  fs.writeFileSync(change, text)
  assert.deepEqual(stemsOf((await store.live(FUNCTIONS)).files.functions), [stemOf(1, 3)])
})

test('a live run that has lost a file is counted', async () => {
  const { lake, store } = newLake()
  await store.addRun(runOf(1))
  fs.rmSync(path.join(dayOf(lake, 'stacks'), `${stemOf(1)}.parquet`))
  const { files, ignored } = await store.live({ tables: ['functions', 'stacks'] })
  assert.deepEqual([files.functions.length, files.stacks.length, ignored], [1, 0, 1])
})

test('wrong names, days and folders are told', async () => {
  const { lake, store } = newLake()
  const run = runOf(1)
  for (const [wrong, words] of /** @type {[object, RegExp][]} */ ([
    [{ repo: '' }, /name of the repository is empty/],
    [{ repo: 'x'.repeat(300) }, /empty or too long/],
    [{ date: '2026-02-30' }, /is no date/],
    [{ date: '../../x' }, /is no date/],
    [{ stem: '../x' }, /no name of a run's files/],
    [{ folder: temporaryDirectory() }, /stacks\.parquet is not there/],
  ])) {
    await assert.rejects(store.addRun({ ...run, ...wrong }), words)
  }
  assert.ok(!fs.existsSync(lake))
  await store.addRun(run)
  await assert.rejects(store.live({ tables: ['columns'] }), pattern`${messages.hasTables} stacks, `)
  await assert.rejects(store.live({ ...FUNCTIONS, from: 'today' }), /is no date/)
  const change = { ...DAY, number: 0, adds: [], replaces: [] }
  await assert.rejects(store.commit(change), /0 is no number of a change/)
  for (const [name, words] of /** @type {[string, RegExp][]} */ ([
    ['gs://bucket/x', /gs:\/\/ is not supported: a lake is a folder, or s3:\/\/bucket\/prefix/],
    ['s3://', /is no name of a bucket/],
    ['s3://bucket/../x', /has a prefix that no object store takes/],
  ])) {
    assert.throws(() => openStore(name), words)
  }
})

const KILLS = Number(process.env.KILLS ?? 12)

for (const [name, tokenOf] of /** @type {[string, (count: number) => string][]} */ ([
  ['the same', () => 'next'],
  ['another', (count) => `next${count}`],
])) {
  test(`a list that repeats its page without end is an error: by ${name} token`, async (t) => {
    let count = 0
    const endpoint = await startServer(t, (_, response) => {
      count += 1
      response.end(`<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>
        <Name>bucket</Name><IsTruncated>true</IsTruncated><KeyCount>1</KeyCount><MaxKeys>1</MaxKeys>
        <NextContinuationToken>${tokenOf(count)}</NextContinuationToken>
        <CommonPrefixes><Prefix>lake/v1/</Prefix></CommonPrefixes></ListBucketResult>`)
    })
    const { code, stdout, stderr } = await cli(['lake', 'top', 's3://bucket/lake'], {
      env: variablesOf(endpoint),
      under: LIMITED,
    })
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.match(stderr, /127\.0\.0\.1:\d+ lists the same files again and again, /)
    assert.ok(count < 20, `${count} requests`)
  })
}

test(`${KILLS} kills of a writer: each run is whole or not there`, async (t) => {
  const random = seededRandom(t)
  const { lake, store } = newLake()
  const folder = runFolder('', 300_000)
  const size = fs.statSync(path.join(folder, 'stacks.parquet')).size
  const told = new Set()
  let next = 1
  for (let kill = 0; kill < KILLS; kill++) {
    const args = [STORE, lake, folder, String(next)]
    const child = fork(path.join(__dirname, '..', 'fixtures', 'add-runs.js'), args, {
      env: cleanEnv(),
    })
    const exit = new Promise((resolve) => child.once('exit', resolve))
    child.on('message', (run) => {
      told.add(stemOf(/** @type {number} */ (run)))
      next = Math.max(next, /** @type {number} */ (run) + 1)
    })
    await new Promise((resolve) => child.once('message', resolve))
    setTimeout(() => child.kill('SIGKILL'), random() * 30)
    await exit
    // The one that was killed can be there too.
    next += 1
  }
  const { files, partitions, ignored } = await store.live({ tables: TABLES })
  const stems = partitions[0].stems
  assert.equal(ignored, 0)
  for (const stem of told) assert.ok(stems.includes(stem), `${stem} is lost`)
  assert.ok(stems.length <= told.size + KILLS)
  for (const table of TABLES) {
    // Those of tables that differ in their first bytes.
    const sizes = new Set(files[table].map((file) => fs.statSync(file).size))
    assert.deepEqual([...sizes], [size - 'stacks'.length + table.length])
    assert.deepEqual(stemsOf(files[table]), stems)
  }
  const whole = stems.length * TABLES.length
  t.diagnostic(`${filesBelow(lake).length - whole} files of killed writers, ${stems.length} runs`)
  await store.sweep({ graceMs: 0 })
  assert.equal(filesBelow(lake).length, whole)
  assert.deepEqual((await store.live(FUNCTIONS)).partitions[0].stems, stems)
})
