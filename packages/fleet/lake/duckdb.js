'use strict'

// Opens a lake in DuckDB, which only questions to a lake load: views over the live files.

const os = require('node:os')
const { commandOf, findProject } = require('@org/cpu-prof/own-packages').packageManager
const { isDefect } = require('@org/cpu-prof/own-packages').defect
const { TABLES, columnsOf } = require('./schema.js')
const { openStore } = require('../base/store.js')
const manifest = require('../package.json')
const { listLiteral } = require('./query/dialects.js')
const { plainValue } = require('./values.js')

/** @typedef {import('@duckdb/node-api').DuckDBConnection} Connection */
/** @typedef {import('@duckdb/node-api').DuckDBResultReader} Reader */
/** @typedef {import('./schema.js').TableName} TableName */
/** @typedef {Record<string, string | number | null>} Params values of `$name` in a query */
/**
 * @typedef {object} OpenOptions
 * @property {string} [repo] only this repository
 * @property {string} [from] first day, yyyy-mm-dd
 * @property {string} [to] last day
 * @property {TableName[]} [tables] default: all
 *
 * @typedef {object} Table
 * @property {{ name: string, type: string }[]} columns
 * @property {any[][]} rows
 *
 * @typedef {object} Lake
 * @property {(sql: string, params?: Params) => Promise<Record<string, any>[]>} query
 * @property {(sql: string) => Promise<Table>} read runs one statement of a user, which only reads
 * @property {() => void} close
 */

const NAME = '@duckdb/node-api'
/** Part of the machine's memory that DuckDB may take. It has a folder for nothing more. */
const MEMORY_PART = 0.5
/** Settings of DuckDB that keep it from fetching and loading code. */
const NO_EXTENSIONS = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' }
/** EXPLAIN and its options, after lines of comment. */
const EXPLAIN =
  /^(?:\s|--.*\n)*EXPLAIN\b\s*((?:ANALYZE\b\s*)?(?:\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\)\s*)?)/i
/** The last two folders of a file, as patterns of DuckDB. */
const REPO_IN_PATH = String.raw`[/\\]repo=([^/\\]*)[/\\]date=[^/\\]*[/\\][^/\\]*$`
const DATE_IN_PATH = String.raw`[/\\]date=([^/\\]*)[/\\][^/\\]*$`

/** Returns DuckDB. Throws an error for the user where it has no binary for this system. @returns {typeof import('@duckdb/node-api')} */
function loadDuckdb() {
  try {
    return require('@duckdb/node-api')
  } catch (error) {
    const command = commandOf(findProject(__dirname).manager, manifest)
    throw new Error(
      `${NAME} cannot be loaded (${firstLine(error)}): it supports other systems only, or the install ` +
        `left optional packages out; run: ${command}`,
    )
  }
}

/**
 * Opens the live files of a lake. Views have the names of the tables, and also the columns `repo` and
 * `date`. The database is in memory, and reads no other files.
 * @param {string} lake a folder, or the address of an object store
 * @param {OpenOptions} [options]
 * @returns {Promise<Lake>}
 */
async function openLake(lake, { tables = TABLES, ...range } = {}) {
  const duckdb = loadDuckdb()
  const { files } = await openStore(lake).live({ ...range, tables })
  const instance = await duckdb.DuckDBInstance.create(':memory:', settings())
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  try {
    // The check, the view and each query read the ends of all files: files of a lake do not change.
    await connection.run('SET parquet_metadata_cache = true')
    for (const table of tables) await addView(connection, table, files[table] ?? [])
    await lock(
      connection,
      tables.flatMap((table) => files[table] ?? []),
    )
  } catch (error) {
    close()
    throw error
  }
  return {
    query: async (sql, params) => objectsOf(await run(() => connection.runAndReadAll(sql, params))),
    read: (sql) => readOnly(duckdb, connection, sql),
    close,
  }
}

/** Returns settings that hold from the start. @returns {Record<string, string>} */
function settings() {
  return {
    ...NO_EXTENSIONS,
    memory_limit: `${Math.floor((MEMORY_PART * os.totalmem()) / 2 ** 20)}MiB`,
    // Nothing is written to the working directory where memory is short.
    temp_directory: '',
    threads: String(Math.max(1, os.cpus().length)),
  }
}

/** Adds the view of a table. @param {Connection} connection @param {TableName} table @param {string[]} files */
async function addView(connection, table, files) {
  const columns = columnsOf(table)
  if (files.length === 0) {
    const empty = columns.map(([name, type]) => `CAST(NULL AS ${type}) AS "${name}"`)
    await connection.run(`CREATE VIEW ${table} AS SELECT ${empty.join(', ')} WHERE false`)
    return
  }
  await checkFiles(connection, table, files)
  // DuckDB's own reading of such paths would also take a folder `key=value` above the lake for a column.
  const part = (/** @type {string} */ pattern) => `regexp_extract(lake_file, '${pattern}', 1)`
  const source = `read_parquet(${listLiteral(files)}, hive_partitioning = false,
    union_by_name = true, filename = 'lake_file')`
  const view = `SELECT * EXCLUDE (lake_file), url_decode(${part(REPO_IN_PATH)}) AS repo,
    CAST(${part(DATE_IN_PATH)} AS DATE) AS "date" FROM ${source}`
  await run(() => connection.run(`CREATE VIEW ${table} AS ${view}`))
}

