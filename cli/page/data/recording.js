'use strict'

// Reads the data of the page, which `src/tools/page/json.rs` describes.

const { startsWithPath } = require('../../terminal/path-text.js')
const { readLabels } = require('./labels.js')
const { timingsOf } = require('./timings.js')
const { readTree } = require('./tree.js')

/** What a thread does, in the order of all lists of states. */
const STATES = /** @type {const} */ (['javascript', 'native', 'gc', 'waiting', 'blocked', 'idle'])
/** Their names for a reader. */
const STATE_NAMES = /** @type {const} */ ([
  'JavaScript',
  'native code',
  'gc',
  'waiting for a core',
  'blocked',
  'idle',
])
const [JAVASCRIPT, NATIVE, GC, WAITING, BLOCKED, IDLE] = STATES.keys()
/** The states of functions that stand for a state of the thread. */
const OF_FUNCTIONS = [NATIVE, GC, IDLE]
/** The states of leaves, 0 for those of their functions. */
const OF_LEAVES = [undefined, BLOCKED, WAITING]
/** Times of items, in the order of columns. */
const TIMES = /** @type {const} */ (['self', 'total', 'critical', 'blocked', 'waiting'])

/**
 * @typedef {object} Thread
 * @property {number} index
 * @property {Process} process
 * @property {number} id
 * @property {string} name
 * @property {Float64Array} times start of each sample, and the end of the last: microseconds
 * @property {Int32Array} leaves of the samples; -1 where nothing was recorded
 * @property {Float64Array} states time in each of {@link STATES}, microseconds
 * @property {number} busyUs time at work, microseconds
 *
 * @typedef {object} Process
 * @property {number} index
 * @property {number} pid
 * @property {string} command
 * @property {string} [cwd]
 * @property {boolean} launcher whether the process only started others
 * @property {Thread[]} threads
 * @property {number} busyUs of all its threads
 * @property {{ timeUs: number[], heap: number[], rss: (number | null)[] }} [memory]
 * @property {{ timeUs: number[], javascript: (number | null)[], native: (number | null)[] }} [cpu]
 * @property {{ startUs: number[], lengthUs: number[], major: number[] }} [collections]
 * @property {import('./timings.js').Lists} [marks]
 * @property {import('./timings.js').Lists} [spans]
 * @property {import('./timings.js').Timing[]} timings marks and spans
 * @property {number} [timingsLeftOut] count of the marks and spans that the page lacks
 *
 * @typedef {Record<TIMES[number], ArrayLike<number>>} Items the times of items of one kind, microseconds
 * @typedef {Record<'functions' | 'files' | 'packages' | 'owners', Items>} WholeCosts
 *
 * @typedef {ReturnType<typeof readRecording>} Recording
 */

/** @param {any} data */
function readRecording(data) {
  const { functions, files, leaves, owners } = data
  const functionFiles = Int32Array.from(functions.file)
  const filePackages = Int32Array.from(files.package)
  const tree = readTree(data.tree, functionFiles, filePackages)
  const leafNode = Int32Array.from(leaves.node)
  const modules = new Set(files.modules)
  /** @param {number} file */
  const isNative = (file) => files.path[file] === '' || modules.has(file)
  /** @param {number} item */
  const stateOf = (item) =>
    OF_FUNCTIONS[item] ?? (isNative(functionFiles[item]) ? NATIVE : JAVASCRIPT)
  const functionState = functionFiles.map((_, item) => stateOf(item))
  const leafState = Uint8Array.from(
    leafNode,
    (node, leaf) => OF_LEAVES[leaves.state[leaf]] ?? functionState[tree.functions[node]],
  )
  const { processes, threads } = readProcesses(data, leafState)
  return {
    durationUs: /** @type {number} */ (data.durationUs),
    /** Whether the two threads are the sides of a comparison. */
    compared: data.compared === true,
    title: /** @type {string | undefined} */ (data.title),
    sentence: /** @type {string | undefined} */ (data.sentence),
    conditions: /** @type {import('../../../index.js').ReportCondition[] | undefined} */ (
      data.conditions
    ),
    chain: /** @type {import('../../../index.js').ReportChainPart[]} */ (data.chain ?? []),
    thinnedToUs: /** @type {number | undefined} */ (data.thinnedToUs),
    notes: /** @type {string[]} */ ([...data.notes, ...(data.codeNotes ?? [])]),
    packages: /** @type {string[]} */ (data.packages),
    /** Paths as they were recorded. */
    fullPaths: /** @type {string[]} */ (files.path),
    filePaths: relativePaths(files.path, processes),
    filePackages,
    names: /** @type {string[]} */ (functions.name),
    files: functionFiles,
    lines: Int32Array.from(functions.line),
    columns: Int32Array.from(functions.column),
    transpiled: new Set(/** @type {number[]} */ (functions.transpiled)),
    /** V8's ids of the texts that functions are in, by the function. */
    texts: new Map(/** @type {[number, number][]} */ (functions.texts)),
    ownerKinds: /** @type {string[]} */ (owners.kind),
    ownerNames: /** @type {string[]} */ (owners.name),
    ...tree,
    leafNode,
    leafState,
    leafLine: Int32Array.from(leaves.line),
    processes,
    threads,
    labels: readLabels(leaves, data.labelSets),
    /** The costs of everything but launchers, as the report has them. */
    whole: /** @type {WholeCosts | undefined} */ (data.costs),
    stalls: /** @type {import('../../../index.js').ReportStall[]} */ (data.stalls ?? []),
    imports: /** @type {import('../../../index.js').ReportImport[]} */ (data.imports ?? []),
    timings: processes.flatMap(({ timings }) => timings),
    scripts: /** @type {import('../../../index.js').ReportScript[]} */ (data.scripts ?? []),
    code: readCode(data.code),
  }
}

