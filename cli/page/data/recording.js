'use strict'

// Reads the data of the page, which `src/tools/page/json.rs` describes.

/** What a thread did at a sample. */
const WORK = 0
const PROGRAM = 1
const GC = 2
const IDLE = 3
const BLOCKED = 4
const STATES = [PROGRAM, GC, IDLE]

/**
 * @typedef {object} Thread
 * @property {number} index
 * @property {Process} process
 * @property {number} id
 * @property {string} name
 * @property {Float64Array} times start of each sample, and the end of the last: microseconds
 * @property {Int32Array} leaves of the samples; -1 where nothing was recorded
 * @property {number} busyUs time at work, microseconds
 *
 * @typedef {object} Process
 * @property {number} index
 * @property {number} pid
 * @property {string} name
 * @property {string} command
 * @property {string} [cwd]
 * @property {boolean} launcher whether the process only started others
 * @property {Thread[]} threads
 *
 * @typedef {ReturnType<typeof readRecording>} Recording
 */

/** @param {any} data */
function readRecording(data) {
  const { tree, leaves, functions, files } = data
  const count = tree.function.length
  const parent = new Int32Array(count)
  const depth = new Int32Array(count)
  for (let node = 0; node < count; node++) {
    const up = tree.parent[node]
    parent[node] = up === 0 ? -1 : node - up
    depth[node] = up === 0 ? 0 : depth[node - up] + 1
  }
  const function_ = Int32Array.from(tree.function)
  const filesOfFunctions = Int32Array.from(functions.file)
  const filesOfNodes = function_.map((item) => filesOfFunctions[item])
  const packagesOfNodes = filesOfNodes.map((file) => (file === -1 ? -1 : files.package[file]))
  const owners = Int32Array.from(tree.owner)
  const ownersOfNodes = owners.map((owner, node) => (filesOfNodes[node] === -1 ? -1 : owner))
  const leafNode = Int32Array.from(leaves.node)
  const leafState = leafNode.map((node) => STATES[function_[node]] ?? WORK)
  for (const leaf of leaves.blocked) leafState[leaf] = BLOCKED
  /** @type {Thread[]} */
  const threads = []
  /** @type {Process[]} */
  const processes = data.processes.map((/** @type {any} */ each, /** @type {number} */ index) => {
    const process = { ...each, index }
    process.threads = each.threads.map((/** @type {any} */ thread) =>
      readThread(thread, process, threads, leafState),
    )
    return process
  })
  return {
    durationUs: /** @type {number} */ (data.durationUs),
    /** Whether the two threads are the sides of a comparison. */
    compared: data.compared === true,
    thinnedToUs: /** @type {number | undefined} */ (data.thinnedToUs),
    notes: /** @type {string[]} */ (data.notes),
    packages: /** @type {string[]} */ (data.packages),
    filePaths: relativePaths(files.path, processes),
    filePackages: Int32Array.from(files.package),
    names: /** @type {string[]} */ (functions.name),
    files: filesOfFunctions,
    lines: Int32Array.from(functions.line),
    columns: Int32Array.from(functions.column),
    transpiled: new Set(/** @type {number[]} */ (functions.transpiled)),
    ownerKinds: /** @type {string[]} */ (data.owners.kind),
    ownerNames: /** @type {string[]} */ (data.owners.name),
    ...{ parent, depth, ...children(parent), leafNode, leafState },
    functions: function_,
    /** Functions, files, packages and owners of nodes; -1 for none. States have only the first. */
    itemsOfNodes: [function_, filesOfNodes, packagesOfNodes, ownersOfNodes],
    leafLine: Int32Array.from(leaves.line),
    ...{ processes, threads },
  }
}

/**
 * @param {any} data @param {Process} process @param {Thread[]} threads the thread is added to these
 * @param {Int32Array} leafState
 */
function readThread({ id, name, startUs, lengths, leaves }, process, threads, leafState) {
  const times = new Float64Array(lengths.length + 1)
  times[0] = startUs
  let busyUs = 0
  for (let index = 0; index < lengths.length; index++) {
    times[index + 1] = times[index] + lengths[index]
    if (leaves[index] !== -1 && leafState[leaves[index]] < IDLE) busyUs += lengths[index]
  }
  const { length } = threads
  const thread = {
    index: length,
    process,
    id,
    name,
    times,
    leaves: Int32Array.from(leaves),
    busyUs,
  }
  threads.push(thread)
  return thread
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
    root !== '/' && path.startsWith(root) ? path.slice(root.length) : path,
  )
}

/** @param {Process[]} processes */
function busiestProcess(processes) {
  /** @param {Process} process */
  const busyUs = ({ threads, launcher }) =>
    launcher ? -1 : threads.reduce((sum, thread) => sum + thread.busyUs, 0)
  return processes.reduce((best, process) => (busyUs(process) > busyUs(best) ? process : best))
}

/**
 * Returns a function's name; an anonymous one has its file and line.
 * @param {Recording} recording @param {number} item
 */
function nameOf({ names, files, filePaths, lines }, item) {
  const name = names[item]
  if (name !== '(anonymous)' || files[item] === -1) return name
  const file = filePaths[files[item]].split('/').pop()
  return file ? `(anonymous ${file}${lines[item] > 0 ? `:${lines[item]}` : ''})` : name
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

/** Returns `src/a.ts:12`, or `` for a state. @param {Recording} recording @param {number} item a function */
function placeOf({ files, filePaths, lines, columns, transpiled }, item) {
  const file = files[item]
  if (file === -1) return ''
  const path = filePaths[file]
  if (path === '') return '(native)'
  const line =
    lines[item] > 0 ? `:${lines[item]}${columns[item] > 1 ? `:${columns[item]}` : ''}` : ''
  return `${path}${line}${transpiled.has(item) ? ' (transpiled)' : ''}`
}

/** Returns the package of a function, or its state. @param {Recording} recording @param {number} item */
function packageOf({ files, filePackages, packages, names }, item) {
  const file = files[item]
  return file === -1 ? names[item] : packages[filePackages[file]]
}

/** @param {Thread} thread */
function threadLabel({ process, name }) {
  return `${processLabel(process)} ${name}`
}

/** @param {Process} process */
function processLabel({ command, pid }) {
  return pid === 0 ? command : `${command} (${pid})`
}

module.exports = {
  ...{ WORK, PROGRAM, GC, IDLE, BLOCKED },
  ...{ readRecording, busiestProcess, sampleAt },
  ...{ nameOf, placeOf, packageOf, threadLabel, processLabel },
}
