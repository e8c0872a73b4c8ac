'use strict'

// The questions of `cpu-prof lake sql`: the statements that it prints for each engine, and the one that it runs.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { DIALECTS } = require('../../lake/query/dialects.js')
const { withFiles } = require('../../lake/query/files.js')
const { QUESTIONS, statementOf } = require('../../lake/query/statements.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')

/** @typedef {keyof typeof DIALECTS} Engine */

const ODD = `it's \\ \${env:HOME} $since`
/** The name as each engine has it. @type {Record<Engine, string>} */
const QUOTED = {
  duckdb: `'it''s \\ \${env:HOME} $since'`,
  spark: "'it\\'s \\\\ \\u0024{env:HOME} \\u0024since'",
  clickhouse: `'it\\'s \\\\ \${env:HOME} $since'`,
}
const ENGINES = /** @type {Engine[]} */ (Object.keys(DIALECTS))
const STEMS = ['a', 'b'].map((digit) => `${digit.repeat(16)}-${digit.repeat(16)}`)

/** @param {string} repo */
const partition = (repo) => ({
  repo,
  date: '2026-11-01',
  stems: STEMS,
  replacedStems: [],
  nextChange: 1,
})

/** @param {string} lake @param {Engine} engine */
const printed = (lake, engine) => {
  const { sql } = statementOf('top', { by: 'package' }, DIALECTS[engine])
  return withFiles(sql, lake, [partition('org/app')], DIALECTS[engine])
}

/** @param {string[]} words */
const sql = (...words) => cli(['lake', 'sql', ...words])