/**
 * Returns the lines of code that the page has, by path and number.
 * @param {{ file: string, lines: Record<string, string> }[]} [list]
 */
function readCode(list = []) {
  /** @param {Record<string, string>} lines */
  const byNumber = (lines) =>
    new Map(Object.entries(lines).map(([number, text]) => [Number(number), text]))
  return new Map(list.map(({ file, lines }) => [file, byNumber(lines)]))
}

/** @param {any} data @param {Uint8Array} leafState */
function readProcesses({ processes: list, texts = [] }, leafState) {
  /** @type {Thread[]} */
  const threads = []
  /** @type {Process[]} */
  const processes = list.map((/** @type {any} */ process, /** @type {number} */ index) => ({
    ...process,
    index,
    threads: [],
    timings: [],
    busyUs: 0,
  }))
  for (const process of processes) {
    for (const data of list[process.index].threads) {
      const thread = { ...readThread(data, leafState), index: threads.length, process }
      process.threads.push(thread)
      process.busyUs += thread.busyUs
      threads.push(thread)
    }
    process.timings = timingsOf(process, texts)
  }
  return { processes, threads }
}

/** @param {any} data @param {Uint8Array} leafState */
function readThread({ id, name, startUs, lengths, leaves, times: known }, leafState) {
  const times = new Float64Array(lengths.length + 1)
  const states = new Float64Array(STATES.length)
  times[0] = startUs
  for (let index = 0; index < lengths.length; index++) {
    times[index + 1] = times[index] + lengths[index]
    if (leaves[index] !== -1) states[leafState[leaves[index]]] += lengths[index]
  }
  if (known) states.set(STATES.map((state) => 1000 * (known[`${state}Ms`] ?? 0)))
  const busyUs = states[JAVASCRIPT] + states[NATIVE] + states[GC]
  return { id, name, times, leaves: Int32Array.from(leaves), states, busyUs }
}

/**
 * Returns paths without the working directory of the busiest process.
 * @param {string[]} paths @param {Process[]} processes @returns {string[]}
 */
function relativePaths(paths, processes) {
  const { cwd = '' } = busiestProcess(processes)
  const root = `${cwd}/`
  return paths.map((path) =>
    root !== '/' && startsWithPath(path, root) ? path.slice(root.length) : path,
  )
}

/** @param {Process[]} processes */
function busiestProcess(processes) {
  /** @param {Process} process */
  const busyUs = (process) => (process.launcher ? -1 : process.busyUs)
  return processes.reduce((best, process) => (busyUs(process) > busyUs(best) ? process : best))
}

/** Returns the index of the sample at a time, or of the first sample. @param {Float64Array} times @param {number} us */
function sampleAt(times, us) {
  let low = 0
  let high = times.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (times[middle] <= us) low = middle
    else high = middle
  }
  return low
}

module.exports = {
  STATES,
  STATE_NAMES,
  TIMES,
  JAVASCRIPT,
  NATIVE,
  GC,
  WAITING,
  BLOCKED,
  IDLE,
  readRecording,
  busiestProcess,
  sampleAt,
}
