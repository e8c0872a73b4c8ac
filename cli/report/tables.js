'use strict'

// Chooses the rows of a report's tables, for text and for Markdown.

const { formatPath, formatPlace, formatTime } = require('../terminal/format.js')
const { labelTable } = require('./labels.js')
const { projectTables } = require('./projects.js')
const { withSlashes } = require('../terminal/path-text.js')
const { cutStart } = require('../terminal/width.js')
const { nativeTables } = require('./native.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportProcess} Process */
/** @typedef {import('../../index.js').ReportThread} Thread */
/** @typedef {typeof import('../commands/report.js').KINDS[number]} By */
/** @typedef {'functions' | 'lines' | 'files' | 'packages' | 'modules' | 'owners' | 'scripts'} Kind */
/** @typedef {'selfMs' | 'totalMs' | 'blockedMs' | 'waitingMs'} Time */

/**
 * @typedef {object} ThreadRow
 * @property {Process} process
 * @property {Thread} thread
 * @property {string} label can be cut
 * @property {string} place the folder or file that tells rows of equal labels apart, or empty
 * @property {string} end the process id, never cut: it distinguishes processes of the same command
 * @property {boolean} isBelow whether the main thread of the same process is a row above
 */

/** @typedef {import('../../index.js').ReportCost & { samples?: number, processes?: number }} Cost */
/**
 * @typedef {object} CostRow
 * @property {string} name
 * @property {string} place empty for what its name tells apart
 * @property {number} ms the time by which the rows are sorted
 * @property {string[]} others the numbers beside the time
 *
 * @typedef {object} CostTable
 * @property {string} title
 * @property {string[]} names heads of the names, and of the places if the rows have some
 * @property {string[]} heads of the time and of the other numbers
 * @property {{ ms: number, name: string }} whole the time that shares are of
 * @property {CostRow[]} rows
 */

/** How many functions, lines, files or packages a report needs for any table. */
const MAX_ROWS = 200

/** The times that tables are sorted by: their titles, their heads, and the time shown beside them.
 * @type {Record<Time, { title: string, head: string, second: Time }>} */
const TIMES = {
  selfMs: { title: 'self time', head: 'self', second: 'totalMs' },
  totalMs: { title: 'total time', head: 'total', second: 'selfMs' },
  blockedMs: { title: 'time blocked in a call', head: 'blocked', second: 'selfMs' },
  waitingMs: { title: 'time of waiting for a core', head: 'waiting', second: 'selfMs' },
}

/** The package of code outside of packages. */
const OWN_CODE = '(own code)'
/** Packages of code that a program did not choose to run. */
/** Part of the work that native code without a function needs for a row. */
const NOTABLE = 0.05
/** The place of native code that no function called. */
const OUTSIDE = 'outside of JavaScript'
const BUILT_IN = new Set(['node:', '(native)'])

/** Longest path shown after a process, in columns. */
const MAX_PLACE = 24

/** Returns the time of work, which texts call busy. @param {import('../../index.js').ReportTimes} times */
const activeMs = ({ javascriptMs, nativeMs, gcMs }) => javascriptMs + nativeMs + gcMs

/** Returns the time in which a thread waited for a core, was blocked in a call, or was idle.
 * @param {import('../../index.js').ReportTimes} times */
const restMs = ({ waitingMs = 0, blockedMs = 0, idleMs }) => waitingMs + blockedMs + idleMs

/** Returns the work that the tables share out: that of all processes but launchers. @param {Report} report */
function workMs({ processes }) {
  return sum(processes.filter(({ launcher }) => !launcher).map(processMs))
}

/** @param {Process} process */
const processMs = ({ threads }) => sum(threads.map(activeMs))

/** Returns whether critical times say more than self times: threads worked at one time, or calls were
 * blocked while no thread worked. @param {Report} report */
function tellsCritical({ functions, wall }) {
  if (wall === undefined) return false
  const [selfMs, otherMs] = functions.reduce(
    ([selfMs, otherMs], cost) => [
      selfMs + cost.selfMs,
      otherMs + Math.abs(cost.selfMs - cost.criticalMs),
    ],
    [0, 0],
  )
  return otherMs > 0.05 * selfMs
}

/** Returns the CPU time of a process outside of its JavaScript threads. @param {Process} process */
const otherCpuMs = ({ cpu }) => (cpu?.nativeMs ?? 0) + (cpu?.othersMs ?? 0)

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0)

