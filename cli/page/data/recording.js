'use strict'

// Reads the data of the page, which `src/tools/page/json.rs` describes.

const { startsWithPath } = require('../../terminal/path-text.js')

/** What a thread did at a sample. */
const WORK = 0
const PROGRAM = 1
const GC = 2
const IDLE = 3
const BLOCKED = 4
const WAITING = 5
const STATES = [PROGRAM, GC, IDLE]

/**
 * @typedef {object} Thread
 * @property {number} index
 * @property {Process} process
 * @property {string} name
 * @property {Float64Array} times start of each sample, and the end of the last: microseconds
 * @property {Int32Array} leaves of the samples; -1 where nothing was recorded
 * @property {number} busyUs time at work, microseconds
 *
 * @typedef {object} Process
 * @property {number} pid
 * @property {string} command
 * @property {string} [cwd]
 * @property {boolean} launcher whether the process only started others
 * @property {Thread[]} threads
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
  const isNative = (/** @type {number} */ node) =>
    files.path[functionFiles[tree.functions[node]]] === ''
  const leafState = leafNode.map(
    (node) => STATES[tree.functions[node]] ?? (isNative(node) ? PROGRAM : WORK),
  )
  for (const [leaf, state] of leaves.state.entries()) {
    if (state !== 0) leafState[leaf] = state === 1 ? BLOCKED : WAITING
  }
  const { processes, threads } = readProcesses(data.processes, leafState)
  return {
    durationUs: /** @type {number} */ (data.durationUs),
    /** Whether the two threads are the sides of a comparison. */
    compared: data.compared === true,
    thinnedToUs: /** @type {number | undefined} */ (data.thinnedToUs),
    notes: /** @type {string[]} */ (data.notes),
    packages: /** @type {string[]} */ (data.packages),
    filePaths: relativePaths(files.path, processes),
    filePackages,
    names: /** @type {string[]} */ (functions.name),
    files: functionFiles,
    lines: Int32Array.from(functions.line),
    columns: Int32Array.from(functions.column),
    transpiled: new Set(/** @type {number[]} */ (functions.transpiled)),
    ownerKinds: /** @type {string[]} */ (owners.kind),
    ownerNames: /** @type {string[]} */ (owners.name),
    ...tree,
    ...{ leafNode, leafState, leafLine: Int32Array.from(leaves.line) },
    ...{ processes, threads },
  }
}

/** @param {any} tree @param {Int32Array} functionFiles @param {Int32Array} filePackages */
function readTree(tree, functionFiles, filePackages) {
  const functions = Int32Array.from(tree.function)
  const parent = functions.map((_, node) =>
    tree.parent[node] === 0 ? -1 : node - tree.parent[node],
  )
  const depth = new Int32Array(parent.length)
  for (const [node, above] of parent.entries()) depth[node] = above === -1 ? 0 : depth[above] + 1
  const files = functions.map((item) => functionFiles[item])
  const packages = files.map((file) => (file === -1 ? -1 : filePackages[file]))
  const owners = files.map((file, node) => (file === -1 ? -1 : tree.owner[node]))
  return {
    ...{ parent, depth, ...children(parent), functions },
    /** Functions, files, packages and owners of nodes; -1 for none. States have only the first. */
    itemsOfNodes: [functions, files, packages, owners],
  }
}

/** @param {any[]} list @param {Int32Array} leafState */
function readProcesses(list, leafState) {
  /** @type {Thread[]} */
  const threads = []
  /** @type {Process[]} */
  const processes = list.map((data) => ({ ...data, threads: [] }))
  for (const [index, process] of processes.entries()) {
    for (const data of list[index].threads) {
      process.threads.push({ ...readThread(data, leafState), index: threads.length, process })
      threads.push(process.threads[process.threads.length - 1])
    }
  }
  return { processes, threads }
}

/** @param {any} data @param {Int32Array} leafState */
function readThread({ name, startUs, lengths, leaves }, leafState) {
  const times = new Float64Array(lengths.length + 1)
  times[0] = startUs
  let busyUs = 0
  for (let index = 0; index < lengths.length; index++) {
    times[index + 1] = times[index] + lengths[index]
    if (leaves[index] !== -1 && leafState[leaves[index]] < IDLE) busyUs += lengths[index]
  }
  return { name, times, leaves: Int32Array.from(leaves), busyUs }
}

/** Links each node to its first child and to its next sibling; -1 for none. @param {Int32Array} parent */
function children(parent) {
  const firstChild = new Int32Array(parent.length).fill(-1)
  const nextSibling = new Int32Array(parent.length).fill(-1)
  /** @type {number[]} */
  const roots = []
  for (let node = parent.length - 1; node >= 0; node--) {
    const above = parent[node]
    if (above === -1) {
      roots.unshift(node)
    } else {
      nextSibling[node] = firstChild[above]
      firstChild[above] = node
    }
  }
  return { firstChild, nextSibling, roots }
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
  const busyUs = ({ threads, launcher }) =>
    launcher ? -1 : threads.reduce((sum, thread) => sum + thread.busyUs, 0)
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
  ...{ WORK, PROGRAM, GC, IDLE, BLOCKED, WAITING },
  ...{ readRecording, busiestProcess, sampleAt },
}