test('values are quoted as each engine reads them, wherever they stand', () => {
  for (const engine of ENGINES) {
    const dialect = DIALECTS[engine]
    const asked = { repo: ODD, branch: ODD, since: '2026-11-01', function: ODD }
    const { sql } = statementOf('trend', asked, dialect)
    assert.equal(sql.split(QUOTED[engine]).length - 1, 7, sql)
    assert.doesNotMatch(sql.replaceAll(QUOTED[engine], ''), /\$|it's/)
    const read = withFiles(sql, '/lake', [partition(ODD)], dialect)
    assert.ok(read.includes(`${QUOTED[engine]} AS repo`), read)
    const sides = statementOf('compare', { base: `repo=${ODD}`, head: `job=${ODD}` }, dialect)
    assert.ok(sides.sql.includes(`repo = ${QUOTED[engine]}`), sides.sql)
    assert.ok(sides.sql.includes(`job = ${QUOTED[engine]}`), sides.sql)
    assert.doesNotMatch(sides.sql.replaceAll(QUOTED[engine], ''), /\$|it's/)
  }
})

test('each engine has its quantile, its times, and its way to read files', () => {
  const day = 'repo=org%2Fapp/date=2026-11-01'
  const [a, b] = STEMS.map((stem) => `${day}/${stem}.parquet`)
  const lake = "/my lake's/`a`"
  const folder = `${lake}/v1/groups`
  const doubled = folder.replace("'", "''")
  const quoted = folder.replace("'", "\\'")
  /** @type {Record<Engine, [quantile: string, files: string, moment: string]>} */
  const wanted = {
    duckdb: [
      'quantile_cont(own, 0.95)',
      `read_parquet(['${doubled}/${a}', '${doubled}/${b}'], `,
      "started_at >= CAST('2026-11-01 00:00:00.000' AS TIMESTAMP)",
    ],
    spark: [
      'percentile(own, 0.95)',
      `parquet.\`file:///my lake's/\`\`a\`\`/v1/groups/{${a},${b}}\``,
      "started_at >= CAST('2026-11-01 00:00:00.000' AS TIMESTAMP_NTZ)",
    ],
    clickhouse: [
      'quantileExactInclusive(0.95)(own)',
      `file('${quoted}/{${a},${b}}', 'Parquet')`,
      "started_at >= toDateTime64('2026-11-01 00:00:00.000', 3, 'UTC')",
    ],
  }
  for (const engine of ENGINES) {
    const [quantile, files, moment] = wanted[engine]
    const text = printed(lake, engine)
    assert.ok(text.includes(quantile), text)
    assert.ok(text.includes(`FROM ${files}`), text)
    assert.doesNotMatch(text, /v1\/functions/)
    assert.match(text, /^WITH groups AS \([^;]*;\n$/)
    const { sql, range } = statementOf('trend', { since: '2026-11-01' }, DIALECTS[engine])
    assert.ok(sql.includes(moment), sql)
    assert.deepEqual(range, { from: '2026-11-01' })
  }
})

test('a bucket has the address that each engine takes', () => {
  const starts = {
    duckdb: "read_parquet(['s3://bucket/a/v1/groups/repo=",
    spark: 'parquet.`s3a://bucket/a/v1/groups/{repo=',
    clickhouse: "s3('s3://bucket/a/v1/groups/{repo=",
  }
  for (const engine of ENGINES) {
    const text = printed('s3://bucket/a/', engine)
    assert.ok(text.includes(starts[engine]), text)
  }
})

test('a path that an engine takes for a pattern is refused', () => {
  for (const lake of ['/a*', '/a?', '/a[1]', '/{a}', '/a,b', '/a\\b']) {
    if (lake.includes(path.sep) && path.sep !== '/') continue
    for (const engine of ENGINES) assert.throws(() => printed(lake, engine), /for a pattern/, lake)
  }
})

test('a question runs in DuckDB, and its numbers are those of its own command', async () => {
  const folder = path.join(temporaryDirectory(), 'a lake')
  const lake = await writeLake(madeRuns({ commits: 4, runs: 3, repo: ODD }), { folder })
  const own = await cli(['lake', 'top', lake, '--repo', ODD, '--top', '3', '--json'])
  const top = await sql(lake, 'top', '--repo', ODD, '--top', '3', '--json')
  const { rows } = JSON.parse(own.stdout)
  assert.equal(rows.length, 3)
  assert.deepEqual(
    JSON.parse(top.stdout).map((/** @type {any} */ row) => [
      row.function,
      row.runs,
      row.self_sum / 1000,
      row.total_sum / 1000,
      row.median / 1000,
      row.p95 / 1000,
    ]),
    rows.map((/** @type {any} */ row) => [
      row.name,
      row.runs,
      row.selfMs,
      row.totalMs,
      row.medianMs,
      row.p95Ms,
    ]),
  )
  const trend = await sql(lake, 'trend', '--function', 'renderTable', '--by', 'day', '--json')
  const points = await cli([
    'lake',
    'trend',
    lake,
    '--function',
    'renderTable',
    '--by',
    'day',
    '--json',
  ])
  assert.deepEqual(
    JSON.parse(trend.stdout).map((/** @type {any} */ row) => [row.bucket, row.median]),
    JSON.parse(points.stdout).points.map((/** @type {any} */ point) => [point.at, point.median]),
  )
  const sides = ['--base', 'date=2026-11-01', '--head', 'last=3']
  const compared = await sql(lake, 'compare', '--by', 'package', ...sides, '--json')
  const comparison = await cli(['lake', 'compare', lake, ...sides, '--json'])
  const known = JSON.parse(comparison.stdout).rows.filter(
    (/** @type {any} */ row) => row.kind === 'package' && row.measure === 'self',
  )
  assert.equal(known.length, 2)
  for (const { name, base, head } of known) {
    const found = JSON.parse(compared.stdout).find((/** @type {any} */ row) => row.name === name)
    assert.ok(Math.abs(found.base_self - base) < 1e-9, name)
    assert.ok(Math.abs(found.head_self - head) < 1e-9, name)
  }
  const text = await sql(lake, 'top', '--repo', ODD, '--top', '3', '--print')
  const again = await sql(lake, text.stdout, '--json')
  assert.equal(again.stdout, top.stdout, again.stderr)
})

test('wrong uses are told in one line', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  assert.deepEqual(Object.keys(QUESTIONS), ['top', 'trend', 'compare'])
  for (const [words, told, exit] of /** @type {[string[], RegExp, number][]} */ ([
    [['top', '--engine', 'spark'], /--engine spark needs --print/, 2],
    [['top', '--engine', 'hive', '--print'], /Allowed choices are duckdb, spark, clickhouse/, 2],
    [['top', '--print', '--json'], /cannot be used with option '--json'/, 2],
    [['top', '--base', 'last=1'], /the question top has no option --base/, 2],
    [['top', '--by', 'day'], /the question top has no --by day/, 2],
    [['trend', '--by', 'file'], /the question trend has no --by file/, 2],
    [['trend', '--file', 'a', '--total'], /a file has no total time/, 2],
    [['compare', '--base', 'last=1'], /needs --base and --head/, 2],
    [['top', '--repo', 'none', '--print'], /no run of the lake is chosen/, 1],
    [['SELECT 1', '--print'], /--print belongs to a question/, 2],
    [['SELECT 1', '--since', '1d'], /--since belongs to a question/, 2],
  ])) {
    const { code, stdout, stderr } = await sql(lake, ...words)
    assert.deepEqual([code, stdout], [exit, ''], words.join(' '))
    assert.match(stderr, told)
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  }
})