/**
 * Returns the busiest threads, those of the busiest process first. A launcher has one row.
 * @param {Report} report @param {number} count @param {string} cwd
 * @returns {{ rows: ThreadRow[], rest: number, restMs: number }}
 */
function threadRows({ processes }, count, cwd) {
  const weight = (/** @type {Process} */ process) => processMs(process) + otherCpuMs(process)
  const all = [...processes]
    .sort((a, b) => weight(b) - weight(a))
    .flatMap((process) => threadsOf(process).map((thread) => ({ process, thread })))
  /** @param {{ process: Process, thread: Thread }} row */
  const rowMs = ({ process, thread }) =>
    activeMs(thread) + (isMain(thread) ? otherCpuMs(process) : 0)
  const busiest = [...all].sort((a, b) => rowMs(b) - rowMs(a))
  const chosen = new Set(busiest.slice(0, count))
  const hasMainRow = (/** @type {Process} */ process) =>
    [...chosen].some((row) => row.process === process && isMain(row.thread))
  const rows = all
    .filter((row) => chosen.has(row))
    .map(({ process, thread }) => {
      const { command, pid } = process
      const place = placeOfFolder(process, cwd)
      const end = pid === 0 ? ' (pid unknown)' : ` (${pid})`
      if (isMain(thread)) {
        // The command stands for the main thread's name, which has the label of the recording.
        const label = thread.label === undefined ? command : `${command}: ${thread.label}`
        return { process, thread, label, place, end, isBelow: false }
      }
      if (hasMainRow(process)) {
        return { process, thread, label: thread.name, place: '', end: '', isBelow: true }
      }
      const label = `${command} ${thread.name}`
      return { process, thread, label, place, end, isBelow: false }
    })
  const rest = busiest.slice(count)
  return { rows: distinguished(rows, cwd), rest: rest.length, restMs: sum(rest.map(rowMs)) }
}

/** Returns the threads that can have a row, the main thread first. @param {Process} process */
function threadsOf({ launcher, threads }) {
  const [first, ...others] = threads
  return launcher ? [first] : [first, ...others.sort((a, b) => activeMs(b) - activeMs(a))]
}

/**
 * Adds the file that a thread worked on where rows look alike, as those of a pool do, unless they
 * all worked on the same file.
 * @param {ThreadRow[]} rows @param {string} cwd @returns {ThreadRow[]}
 */
function distinguished(rows, cwd) {
  /** Numbers and pids do not tell a reader what a thread did. @param {ThreadRow} row */
  const look = ({ label, place }) => `${label.replace(/^worker \d+/, '')}${place}`
  return rows.map((row) => {
    const { ownFile } = row.thread
    const alike = rows.filter((other) => look(other) === look(row))
    const differs = alike.some((other) => other.thread.ownFile !== ownFile)
    if (!differs || ownFile === undefined) return row
    const file = cutStart(formatPath(ownFile, cwd), MAX_PLACE)
    return { ...row, place: ` · ${file}${row.place}` }
  })
}

/** Returns the working directory, which can be all that distinguishes a monorepo's tasks. @param {{ cwd?: string }} process @param {string} cwd */
function placeOfFolder(process, cwd) {
  if (process.cwd === undefined || process.cwd === withSlashes(cwd)) return ''
  return ` · ${cutStart(formatPath(process.cwd, cwd), MAX_PLACE)}`
}

/** @param {Thread} thread */
function isMain(thread) {
  return thread.threadId === 0 || thread.name === 'main'
}

