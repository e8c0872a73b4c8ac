'use strict'

// Writes the tables of many runs into one file each, with DuckDB.

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { isDefect } = require('@org/cpu-prof/own-packages').defect
const { NO_EXTENSIONS, checkFiles, loadDuckdb } = require('../duckdb.js')
const { listLiteral, literal } = require('../query/dialects.js')

/** @typedef {import('../schema.js').TableName} TableName */

/** The tables, and the order of their rows: what is asked for together stands together. @type {Record<TableName, string>} */
const ORDER = {
  stacks: 'run_id, stack_id',
  stack_times: 'run_id, thread, bucket_us, stack_id, line',
  threads: 'run_id, thread',
  groups: 'kind, sort, name, started_at, run_id',
  functions: 'package, file, "function", started_at, run_id, function_id',
}
const TABLES = /** @type {TableName[]} */ (Object.keys(ORDER))
/** Sums that the files must have before and after. @type {Record<TableName, string>} */
const SUMS = {
  stacks: 'sum(len(frames))',
  stack_times: 'sum(self_us) + sum(samples)',
  threads: 'sum(busy_us)',
  groups: 'sum(self_us)',
  functions: 'sum(self_us) + sum(total_us)',
}
const ROW_GROUP = 50_000
/** Memory that DuckDB takes at the most; what has no place goes to the folder. */
const MEMORY = '512MiB'
const THREADS = 2
/** Digits of a stem's parts. */
const DIGITS = 16
/** The name of a file that has one run. */
const OF_ONE_RUN = /^[0-9a-f]{16}-[0-9a-f]{16}\.parquet$/

/** @typedef {import('@duckdb/node-api').DuckDBConnection} Connection */
/** @typedef {Record<string, string | undefined>} Source the paths of a stem, by table */

/**
 * Writes one sorted file a table, and returns the stem of the files and the count of their runs. A run that is
 * in several sources is taken from the first. Throws if a file cannot be read, or if the sums are not the same
 * before and after.
 * @param {Source[]} sources @param {string} folder private and empty
 * @param {string} salt makes the name of equal contents another
 */
async function rewrite(sources, folder, salt) {
  return withDuckdb(folder, async (connection) => {
    for (const table of TABLES) await checkSources(connection, table, sources)
    const runs = await chooseRuns(connection, sources)
    const hash = crypto.createHash('sha256').update(salt)
    for (const table of TABLES) {
      const target = path.join(folder, `${table}.parquet`)
      await writeTable(connection, table, sources, target)
      for await (const bytes of fs.createReadStream(target)) hash.update(bytes)
    }
    return { stem: `c-${hash.digest('hex').slice(0, DIGITS)}`, runs }
  })
}

/**
 * Calls `work` with a database in memory, whose temporary files are in the folder.
 * @template T @param {string} folder @param {(connection: Connection) => Promise<T>} work @returns {Promise<T>}
 */
async function withDuckdb(folder, work) {
  const duckdb = loadDuckdb()
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    ...NO_EXTENSIONS,
    memory_limit: MEMORY,
    threads: String(THREADS),
    temp_directory: path.join(folder, 'sort'),
  })
  try {
    const connection = await instance.connect()
    try {
      return await work(connection)
    } finally {
      connection.closeSync()
    }
  } catch (error) {
    if (isDefect(error)) throw error
    throw new Error(
      error instanceof Error ? error.message.trimEnd().split('\n', 1)[0] : String(error),
    )
  } finally {
    instance.closeSync()
  }
}

/**
 * Throws if a file is not of the table, or has another run than its name says: somebody put it there.
 * @param {Connection} connection @param {typeof TABLES[number]} table @param {Source[]} sources
 */
