'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { openLake } = require('../../lake/duckdb.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { missing } = require('../../../../__test__/helpers/engines.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../../../../__test__/helpers/files.js')
const { isClose } = require('../helpers/close.js')
const { addGeneratedRuns } = require('../helpers/generated-runs.js')
const { askSpark, startCluster } = require('../helpers/spark-cluster.js')

// The questions of examples/lake have one answer: that of DuckDB, of a Spark cluster, and of the reports of all runs.

const RUNS = Number(process.env.LAKE_RUNS ?? 1000)
/** Runs that are added after the compaction. */
const LATE = 25
const QUERIES = path.join(PACKAGE, 'examples', 'lake', 'queries')
const QUESTIONS = ['functions', 'packages', 'trend', 'steps']

const dir = temporaryDirectory()
const lake = path.join(dir, 'lake')
/** The sums of the reports. @type {Map<string, import('../helpers/generated-runs.js').Row>} */
const reports = new Map()
/** @type {Record<string, string>} */
let asked = {}

/** Records a program of examples/, and returns the folder of the recordings. @param {string} program */
function record(program) {
  const folder = path.join(dir, path.dirname(program))
  const args = ['bin/cpu-prof.js', 'run', '--no-merge', '--dir', folder, '--']
  execFileSync(process.execPath, [...args, 'node', path.join('examples', program)], {
    cwd: PACKAGE,
    env: cleanEnv(),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return folder
}

/** Returns DuckDB's answers to all questions. @returns {Promise<Record<string, any[]>>} */
async function askDuckdb() {
  const opened = await openLake(lake)
  try {
    /** @type {Record<string, any[]>} */
    const answers = {}
    for (const question of QUESTIONS) {
      const text = fs.readFileSync(path.join(QUERIES, `${question}.sql`), 'utf8')
      const used = Object.keys(asked).filter((name) => text.includes(`:${name}`))
      const params = Object.fromEntries(used.map((name) => [name, asked[name]]))
      answers[question] = await opened.query(text.replace(/([ (=]):(\w+)/g, '$1$$$2'), params)
    }
    return answers
  } finally {
    opened.close()
  }
}

/** Asserts that two engines gave the same rows in the same order. @param {Record<string, any[]>} given @param {Record<string, any[]>} wanted */
function assertSame(given, wanted) {
  for (const question of QUESTIONS) {
    assert.equal(given[question]?.length, wanted[question].length, question)
    // Commits with equal distances are in the order of the last digit.
    if (question === 'steps') {
      for (const rows of [given.steps, wanted.steps]) rows.sort((a, b) => a.seq - b.seq)
    }
    for (const [index, row] of wanted[question].entries()) {
      for (const [name, value] of Object.entries(row)) {
        const found = given[question][index][name]
        const isSame =
          typeof value === 'number' || typeof value === 'bigint'
            ? isClose(found, value)
            : String(found) === String(value)
        assert.ok(isSame, `${question} ${index} ${name}: ${found}, and not ${value}`)
      }
    }
  }
}

before(async () => {
  const recordings = [record('build/main.js'), record('pool/main.js')]
  await addGeneratedRuns(lake, recordings, [0, RUNS - LATE], reports)
  // The files that were replaced are still there, beside those that replace them.
  const { code, stderr } = await cli(['lake', 'compact', lake])
  assert.equal(code, 0, stderr)
  await addGeneratedRuns(lake, recordings, [RUNS - LATE, RUNS], reports)
  const [{ file, name }] = [...reports.values()]
    .filter((row) => row.file.startsWith(PACKAGE))
    .sort((a, b) => b.selfMs - a.selfMs)
  const opened = await openLake(lake, { tables: ['functions'] })
  const rows = await opened.query(
    'SELECT DISTINCT package, file, function FROM functions WHERE file = $file AND function = $name',
    { file, name },
  )
  opened.close()
  assert.equal(rows.length, 1)
  asked = rows[0]
})

test('DuckDB sums up what the reports of all runs say', async () => {
  const { functions } = await askDuckdb()
  assert.ok(functions.every(({ runs }) => Number(runs) <= RUNS))
  /** @type {Map<string, { own: number, withCalls: number }>} */
  const sums = new Map()
  for (const row of functions) {
    const sum = sums.get(`${row.file} ${row.function}`) ?? { own: 0, withCalls: 0 }
    sum.own += Number(row.own_us)
    sum.withCalls += Number(row.with_calls_us)
    sums.set(`${row.file} ${row.function}`, sum)
  }
  assert.equal(sums.size, reports.size)
  for (const { file, name, selfMs, totalMs } of reports.values()) {
    const { own, withCalls } = sums.get(`${file} ${name}`) ?? assert.fail(`${file} ${name}`)
    assert.equal(Math.round(1000 * selfMs), own, `${file} ${name}`)
    assert.equal(Math.round(1000 * totalMs), withCalls, `${file} ${name}`)
  }
})

test('a Spark cluster of two workers gives the answers of DuckDB', {
  skip: missing('spark'),
}, async () => {
  const wanted = await askDuckdb()
  const cluster = await startCluster(dir)
  after(() => cluster.end())
  const parameters = Object.entries(asked).map(([name, value]) => `${name}=${value}`)
  assertSame(await askSpark(cluster.address, lake, [...QUESTIONS, ...parameters]), wanted)
})