/** @param {Report} report @param {By | undefined} by the only table wanted @param {string} cwd @returns {CostTable[]} */
function costTables(report, by, cwd) {
  const functions = [...withColumns(report.functions), ...stateRows(report)]
  const lists = /** @type {Record<Kind, any>} */ ({ modules: [], ...report, functions })
  /**
   * @param {Kind} kind @param {Time} time @param {string} [title]
   * @param {Cost[]} [costs] those of the report unless given
   */
  const table = (kind, time, title, costs = lists[kind]) => ({
    title: title ?? `${kind}, by ${TIMES[time].title}`,
    names: ['functions', 'lines'].includes(kind) ? ['function', 'where'] : [kind.slice(0, -1)],
    heads: [TIMES[time].head, secondHead(kind, time), ...(hasCritical(kind) ? ['critical'] : [])],
    whole: wholeOf(report, time),
    rows: hottest(costs, time).map((cost) => {
      const [name, place] = nameOf(cost, kind, cwd)
      const critical = hasCritical(kind) ? [formatTime(cost.criticalMs)] : []
      return { name, place, ms: cost[time], others: [secondOf(cost, kind, time), ...critical] }
    }),
  })
  const scripts = () => table('scripts', 'totalMs', 'scripts, by the work of their processes')
  const owners = () => table('owners', 'selfMs', 'owners, by the work done for them')
  const labels = () =>
    labelTable(report, { whole: wholeOf(report, 'selfMs'), hasCritical: isParallel, cwd })
  const { blockedMs = 0, waitingMs = 0 } = report.totals
  const isNotable = (/** @type {number} */ ms) => ms > 0.05 * (ms + activeMs(report.totals))
  const isBlocked = isNotable(blockedMs)
  const isParallel = tellsCritical(report)
  const hasCritical = (/** @type {Kind} */ kind) =>
    isParallel && kind !== 'lines' && kind !== 'scripts'
  if (by === 'thread' || by === 'import') return []
  // A line has no total time: V8 tells the line on top of the stack only.
  if (by === 'line') return [table('lines', 'selfMs')]
  if (by === 'owner') return [owners()]
  if (by === 'label') return [labels()]
  if (by === 'script') return [scripts()]
  if (by === 'project') return projectTables(report, wholeOf(report, 'totalMs'), cwd)
  if (by !== undefined) {
    const kind = /** @type {Kind} */ (`${by}s`)
    const blocked = isBlocked ? [table(kind, 'blockedMs')] : []
    const waiting = isNotable(waitingMs) ? [table(kind, 'waitingMs')] : []
    return [table(kind, 'selfMs'), table(kind, 'totalMs'), ...blocked, ...waiting]
  }
  const named = report.owners.filter(({ kind }) => kind !== 'package' && kind !== 'own code')
  // Node's module loader would take the first rows: it is on the stack of everything it loads.
  const packages = report.packages.filter(({ name }) => !BUILT_IN.has(name))
  const isOwn = (/** @type {any} */ { file, package: name }) => name === OWN_CODE && file !== ''
  const ownFiles = report.files.filter((cost) => isOwn(cost) && !cost.trunk)
  const code = functions.filter((cost) => !BUILT_IN.has(cost.package) && !cost.trunk)
  const ofPackages = table('packages', 'totalMs', undefined, packages)
  return [
    ...nativeTables(report, cwd),
    labels(),
    ...(report.scripts.length > 1 ? [scripts()] : []),
    ...(named.length > 1 ? [owners()] : []),
    ...(ofPackages.rows.length > 1 ? [ofPackages] : []),
    table('files', 'totalMs', 'own files, by total time', ownFiles),
    table('functions', 'selfMs'),
    ...(isBlocked ? [table('functions', 'blockedMs')] : []),
    table('functions', 'totalMs', "functions, by total time, without Node's own", code),
  ].filter(({ rows }) => rows.length > 0)
}

/**
 * Marks the functions that only their columns tell apart, as in minified code.
 * @param {import('../../index.js').ReportFunction[]} functions
 */
