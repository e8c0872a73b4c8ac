'use strict'

// Measures questions to a lake of many runs, as a compaction leaves it: one file of a repository and day.
// Usage: node bench/lake.js [runs] [functions of a run] [rounds]

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { DuckDBInstance } = require('@duckdb/node-api')
const { copyTo } = require('../cli/lake/compact/rewrite.js')
const { openLake } = require('../cli/lake/duckdb.js')
const { COLUMNS } = require('../cli/lake/schema.js')
const { costliest } = require('../cli/lake/top.js')
const queries = require('../cli/lake/query/queries.js')

const [RUNS, FUNCTIONS, ROUNDS] = [10_000, 1_180, 3].map(
  (value, at) => Number(process.argv[at + 2]) || value,
)
const DAYS = 60
const REPOS = 4
const TABLES = /** @type {const} */ (['functions', 'groups'])

/** Returns facts of the run `r` as SQL. */
const FACTS = `md5(CAST(r AS VARCHAR))[1:16] AS run_id,
  TIMESTAMP '2026-09-01' + INTERVAL 1 DAY * (r // ${RUNS / DAYS}) + INTERVAL 1 SECOND * (r % 86400) AS started_at,
  md5(CAST(r // 10 AS VARCHAR)) AS "commit", CAST(r // 10 AS INTEGER) AS commit_seq, 'main' AS branch,
  'build' AS job, 'host-' || (r % 7) AS host, 'v20.20.0' AS node, 'cpu-prof 0.1.0' AS tool,
  CAST(${FUNCTIONS} * 500 AS BIGINT) AS busy_us, CAST(${FUNCTIONS} * 900 AS BIGINT) AS duration_us,
  CAST(${FUNCTIONS} AS BIGINT) AS samples_run, 1000 AS interval_us`

/** Writes the lake, and returns the count of its files. @param {string} lake */
async function write(lake) {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  let files = 0
  for (let day = 0; day < DAYS; day++) {
    for (let repo = 0; repo < REPOS; repo++) {
      const [first, last] = [day, day + 1].map((each) => Math.ceil((each * RUNS) / DAYS))
      const runs = `(SELECT r FROM range(${first}, ${last}) AS t(r) WHERE r % ${REPOS} = ${repo})`
      const functions = `SELECT ${FACTS}, CAST(f AS INTEGER) AS function_id,
        CASE WHEN f % 3 = 0 THEN '(own code)' ELSE 'package-' || (f % 40) END AS package,
        'src/file-' || (f % 200) || '.js' AS file, 'function' || f AS "function",
        CAST(f AS INTEGER) AS line, 1 AS col,
        CAST((hash(r, f) % 1000) * 1000 // (1 + f // 20) AS BIGINT) AS self_us,
        CAST((hash(r, f) % 1000) * 2000 // (1 + f // 20) AS BIGINT) AS total_us, CAST(1 AS BIGINT) AS samples
        FROM ${runs}, range(${FUNCTIONS}) AS u(f)`
      const groups = `SELECT ${FACTS}, 'run' AS kind, '' AS sort, '' AS name,
        CAST(${FUNCTIONS} * 500 AS BIGINT) AS self_us, CAST(${FUNCTIONS} * 500 AS BIGINT) AS total_us
        FROM ${runs}`
      for (const [table, sql] of /** @type {const} */ ([
        ['functions', functions],
        ['groups', groups],
      ])) {
        const date = new Date(Date.UTC(2026, 8, 1 + day)).toISOString().slice(0, 10)
        const folder = path.join(lake, 'v1', table, `repo=org%2Fapp-${repo}`, `date=${date}`)
        fs.mkdirSync(folder, { recursive: true })
        const file = path.join(folder, `c-${String(files).padStart(16, '0')}.parquet`)
        await connection.run(copyTo(table, sql, file))
        const changes = folder.replace(
          `${path.sep}${table}${path.sep}`,
          `${path.sep}changes${path.sep}`,
        )
        fs.mkdirSync(changes, { recursive: true })
        const text = { version: 1, adds: [path.basename(file, '.parquet')], replaces: [] }
        fs.writeFileSync(path.join(changes, '00000001.json'), JSON.stringify(text))
      }
      files++
    }
  }
  connection.closeSync()
  instance.closeSync()
  return files
}

/** @param {string} name @param {() => Promise<unknown>} work */
async function measure(name, work) {
  const times = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  console.log(`${name}: ${times.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`)
}

async function main() {
  const lake = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-lake-'))
  try {
    const files = await write(lake)
    const columns = COLUMNS.functions.length
    console.log(`${RUNS} runs of ${FUNCTIONS} functions, ${files} files, ${columns} columns`)
    const keys = { key_package: '(own code)', key_file: 'src/file-3.js', key_function: 'function3' }
    const view = /** @type {const} */ ({ by: 'commit', total: false, absolute: false })
    const all = { where: '1 = 1', params: {} }
    /** @param {(lake: import('../cli/lake/duckdb.js').Lake) => Promise<any[]>} question */
    const ask = async (question) => {
      const opened = await openLake(lake, { tables: [...TABLES] })
      const rows = await question(opened)
      opened.close()
      if (rows.length === 0) throw new Error('no rows')
    }
    await measure('open', () => ask((lake) => lake.query(queries.summary(all.where))))
    await measure('top', () => ask((lake) => costliest(lake, all, { kind: 'function', rows: 10 })))
    await measure('trend', () =>
      ask((lake) => lake.query(queries.trend('function', all.where, view), keys)),
    )
  } finally {
    fs.rmSync(lake, { recursive: true })
  }
}

main()
