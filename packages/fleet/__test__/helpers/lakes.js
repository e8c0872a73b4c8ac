'use strict'

// Lakes of made-up runs, whose Parquet files DuckDB writes, with exactly the columns of a lake.

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { DuckDBInstance } = require('@duckdb/node-api')
const { COLUMNS, TABLES } = require('../../lake/schema.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')

/**
 * @typedef {Record<string, any>} Row values by the names of columns; a missing one is NULL
 *
 * @typedef {object} MadeFunction
 * @property {string} function
 * @property {string} [file]
 * @property {string} [package]
 * @property {number} [line]
 * @property {number} self microseconds
 * @property {number} [total] default: self
 *
 * @typedef {object} MadeGroup
 * @property {'package' | 'owner' | 'label'} kind
 * @property {string} [sort]
 * @property {string} name
 * @property {number} self microseconds
 * @property {number} [total]
 *
 * @typedef {object} MadeRun
 * @property {string} [id] 16 hex digits
 * @property {string} [hash] of the content, 16 hex digits
 * @property {string} [repo]
 * @property {string} [start] `2026-11-01 12:00:00`
 * @property {string} [commit]
 * @property {number} [seq] position of the commit
 * @property {string} [branch]
 * @property {string} [job]
 * @property {string} [host]
 * @property {number} [busy] microseconds; default: all self times
 * @property {number} [duration] microseconds; default: busy
 * @property {MadeFunction[]} functions
 * @property {MadeGroup[]} [groups] besides the run and its packages
 * @property {Row[]} [threads] default: one with all the work
 * @property {Row[]} [stacks]
 * @property {Row[]} [stack_times]
 */

/** Returns 16 hex digits. @param {string} text */
const hex = (text) => crypto.createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Returns the rows of all tables of a run. @param {MadeRun} run @param {number} number @returns {Record<string, Row[]>} */
function rowsOf(run, number) {
  const busy = run.busy ?? run.functions.reduce((sum, { self }) => sum + self, 0)
  const facts = {
    run_id: idOf(run, number),
    started_at: startOf(run),
    commit: run.commit,
    commit_seq: run.seq,
    branch: run.branch,
    job: run.job,
    host: run.host,
    node: 'v20.20.0',
    tool: 'cpu-prof 0.1.0',
    busy_us: busy,
    duration_us: run.duration ?? busy,
    samples_run: Math.round(busy / 1000),
    interval_us: 1000,
  }
  /** @type {Map<string, MadeGroup>} */
  const packages = new Map()
  const functions = run.functions.map((made, index) => {
    const { self, total = self, package: of = '(own code)', file = 'src/main.js', line = 1 } = made
    const before = packages.get(of) ?? { kind: 'package', name: of, self: 0, total: 0 }
    const whole = Math.min(busy, (before.total ?? 0) + total)
    packages.set(of, { ...before, self: before.self + self, total: whole })
    return {
      ...facts,
      function_id: index,
      package: of,
      file,
      function: made.function,
      line,
      col: 1,
      self_us: self,
      total_us: total,
      samples: Math.round(self / 1000),
    }
  })
  const groups = [...packages.values(), ...(run.groups ?? [])].map((group) => ({
    ...facts,
    kind: group.kind,
    sort: group.sort ?? '',
    name: group.name,
    self_us: group.self,
    total_us: group.total ?? group.self,
  }))
  const whole = { kind: 'run', sort: '', name: '', self_us: busy, total_us: busy }
  const thread = {
    thread: 0,
    pid: 1,
    tid: 1,
    process: 'main.js',
    thread_name: 'main',
    start_us: 0,
    end_us: facts.duration_us,
    busy_us: busy,
    gc_us: 0,
    program_us: 0,
    blocked_us: 0,
    idle_us: facts.duration_us - busy,
  }
  const withRun = (/** @type {Row[]} */ rows) =>
    rows.map((row) => ({ run_id: facts.run_id, ...row }))
  return {
    functions,
    groups: [{ ...facts, ...whole }, ...groups],
    threads: withRun(run.threads ?? [thread]),
    stacks: withRun(run.stacks ?? []),
    stack_times: withRun(run.stack_times ?? []),
  }
}

/** @param {MadeRun} run @param {number} number */
const idOf = ({ id }, number) => id ?? hex(`run ${number}`)

/** @param {MadeRun} run */
const startOf = ({ start = '2026-11-01 12:00:00' }) => start

/** @param {MadeRun} run @param {number} number */
const stemOf = (run, number) => `${idOf(run, number)}-${run.hash ?? hex(`content ${number}`)}`

