'use strict'

// Renders what is no table: functions with callers and callees, the trees of calls and modules, stalls.

const {
  formatPath,
  formatPlace,
  formatShare,
  formatTime,
  printable,
} = require('../terminal/format.js')
const { BUILT_IN, workMs } = require('./tables.js')
const { TIME, SHARE, cutLines, cutStart, displayWidth } = require('../terminal/width.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportDetail} Detail */
/** @typedef {import('../../index.js').ReportTreeNode} TreeNode */
/** @typedef {import('../../index.js').ReportImport} Import */
/** @typedef {import('../../index.js').ReportStall} Stall */
/**
 * @typedef {object} View
 * @property {number} columns the width
 * @property {number} rows of each list, or of the tree
 * @property {string} cwd the folder that paths are relative to
 */
/** @typedef {{ node: TreeNode, level: number, above: number }} Row a node, below `above` functions that are not shown */

/** Columns that a place needs at least. */
const MIN_PLACE = 8
/** A function whose only call has this part of its time is not shown in the tree. */
const NEARLY_ALL = 0.97
/** Levels of modules that are set in; what is deeper stands below the last. */
const MAX_LEVEL = 12

/** @param {Report} report @param {View} view */
function renderDetails(report, view) {
  const blocks = (report.details ?? []).map((detail) => renderDetail(detail, report, view))
  return blocks.join('\n')
}

/** @param {Detail} detail @param {Report} report @param {View} view */
function renderDetail(detail, report, view) {
  const whole = workMs(report)
  const time = (/** @type {number} */ ms) =>
    `  ${formatTime(ms).padStart(TIME)} ${formatShare(ms, whole).padStart(SHARE)}`
  const lines = [
    `${nameAndPlace(detail, view, 30)} (% of ${formatTime(whole)} of work)`,
    `${time(detail.totalMs)}  total`,
    `${time(detail.selfMs)}  self`,
  ]
  /** @param {string} title @param {{ ms: number, text: string }[]} rows */
  const list = (title, rows) => {
    if (rows.length === 0) return
    lines.push('', title)
    for (const { ms, text } of rows.slice(0, view.rows)) lines.push(`${time(ms)}  ${text}`)
    if (rows.length > view.rows) lines.push(`  and ${rows.length - view.rows} more`)
  }
  const call = (/** @type {import('../../index.js').ReportCall} */ { totalMs, ...place }) => ({
    ms: totalMs,
    text:
      place.name === undefined ? '(event loop)' : nameAndPlace(/** @type {any} */ (place), view),
  })
  list('callers, by the time of their calls', detail.callers.map(call))
  list('callees, by the time of the calls', detail.callees.map(call))
  const known = detail.lines.filter(({ line }) => line > 0)
  list(
    'lines, by self time',
    known.map((line) => ({ ms: line.selfMs, text: place(line, view) })),
  )
  if (report.processes.length > 1) {
    const processes = detail.processes.map(({ pid, name, totalMs }) => ({
      ms: totalMs,
      text: printable(`${name} (${pid})`),
    }))
    list('processes, by total time', processes)
  }
  return cutLines(lines, view.columns)
}

/** @param {Report} report @param {View} view */
function renderTree(report, view) {
  const whole = workMs(report)
  const rows = heaviest(unfold(report.tree ?? [], 0), view.rows)
  const lines = [
    `call tree, the heaviest paths (% of ${formatTime(whole)} of work)`,
    `  ${'total'.padStart(TIME)} ${''.padStart(SHARE)} ${'self'.padStart(TIME)}`,
  ]
  for (const { node, level, above } of rows) {
    const times = `${formatTime(node.totalMs).padStart(TIME)} ${formatShare(node.totalMs, whole).padStart(SHARE)}`
    const start = `  ${times} ${formatTime(node.selfMs).padStart(TIME)}  ${''.padEnd(2 * level)}`
    const end = above === 0 ? '' : `  (below ${above} more)`
    lines.push(`${start}${nameAndPlace(node, view, start.length + end.length)}${end}`)
  }
  return cutLines(lines, view.columns)
}

/** @param {Report} report @param {View} view */
function renderImports({ imports = [] }, { columns, rows: count, cwd }) {
  const whole = imports.reduce((sum, { totalMs }) => sum + totalMs, 0)
  if (whole === 0) return 'no module was loaded while samples were taken\n'
  const all = listImports(imports, 0)
  const rows = heaviest(all, count)
  const lines = [
    `modules by load time, with what they load (% of ${formatTime(whole)})`,
    `  ${['total', '', 'load', 'run'].map((head, index) => head.padStart(index === 1 ? SHARE : TIME)).join(' ')}`,
  ]
  for (const { node, level } of rows) {
    const { totalMs, loadMs, runMs } = node
    const share = formatShare(totalMs, whole).padStart(SHARE)
    const [total, load, run] = [totalMs, loadMs, runMs].map((ms) => formatTime(ms).padStart(TIME))
    const start = `  ${total} ${share} ${load} ${run}  ${''.padEnd(2 * Math.min(level, MAX_LEVEL))}`
    lines.push(`${start}${cutStart(nameOfModule(node, cwd), Math.max(columns - start.length, 8))}`)
  }
  if (rows.length < all.length) lines.push(`  and ${all.length - rows.length} more`)
  return cutLines(lines, columns)
}

/** Lists the modules in the order of the tree. @param {Import[]} nodes @param {number} level @returns {{ node: Import, level: number }[]} */
function listImports(nodes, level) {
  return nodes.flatMap((node) => [{ node, level }, ...listImports(node.children, level + 1)])
}

/** @param {Import} node @param {string} cwd */
function nameOfModule({ file }, cwd) {
  return file === '' ? '(loader of ES modules)' : printable(formatPath(file, cwd))
}

/** Renders the longest times without a turn of the event loop. @param {Report} report @param {View} view */
function renderStalls({ stalls = [], processes }, { columns, rows, cwd }) {
  if (stalls.length === 0) return 'every thread came back to its event loop in less than that\n'
  const lines = [
    'longest times without a turn of the event loop',
    `  ${'at'.padStart(TIME)} ${'for'.padStart(TIME)}`,
  ]
  const hasSeveral = processes.length > 1 || processes.some(({ threads }) => threads.length > 1)
  for (const stall of stalls.slice(0, Math.max(1, Math.floor(rows / 2)))) {
    const [at, length] = [stall.startMs, stall.durationMs].map((ms) =>
      formatTime(ms).padStart(TIME),
    )
    const who = hasSeveral
      ? `  in ${printable(`${stall.process} (${stall.pid}) ${stall.thread}`)}`
      : ''
    lines.push(`  ${at} ${length}  ${culprit(stall, cwd)}${who}`)
    const others = detailsOf(stall, cwd)
    if (others !== '') lines.push(`  ${''.padStart(2 * TIME + 3)}${others}`)
  }
  return cutLines(lines, columns)
}

/** Returns the functions for most of the time, without Node's own, unless all are. @param {Stall} stall */
function codeOf({ stack }) {
  const code = stack.filter(({ package: name }) => !BUILT_IN.has(name))
  return code.length > 0 ? code : stack
}

/** Names the last function that was on the stack for most of the time. @param {Stall} stall @param {string} cwd */
function culprit(stall, cwd) {
  const last = codeOf(stall).at(-1)
  if (last === undefined) return 'several functions, none for most of the time'
  return `${formatShare(last.totalMs, stall.durationMs)}  ${nameWithPlace(last, cwd)}`
}

/** Tells who called, and what else took the time. @param {Stall} stall @param {string} cwd */
function detailsOf(stall, cwd) {
  const { gcMs, blockedMs, waitingMs, durationMs, first } = stall
  const caller = codeOf(stall).at(-2)
  const isNotable = (/** @type {number} */ ms) => ms > 0.05 * durationMs
  return [
    ...(caller === undefined ? [] : [`called by ${nameWithPlace(caller, cwd)}`]),
    ...(isNotable(gcMs) ? [`collections ${formatTime(gcMs)}`] : []),
    ...(isNotable(blockedMs) ? [`blocked ${formatTime(blockedMs)}`] : []),
    ...(isNotable(waitingMs) ? [`waiting for a core ${formatTime(waitingMs)}`] : []),
    ...(first ? ['from the start'] : []),
  ].join(', ')
}

/** @param {import('../../index.js').ReportPlace} place @param {string} cwd */
function nameWithPlace(place, cwd) {
  return printable(`${place.name} ${formatPlace(place, cwd)}`)
}

/**
 * Lists the nodes in the order of the tree. A function with nearly all its time in one call gives way
 * to the function that it calls.
 * @param {TreeNode[]} nodes @param {number} level @returns {Row[]}
 */
function unfold(nodes, level) {
  return nodes.flatMap((start) => {
    let node = start
    let above = 0
    while (node.children.length > 0 && node.children[0].totalMs >= NEARLY_ALL * node.totalMs) {
      node = node.children[0]
      above++
    }
    return [{ node, level, above }, ...unfold(node.children, level + 1)]
  })
}

/**
 * Returns the rows with the most total time, in their order.
 * @template {{ node: { totalMs: number } }} T @param {T[]} rows @param {number} count
 */
function heaviest(rows, count) {
  const totals = rows.map(({ node }) => node.totalMs).sort((a, b) => b - a)
  const least = totals[Math.min(count, totals.length) - 1] ?? 0
  return rows.filter(({ node }) => node.totalMs >= least).slice(0, count)
}

/**
 * Returns a function's name and place. A long place keeps its end, which has the line.
 * @param {import('../../index.js').ReportPlace} function_ @param {View} view
 * @param {number} [used] columns of the line's other text
 */
function nameAndPlace(function_, view, used = 2 + TIME + 1 + SHARE + 2) {
  const name = printable(function_.name)
  const room = view.columns - used - displayWidth(name) - 2
  return room < MIN_PLACE ? name : `${name}  ${cutStart(place(function_, view), room)}`
}

/** @param {{ file: string, line: number, transpiled?: true }} where @param {View} view */
function place(where, { cwd }) {
  return printable(`${formatPlace(where, cwd)}${where.transpiled ? ' (transpiled)' : ''}`)
}

module.exports = { renderDetails, renderTree, renderImports, renderStalls }
