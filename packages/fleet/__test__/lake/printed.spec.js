'use strict'

// What `cpu-prof lake sql --print` prints has one answer: that of DuckDB, of Spark and of ClickHouse. The zone of
// their process changes nothing.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { before, test } = require('node:test')
const { loadDuckdb } = require('../../lake/duckdb.js')
const { plainValue } = require('../../lake/values.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { missing } = require('../../../../__test__/helpers/engines.js')
const { cleanEnv, temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { VENV } = require('../../../../scripts/fleet/engines.js')
const { isClose } = require('../helpers/close.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')

/** A repository whose name engines would take for the end of a text, a variable or a pattern. */
const ODD = `it's/ö %\${env:HOME}\\ {*} "\`$item`
const lake = path.join(temporaryDirectory(), "a 'lake' `of` $runs ö")

/** The options of each question that is asked. */
const ASKED = {
  top: ['top'],
  'top of an odd repository': ['top', '--repo', ODD, '--top', '2'],
  'top of packages': ['top', '--by', 'package', '--since', '2026-11-02', '--branch', 'main'],
  'top of files': ['top', '--by', 'file', '--until', '2026-11-01'],
  'top of owners': ['top', '--by', 'owner'],
  'top of a label': ['top', '--by', 'label:route', '--host', 'fast'],
  trend: ['trend'],
  'trend of days': ['trend', '--by', 'day', '--function', 'src/table.js:renderTable'],
  'trend of a package': ['trend', '--package', 'lodash', '--total', '--job', 'build'],
  'trend of a label': ['trend', '--label', 'route=/users', '--absolute', '--repo', ODD],
  'trend of nothing': ['trend', '--owner', "no'thing \\"],
  compare: ['compare', '--base', 'last=12', '--head', 'date=2026-11-02..'],
  'compare packages': [
    'compare',
    '--by',
    'package',
    '--base',
    `repo=${ODD}`,
    '--head',
    'repo=org/app,last=7',
    '--absolute',
    '--top',
    '1',
  ],
  'compare a label': [
    'compare',
    '--by',
    'label:route',
    '--base',
    'date=..2026-11-02',
    '--head',
    'last=9',
  ],
}

/** DuckDB's answers. @type {Record<string, any[]>} */
const wanted = {}

/** @param {string[]} words */
async function sql(...words) {
  const { code, stdout, stderr } = await cli(['lake', 'sql', lake, ...words])
  assert.equal(code, 0, stderr)
  return stdout
}

/** Returns all statements for an engine. @param {string} engine @returns {Promise<Record<string, string>>} */
async function printed(engine) {
  /** @type {Record<string, string>} */
  const statements = {}
  for (const [name, words] of Object.entries(ASKED)) {
    statements[name] = await sql(...words, '--engine', engine, '--print')
  }
  return statements
}

/** Returns the answers of an engine in Python. @param {string} script @param {string} engine */
async function ask(script, engine) {
  const input = JSON.stringify(await printed(engine))
  const answer = execFileSync(
    path.join(VENV, 'bin', 'python'),
    [path.join(__dirname, '..', 'helpers', script)],
    {
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...cleanEnv(), TZ: 'America/New_York', SPARK_LOCAL_IP: '127.0.0.1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  return JSON.parse(answer)
}

/** Returns a value as all engines write it. @param {unknown} value */
const textOf = (value) => String(value).replace(/\.0+$/, '')

/** Asserts that an engine gave DuckDB's rows, in their order. @param {Record<string, any[]>} given */
function assertSame(given) {
  for (const [name, rows] of Object.entries(wanted)) {
    assert.equal(given[name].length, rows.length, name)
    for (const [at, row] of rows.entries()) {
      const found = given[name][at]
      assert.deepEqual(Object.keys(found).sort(), Object.keys(row).sort(), name)
      for (const [column, value] of Object.entries(row)) {
        const isSame =
          typeof value === 'number'
            ? isClose(found[column], value)
            : textOf(found[column]) === textOf(value)
        assert.ok(isSame, `${name} ${at} ${column}: ${found[column]}, and not ${value}`)
      }
    }
  }
}

before(async () => {
  const folder = lake
  const own = madeRuns({ commits: 5, runs: 4, slowRuns: 5 })
  // A run without a commit, and one at the start of a day in UTC only.
  Object.assign(own[0], { commit: undefined, seq: undefined })
  Object.assign(own[7], { start: '2026-11-02 00:30:00' })
  await writeLake(own, { folder, compacted: true })
  await writeLake(madeRuns({ commits: 2, runs: 3, repo: ODD, seed: 2 }), { folder })
  await writeLake(madeRuns({ commits: 6, runs: 2, branch: 'other', seed: 3 }).slice(8), { folder })
  for (const [name, words] of Object.entries(ASKED)) {
    wanted[name] = JSON.parse(await sql(...words, '--json'))
  }
})

test('what is printed for DuckDB has the rows of the question', async () => {
  const instance = await loadDuckdb().DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  /** @type {Record<string, any[]>} */
  const given = {}
  for (const [name, statement] of Object.entries(await printed('duckdb'))) {
    const rows = (await connection.runAndReadAll(statement)).getRowObjects()
    given[name] = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plainValue(value)])),
    )
  }
  connection.closeSync()
  instance.closeSync()
  assertSame(given)
  for (const [name, { length }] of Object.entries(wanted)) assert.ok(length > 0, name)
})

test('what is printed for Spark has the rows of DuckDB', { skip: missing('spark') }, async () => {
  assertSame(await ask('ask-spark.py', 'spark'))
})

test('what is printed for ClickHouse has the rows of DuckDB', {
  skip: missing('chdb'),
}, async () => {
  assertSame(await ask('ask-chdb.py', 'clickhouse'))
})