async function checkSources(connection, table, sources) {
  const files = sources.flatMap((source) => source[table] ?? [])
  if (files.length === 0) return
  await checkFiles(connection, /** @type {any} */ (table), files)
  const plain = files.filter((file) => OF_ONE_RUN.test(path.basename(file)))
  if (plain.length === 0) return
  const reader = await connection.runAndReadAll(
    `SELECT DISTINCT lake_file FROM read_parquet(${listLiteral(plain)}, filename = 'lake_file', union_by_name = true,
       hive_partitioning = false) WHERE parse_filename(lake_file)[:${DIGITS}] <> run_id LIMIT 1`,
  )
  const [other] = reader.getRows()
  if (other !== undefined) {
    throw new Error(
      `${other[0]} has another run than its name says: it is not of a lake; remove it`,
    )
  }
}

/**
 * Notes the source that each run is taken from: the first that has the run. Returns the count of runs.
 * @param {Connection} connection @param {Source[]} sources
 */
async function chooseRuns(connection, sources) {
  await connection.run(
    `CREATE TEMP TABLE chosen AS SELECT run_id, min(source) AS source
     FROM (${rowsOf('functions', sources)}) GROUP BY run_id`,
  )
  return Number(await single(connection, 'SELECT count(*) FROM chosen'))
}

/** Returns the SQL of a table's rows with the numbers of their sources. @param {string} table @param {Source[]} sources */
function rowsOf(table, sources) {
  const files = sources.flatMap((source, number) => {
    const file = source[table]
    return file === undefined ? [] : [{ file, number }]
  })
  if (files.length === 0) {
    throw new Error(`the table ${table} has no file: add the runs anew (lake add --replace)`)
  }
  const names = listLiteral(files.map(({ file }) => file))
  const numbers = `[${files.map(({ number }) => number).join(', ')}]`
  return `SELECT file_rows.* EXCLUDE (lake_file), numbered.source
    FROM read_parquet(${names}, filename = 'lake_file', union_by_name = true, hive_partitioning = false) file_rows
    JOIN (SELECT unnest(${names}) AS lake_file, unnest(${numbers}) AS source) numbered USING (lake_file)`
}

/**
 * Writes one table, and reads it back.
 * @param {Connection} connection @param {TableName} table @param {Source[]} sources @param {string} target
 */
async function writeTable(connection, table, sources, target) {
  const source = `SELECT source_rows.* EXCLUDE (source) FROM (${rowsOf(table, sources)}) source_rows
    JOIN chosen USING (run_id, source)`
  await connection.run(copyTo(table, source, target))
  const facts = `SELECT concat_ws(' ', count(*), count(DISTINCT run_id), ${SUMS[table]})`
  const before = await single(connection, `${facts} FROM (${source})`)
  const after = await single(connection, `${facts} FROM read_parquet(${literal(target)})`)
  if (before !== after) throw new Error(`the table ${table} came out wrong (${before}, ${after})`)
}

/**
 * Returns the SQL that writes the rows of a query as the file of a table. Numbers that hardly repeat
 * are most of what a question decodes: the encodings of Parquet's second version take a third of the time.
 * @param {TableName} table @param {string} query @param {string} target
 */
function copyTo(table, query, target) {
  return `COPY (${query} ORDER BY ${ORDER[table]}) TO ${literal(target)}
    (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`
}

/**
 * Returns the index of the file that has a run; -1 if none has.
 * @param {string[]} files with functions @param {string} runId @param {string} folder private and empty
 */
async function fileWith(files, runId, folder) {
  return withDuckdb(folder, async (connection) => {
    for (const [index, file] of files.entries()) {
      const sql = `SELECT count(*) FROM read_parquet(${literal(file)}) WHERE run_id = ${literal(runId)}`
      if (Number(await single(connection, sql)) > 0) return index
    }
    return -1
  })
}

/** Returns the first value of a query as text. @param {Connection} connection @param {string} sql */
async function single(connection, sql) {
  const reader = await connection.runAndReadAll(sql)
  return String(reader.getRows()[0]?.[0])
}

module.exports = { TABLES, copyTo, rewrite, fileWith }
