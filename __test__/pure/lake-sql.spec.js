'use strict'

// `cpu-prof lake sql`: values as they are, and no way to other files.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')
const { messages, pattern } = require('../helpers/messages.js')

/** @param {string} lake @param {string} query @param {string[]} options */
const sql = (lake, query, ...options) => cli(['lake', 'sql', lake, query, ...options])

const VALUES =
  "SELECT 9223372036854775807 AS big, 12 AS small, TIMESTAMP '2026-11-01 10:00:00.000001' AS at, " +
  "1.50::DECIMAL(4, 2) AS price, [1, 2] AS list, {'a': DATE '2026-11-01'} AS struct, NULL AS none, " +
  '\'a,"b"\' AS text, 0.5::DOUBLE AS half, true AS yes, 1 AS small'

test('values are exact, in JSON and CSV', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  const json = await sql(lake, VALUES, '--json')
  assert.deepEqual(JSON.parse(json.stdout), [
    {
      ...{ big: '9223372036854775807', small: 12, at: '2026-11-01 10:00:00.000001' },
      ...{ price: '1.50', list: [1, 2], struct: { a: '2026-11-01' }, none: null },
      ...{ text: 'a,"b"', half: 0.5, yes: true, small_1: 1 },
    },
  ])
  const csv = await sql(lake, VALUES, '--csv')
  assert.deepEqual(csv.stdout.split('\n'), [
    'big,small,at,price,list,struct,none,text,half,yes,small',
    '9223372036854775807,12,2026-11-01 10:00:00.000001,1.50,"[1,2]",' +
      '"{""a"":""2026-11-01""}",,"a,""b""",0.5,true,1',
    '',
  ])
})

test('one word is the query, of the lake that CPU_PROF_LAKE names', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 2 }))
  const query = 'SELECT count(DISTINCT run_id) AS runs FROM groups'
  const env = { CPU_PROF_LAKE: lake }
  const short = await cli(['lake', 'sql', query, '--csv'], { env })
  assert.deepEqual([short.code, short.stdout], [0, 'runs\n2\n'], short.stderr)
  const other = await writeLake(madeRuns({ commits: 1, runs: 3 }))
  const named = await cli(['lake', 'sql', other, query, '--csv'], { env })
  assert.equal(named.stdout, 'runs\n3\n')
  for (const [words, told] of /** @type {[string[], RegExp][]} */ ([
    [[query], pattern`${messages.noLake}: .* or set CPU_PROF_LAKE`],
    [[lake, ...query.split(' ')], /too many words: quote the statement/],
    [[], /missing required argument/],
  ])) {
    const { code, stdout, stderr } = await cli(['lake', 'sql', ...words])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, told)
  }
})

test('a table has its numbers at the right, and no control characters', async () => {
  const lake = await writeLake([
    {
      functions: [
        { function: 'a\u001b[31m\nb', self: 5000 },
        { function: '表', self: 123_000 },
      ],
    },
  ])
  const query = 'SELECT self_us, "function" FROM functions ORDER BY 1'
  const { stdout } = await sql(lake, query)
  assert.equal(stdout, 'self_us  function\n───────  ────────\n   5000  a [31m b\n 123000  表\n')
})

test('the tables are those of the lake, with repository and date', async () => {
  const lake = await writeLake(madeRuns({ commits: 2, runs: 3, repo: 'ö/é=%' }))
  const query =
    'SELECT repo, "date", count(DISTINCT run_id) AS runs FROM groups WHERE kind = \'run\' GROUP BY ALL'
  const { stdout } = await sql(lake, query, '--json')
  assert.deepEqual(JSON.parse(stdout), [{ repo: 'ö/é=%', date: '2026-11-01', runs: 6 }])
  const tables = await sql(lake, 'SHOW TABLES', '--csv')
  assert.equal(tables.stdout, 'name\nfunctions\ngroups\nstack_times\nstacks\nthreads\n')
})

test('a query reads and writes no files, and changes no settings', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  const other = path.join(temporaryDirectory(), 'other.csv')
  fs.writeFileSync(other, 'a\nsecret\n')
  const day = path.join(lake, 'v1', 'functions', 'repo=org%2Fapp', 'date=2026-11-01')
  const own = path.join(day, fs.readdirSync(day)[0])
  const before = fs.readFileSync(own)
  for (const query of [
    `SELECT * FROM read_csv('${other}')`,
    `SELECT * FROM '${other}'`,
    `SELECT * FROM read_text('${own}/../../../../../${path.basename(other)}')`,
    `SELECT * FROM glob('${path.dirname(other)}/*')`,
    `COPY (SELECT 1) TO '${other}'`,
    `COPY (SELECT 1) TO '${own}' (FORMAT parquet)`,
    `EXPLAIN ANALYZE COPY (SELECT 1) TO '${own}' (FORMAT parquet)`,
    `ATTACH '${path.dirname(other)}/new.db'`,
    'SET enable_external_access = true; SELECT 1',
    'RESET lock_configuration',
    'INSTALL httpfs',
    "LOAD 'httpfs'",
    'DROP VIEW groups',
    'SELECT 1; SELECT 2',
    '',
    ' -- nothing',
    'SELEC 1',
    'SELECT nothing FROM groups',
  ]) {
    const { code, stdout, stderr } = await sql(lake, query)
    assert.deepEqual([code, stdout], [1, ''], query)
    assert.match(stderr, /^cpu-prof: [^\n]+\n$/, query)
    assert.doesNotMatch(stderr, /secret| at .*\.js/, query)
  }
  assert.deepEqual(fs.readFileSync(own), before)
  assert.deepEqual(fs.readdirSync(path.dirname(other)), ['other.csv'])
})

test('a lake of another version is refused', async () => {
  const lake = path.join(temporaryDirectory(), 'lake')
  fs.mkdirSync(path.join(lake, 'v2'), { recursive: true })
  const { code, stderr } = await sql(lake, 'SELECT 1')
  assert.equal(code, 1)
  assert.match(stderr, /version/)
})