function withColumns(functions) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  const keyOf = (/** @type {import('../../index.js').ReportFunction} */ { name, ...place }) =>
    `${name}\n${place.file}\n${place.scriptId}\n${place.line}`
  for (const each of functions) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1)
  return functions.map((each) => ({ ...each, needsColumn: Number(counts.get(keyOf(each))) > 1 }))
}

/** Returns a row for native code without a function, which can be most of the work. @param {Report} report */
function stateRows(report) {
  const { programMs: ms = 0 } = report
  if (ms < NOTABLE * workMs(report)) return []
  const place = { file: OUTSIDE, line: 0, column: 0, package: '(native)', trunk: false }
  const times = { selfMs: ms, totalMs: ms, blockedMs: 0, waitingMs: 0, criticalMs: 0 }
  return [{ name: '(program)', ...place, ...times, needsColumn: false }]
}

/** @param {Cost[]} costs @param {Time} time */
function hottest(costs, time) {
  const { second } = TIMES[time]
  return costs
    .filter((cost) => cost[time] > 0)
    .sort((a, b) => b[time] - a[time] || b[second] - a[second])
}

/** Returns the head of a table's second number. @param {Kind} kind @param {Time} time */
function secondHead(kind, time) {
  if (kind === 'scripts') return 'procs'
  return kind === 'lines' ? 'samples' : TIMES[TIMES[time].second].head
}

/** Returns the second number of a row. @param {Cost} cost @param {Kind} kind @param {Time} time */
function secondOf(cost, kind, time) {
  if (kind === 'scripts') return String(cost.processes)
  return kind === 'lines' ? String(cost.samples) : formatTime(cost[TIMES[time].second])
}

/** Returns the time that a table's shares are of, with its name. @param {Report} report @param {Time} time */
function wholeOf(report, time) {
  const { blockedMs = 0, waitingMs = 0 } = report.totals
  if (time === 'blockedMs') return { ms: blockedMs, name: 'blocked time' }
  if (time === 'waitingMs') return { ms: waitingMs, name: 'waiting time' }
  return { ms: workMs(report), name: 'work' }
}

/** Returns the built-in that most of a function's time was in, by the text of its lines. @param {import('../../index.js').ReportFunction} cost */
function builtIn({ selfMs, builtIns: [first] = [] }) {
  return first !== undefined && first.selfMs > selfMs / 2 ? ` (${first.name})` : ''
}

/** Returns a row's name and place. @param {any} cost @param {Kind} kind @param {string} cwd @returns {[string, string]} */
function nameOf(cost, kind, cwd) {
  const transpiled = cost.transpiled ? ' (transpiled)' : ''
  if (kind === 'functions') {
    const column = cost.needsColumn && cost.line > 0 ? `:${cost.column}` : ''
    return [`${cost.name}${builtIn(cost)}`, `${formatPlace(cost, cwd)}${column}${transpiled}`]
  }
  if (kind === 'lines') {
    const end = cost.file === '' || cost.line > 0 ? transpiled : ' (unknown line)'
    return [cost.name, `${formatPlace(cost, cwd)}${end}`]
  }
  if (kind === 'scripts') return [`${cost.name}${placeOfFolder(cost, cwd)}`, '']
  if (kind === 'owners') return nameOfOwner(/** @type {any} */ (cost), cwd)
  if (kind === 'files') return [formatPlace({ ...cost, line: 0 }, cwd), '']
  return [cost.name, '']
}

/** @param {import('../../index.js').ReportOwner} owner @param {string} cwd @returns {[string, string]} */
function nameOfOwner({ kind, name }, cwd) {
  if (kind === 'own code' || kind === 'package') return [name, '']
  return [`${formatPath(name, cwd)} (${kind})`, '']
}

/** @param {Report} report */
function countThreads({ processes }) {
  return processes.reduce((sum, { threads }) => sum + threads.length, 0)
}

module.exports = {
  BUILT_IN,
  OWN_CODE,
  MAX_ROWS,
  activeMs,
  restMs,
  isMain,
  workMs,
  processMs,
  threadRows,
  costTables,
  countThreads,
}
