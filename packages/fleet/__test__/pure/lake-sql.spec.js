'use strict'

// `cpu-prof lake sql`: values as they are, and no way to other files.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { loadDuckdb, openLake } = require('../../lake/duckdb.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')

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
      big: '9223372036854775807',
      small: 12,
      at: '2026-11-01 10:00:00.000001',
      price: '1.50',
      list: [1, 2],
      struct: { a: '2026-11-01' },
      none: null,
      text: 'a,"b"',
      half: 0.5,
      yes: true,
      small_1: 1,
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

/** Options of COPY with which DuckDB needs no file beside the one that it writes. */
const IN_PLACE = '(FORMAT csv, USE_TMP_FILE false)'

/**
 * Statements of each kind. A kind that has no text is undefined.
 * @param {string} own a file of the lake @param {string} beside a folder
 * @returns {Record<string, string[] | undefined>}
 */
const statementsOf = (own, beside) => ({
  INVALID: undefined,
  SELECT: [`SELECT * FROM query('COPY (SELECT 1) TO ''${own}'' ${IN_PLACE}')`],
  INSERT: ['INSERT INTO functions (self_us) VALUES (1)'],
  UPDATE: ['UPDATE functions SET self_us = 0'],
  EXPLAIN: [
    `EXPLAIN COPY (SELECT 1) TO '${own}' ${IN_PLACE}`,
    `/* /* */ EXPLAIN SELECT 1 -- */ EXPLAIN ANALYZE COPY (SELECT 1) TO '${own}' ${IN_PLACE}`,
    `EXPLAIN -- \nANALYZE COPY (SELECT 1) TO '${own}' ${IN_PLACE}`,
    `EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO '${own}' ${IN_PLACE}`,
  ],
  DELETE: ['DELETE FROM functions', 'TRUNCATE functions'],
  PREPARE: [`PREPARE p AS COPY (SELECT 1) TO '${own}' ${IN_PLACE}`],
  CREATE: ['CREATE TABLE t AS SELECT 1', `CREATE OR REPLACE VIEW functions AS SELECT 1`],
  EXECUTE: ['EXECUTE p'],
  ALTER: ['ALTER VIEW functions RENAME TO f'],
  TRANSACTION: ['BEGIN', 'COMMIT', 'CHECKPOINT'],
  COPY: [
    `COPY (SELECT 1) TO '${own}' ${IN_PLACE}`,
    `COPY (SELECT 1) TO '${path.dirname(own)}' (FORMAT parquet, PER_THREAD_OUTPUT true, OVERWRITE true)`,
    `COPY functions FROM '${own}'`,
  ],
  ANALYZE: ['ANALYZE'],
  VARIABLE_SET: ['SET VARIABLE x = 1'],
  CREATE_FUNC: ['CREATE MACRO f() AS 1'],
  DROP: ['DROP VIEW functions'],
  EXPORT: [`EXPORT DATABASE '${beside}'`],
  PRAGMA: [
    `PRAGMA enable_profiling`,
    `PRAGMA profile_output = '${own}'`,
    `PRAGMA import_database('${beside}')`,
  ],
  VACUUM: ['VACUUM'],
  CALL: [`CALL enable_profiling(save_location = '${beside}/p.json', format = 'json')`],
  SET: [`SET temp_directory = '${beside}'`, 'RESET allowed_paths'],
  LOAD: ["LOAD 'httpfs'", 'INSTALL httpfs', `INSTALL '${own}'`],
  RELATION: undefined,
  EXTENSION: undefined,
  LOGICAL_PLAN: undefined,
  ATTACH: [`ATTACH '${beside}/new.db'`, `ATTACH '${own}' AS d`],
  DETACH: ['DETACH memory'],
  MULTI: undefined,
  COPY_DATABASE: ['COPY FROM DATABASE memory TO temp'],
  UPDATE_EXTENSIONS: ['UPDATE EXTENSIONS'],
  MERGE_INTO: ['MERGE INTO functions USING functions ON true WHEN MATCHED THEN DELETE'],
})