/**
 * Throws an error that names a file that is damaged, or is not such a table.
 * @param {Connection} connection @param {TableName} table @param {string[]} files
 */
async function checkFiles(connection, table, files) {
  const inFile = columnsOf(table).filter(([name]) => name !== 'repo' && name !== 'date')
  const names = listLiteral(inFile.map(([name]) => name))
  const sql = `SELECT file_name, count(DISTINCT name) AS known
    FROM parquet_schema(${listLiteral(files)}) WHERE list_contains(${names}, name)
    GROUP BY file_name`
  /** @type {Record<string, any>[]} */
  let rows
  try {
    rows = objectsOf(await connection.runAndReadAll(sql))
  } catch (error) {
    if (isDefect(error)) throw error
    const text = messageOf(error)
    const file = files.find((file) => text.includes(file))
    if (file === undefined) throw new Error(firstLine(error))
    throw new Error(
      `${file} is not a whole Parquet file: it is damaged, or not of a lake; remove it (${firstLine(error)})`,
    )
  }
  const known = new Map(rows.map(({ file_name, known }) => [file_name, known]))
  const foreign = files.find((file) => known.get(file) !== inFile.length)
  if (foreign !== undefined) {
    throw new Error(
      `${foreign} lacks columns of the table ${table}: it is not of a lake; remove it`,
    )
  }
}

/** Takes away all access but to these files. @param {Connection} connection @param {string[]} files */
async function lock(connection, files) {
  await connection.run(`SET allowed_paths = ${listLiteral(files)}`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
}

/**
 * Runs one statement of a user. All others than SELECT are refused: DuckDB lets a statement write to each
 * path that it may read.
 * @param {typeof import('@duckdb/node-api')} duckdb @param {Connection} connection @param {string} sql
 * @returns {Promise<Table>}
 */
async function readOnly(duckdb, connection, sql) {
  const statement = await prepareOne(duckdb, connection, sql)
  const isExplain = statement.kind === 'EXPLAIN'
  const [start, options] = EXPLAIN.exec(sql) ?? ['', '']
  if (isExplain && start === '') {
    throw new Error('EXPLAIN is not the first word: remove the comment before it')
  }
  const explained = sql.slice(start.length)
  // EXPLAIN ANALYZE runs what it explains.
  const { kind } = isExplain ? await prepareOne(duckdb, connection, explained) : statement
  if (kind !== 'SELECT') {
    const what = isExplain ? `${kind} in EXPLAIN` : kind
    throw new Error(`a query only reads (SELECT, WITH, EXPLAIN, DESCRIBE); this is ${what}`)
  }
  // What runs has the text that was checked, and nothing of what stood before it.
  const prepared = isExplain
    ? await run(() => connection.prepare(`EXPLAIN ${options}${explained}`))
    : statement.prepared
  const reader = await run(() => prepared.runAndReadAll())
  const names = reader.columnNames()
  const types = reader.columnTypes()
  return {
    columns: names.map((name, index) => ({ name, type: String(types[index]) })),
    rows: reader.getRows().map((row) => row.map(plainValue)),
  }
}

/**
 * Prepares a text, which is one statement. Returns the statement and its kind.
 * @param {typeof import('@duckdb/node-api')} duckdb @param {Connection} connection @param {string} sql
 */
async function prepareOne(duckdb, connection, sql) {
  // DuckDB tells an empty list of statements by an error without words.
  const isEmpty = sql.replace(/--.*|;|\s/g, '') === ''
  const statements = isEmpty ? undefined : await run(() => connection.extractStatements(sql))
  if (statements?.count !== 1) {
    throw new Error(`a query is one statement, not ${statements?.count ?? 0}`)
  }
  const prepared = await run(() => statements.prepare(0))
  return { prepared, kind: duckdb.StatementType[prepared.statementType] }
}

/** Passes an error of DuckDB on without its stack. @template T @param {() => Promise<T>} work */
async function run(work) {
  try {
    return await work()
  } catch (error) {
    if (isDefect(error)) throw error
    throw new Error(
      messageOf(error)
        .replace(/^Failed to [a-z ]+: /, '')
        .trimEnd(),
    )
  }
}

/** @param {Reader} reader */
function objectsOf(reader) {
  const names = reader.columnNames()
  return reader
    .getRows()
    .map((row) => Object.fromEntries(names.map((name, at) => [name, plainValue(row[at])])))
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error))

/** @param {unknown} error */
const firstLine = (error) => messageOf(error).split('\n', 1)[0]

module.exports = { NO_EXTENSIONS, checkFiles, loadDuckdb, openLake }