/** Returns a repository as the name of a folder: all but letters, digits, `-`, `_` and `.` is encoded. @param {string} repo */
function segmentOf(repo) {
  const encoded = (/** @type {string} */ mark) =>
    `%${mark.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  return encodeURIComponent(repo).replace(/[!'()*~]/g, encoded)
}

/** Returns a value as SQL. @param {any} value @returns {string} */
function sqlOf(value) {
  if (value === undefined || value === null) return 'NULL'
  if (Array.isArray(value)) return `[${value.map(sqlOf).join(', ')}]`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/**
 * Writes a lake, and returns its folder.
 * @param {MadeRun[]} runs
 * @param {{ folder?: string, compacted?: boolean }} [options] compacted: one file of a repository and day
 */
async function writeLake(
  runs,
  { folder = path.join(temporaryDirectory(), 'lake'), compacted } = {},
) {
  fs.mkdirSync(folder, { recursive: true })
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  /** The runs of each file, by its place below the table. @type {Map<string, [MadeRun, number][]>} */
  const files = new Map()
  for (const [number, run] of runs.entries()) {
    const day = `repo=${segmentOf(run.repo ?? 'org/app')}/date=${startOf(run).slice(0, 10)}`
    const stem = compacted ? `c-${hex(day)}` : stemOf(run, number)
    const place = `${day}/${stem}.parquet`
    files.set(place, [...(files.get(place) ?? []), [run, number]])
  }
  for (const [place, held] of files) {
    const all = held.map(([run, number]) => rowsOf(run, number))
    for (const table of [...TABLES].reverse()) {
      const rows = all.flatMap((tables) => tables[table])
      await writeTable(connection, table, rows, path.join(folder, 'v1', table, place))
    }
    if (compacted) {
      const adds = [path.basename(place, '.parquet')]
      const replaces = held.map(([run, number]) => stemOf(run, number))
      const changes = path.join(folder, 'v1', 'changes', path.dirname(place))
      fs.mkdirSync(changes, { recursive: true })
      const text = JSON.stringify({ version: 1, adds, replaces })
      fs.writeFileSync(path.join(changes, '00000001.json'), text)
    }
  }
  connection.closeSync()
  instance.closeSync()
  return folder
}

/**
 * Writes one file of a table.
 * @param {import('@duckdb/node-api').DuckDBConnection} connection
 * @param {import('../../lake/schema.js').TableName} table @param {Row[]} rows @param {string} file
 */
async function writeTable(connection, table, rows, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const columns = COLUMNS[table]
  const types = columns.map(([name, type]) => `"${name}" ${type}`)
  await connection.run(`CREATE OR REPLACE TEMP TABLE made (${types.join(', ')})`)
  for (let start = 0; start < rows.length; start += 1000) {
    const lines = rows
      .slice(start, start + 1000)
      .map((row) => `(${columns.map(([name]) => sqlOf(row[name])).join(', ')})`)
    await connection.run(`INSERT INTO made VALUES ${lines.join(', ')}`)
  }
  await connection.run(`COPY made TO ${sqlOf(file)} (FORMAT parquet, COMPRESSION gzip)`)
}

/** Returns a function that draws numbers from 0 to 1, the same each time. @param {number} seed */
function random(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns runs of a program over many commits: `renderTable` and `parse` of the own code, `chunk` of
 * lodash, below `main`. From one commit on, `renderTable` takes longer.
 * @param {object} [options]
 * @param {number} [options.commits]
 * @param {number} [options.runs] of each commit
 * @param {number} [options.noise] how far a run's times are from the mean, as a part
 * @param {number} [options.step] position of the first commit in which `renderTable` is slower
 * @param {number} [options.factor] how much slower
 * @param {number} [options.slowRuns] each so many-th run is on a machine of half the speed; 0: none
 * @param {string} [options.branch] @param {string} [options.repo] @param {number} [options.seed]
 * @returns {MadeRun[]}
 */
function madeRuns(options = {}) {
  const { commits = 10, runs = 5, noise = 0.03, step = 6, factor = 1.35, slowRuns = 0 } = options
  const { branch = 'main', repo = 'org/app', seed = 1 } = options
  const draw = random(seed)
  return Array.from({ length: commits * runs }, (_, number) => {
    const seq = Math.floor(number / runs) + 1
    const isSlow = slowRuns > 0 && number % slowRuns === slowRuns - 1
    const of = (/** @type {number} */ us) =>
      Math.round(us * (isSlow ? 2 : 1) * (1 + noise * (2 * draw() - 1)))
    const times = {
      renderTable: of(20_000 * (seq >= step ? factor : 1)),
      parse: of(60_000),
      chunk: of(15_000),
      main: of(5_000),
    }
    const busy = Object.values(times).reduce((sum, us) => sum + us, 0)
    const day = String(1 + Math.floor((seq - 1) / 2)).padStart(2, '0')
    const minute = String(number % 60).padStart(2, '0')
    const hour = String(10 + ((seq - 1) % 2)).padStart(2, '0')
    return {
      id: hex(`${repo} ${branch} ${seed} ${number}`),
      start: `2026-11-${day} ${hour}:${minute}:00`,
      repo,
      branch,
      seq,
      commit: hex(`commit ${repo} ${branch} ${seq}`),
      job: 'build',
      host: isSlow ? 'slow' : 'fast',
      duration: busy * 2,
      functions: [
        { function: 'main', file: 'src/main.js', self: times.main, total: busy },
        { function: 'renderTable', file: 'src/table.js', line: 10 + seq, self: times.renderTable },
        { function: 'parse', file: 'src/parse.js', self: times.parse },
        { function: 'chunk', file: 'chunk.js', package: 'lodash', self: times.chunk },
      ],
      groups: [
        { kind: 'owner', sort: 'rule', name: 'no-cycle', self: times.parse },
        { kind: 'label', sort: 'route', name: '/users', self: times.renderTable },
      ],
    }
  })
}

module.exports = { hex, madeRuns, random, writeLake }