test('no kind of statement writes, alone, in EXPLAIN, or in a WITH', async () => {
  const folder = temporaryDirectory()
  const beside = path.join(folder, 'beside')
  fs.mkdirSync(beside)
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  const own = filesOf(lake).find((file) => file.includes('functions')) ?? ''
  const before = contentsOf(lake, folder)
  const kinds = statementsOf(own, beside)
  const known = Object.keys(loadDuckdb().StatementType).filter((key) => /\D/.test(key))
  assert.deepEqual(Object.keys(kinds).sort(), known.sort())
  for (const [kind, texts = []] of Object.entries(kinds)) {
    const opened = await openLake(lake)
    for (const text of texts) {
      for (const start of ['', 'EXPLAIN ', 'EXPLAIN ANALYZE ', 'explain\n(analyze) ']) {
        await assert.rejects(opened.read(start + text), errorWithWords, start + text)
      }
      const query = `WITH x AS (${text}) SELECT * FROM x`
      await assert.rejects(opened.read(query), errorWithWords, query)
      assert.deepEqual(contentsOf(lake, folder), before, `${kind}: ${text}`)
    }
    opened.close()
  }
})

test('functions that could write in a SELECT reach no file', async () => {
  const folder = temporaryDirectory()
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  const own = filesOf(lake).find((file) => file.includes('functions')) ?? ''
  const before = contentsOf(lake, folder)
  for (const place of [own, path.dirname(own), path.join(folder, 'new.json')]) {
    for (const call of [
      `enable_logging(level = 'debug', storage = 'file', storage_path = '${place}')`,
      `enable_profiling(save_location = '${place}', format = 'json')`,
      `read_duckdb('${place}', table_name = 't')`,
    ]) {
      // DuckDB itself ends the process where it finds at its end that it cannot write a log.
      const { stdout, stderr } = await sql(lake, `SELECT * FROM ${call}`)
      assert.notEqual(stdout + stderr, '', call)
      assert.deepEqual(contentsOf(lake, folder), before, call)
    }
  }
})

test('each way to read is let through, also in EXPLAIN', async () => {
  const lake = await openLake(await writeLake(madeRuns({ commits: 1, runs: 1 })))
  try {
    for (const query of [
      'SELECT 1;',
      '-- a comment\nSELECT 1',
      'WITH x AS (SELECT 1) SELECT * FROM x',
      '(SELECT 1)',
      'FROM functions',
      'TABLE functions',
      'VALUES (1)',
      'DESCRIBE functions',
      'SUMMARIZE functions',
      'SHOW TABLES',
      'PRAGMA version',
    ]) {
      assert.ok((await lake.read(query)).rows.length > 0, query)
    }
    for (const start of [
      'EXPLAIN ',
      '-- a comment\n explain ',
      'EXPLAIN ANALYZE ',
      'EXPLAIN (FORMAT json) ',
      'EXPLAIN (ANALYZE, FORMAT json)\n',
    ]) {
      for (const query of [
        'SELECT 1;',
        '(SELECT 1)',
        'WITH x AS (SELECT 1) FROM x',
        'SHOW TABLES',
      ]) {
        const [[name, plan]] = (await lake.read(start + query)).rows
        assert.equal(name, /analyze/i.test(start) ? 'analyzed_plan' : 'physical_plan')
        assert.equal(plan.startsWith('['), /FORMAT json/.test(start) && !/ANALYZE/.test(start))
      }
    }
  } finally {
    lake.close()
  }
})

/** @param {Error} error */
const errorWithWords = ({ message }) => /^[A-Za-z].{15,}/.test(message) && !message.includes('.js')

/** @param {string} folder */
function filesOf(folder) {
  const entries = fs
    .readdirSync(folder, { recursive: true })
    .map((name) => path.join(folder, `${name}`))
  return entries.filter((file) => fs.statSync(file).isFile()).sort()
}

/** Returns the files of folders, with their bytes. @param {string[]} folders */
const contentsOf = (...folders) =>
  folders.flatMap(filesOf).map((file) => [file, fs.readFileSync(file, 'base64')])

test('a lake of another version is refused', async () => {
  const lake = path.join(temporaryDirectory(), 'lake')
  fs.mkdirSync(path.join(lake, 'v2'), { recursive: true })
  const { code, stderr } = await sql(lake, 'SELECT 1')
  assert.equal(code, 1)
  assert.match(stderr, /version/)
})
