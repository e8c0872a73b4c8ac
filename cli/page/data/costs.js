'use strict'

// Sums up the samples of a selection: times of states, nodes, functions, files, packages and owners.

const { sharedTime } = require('./critical.js')
const { leavesOf } = require('./labels.js')
const { JAVASCRIPT, NATIVE, GC, IDLE, WAITING, BLOCKED, STATES, TIMES, sampleAt } =
  require('./recording.js')

/** @typedef {import('./recording.js').Recording} Recording */
/** @typedef {import('./recording.js').Items} Items */
/**
 * @typedef {object} Span microseconds
 * @property {number} fromUs
 * @property {number} toUs
 */

/**
 * Returns the time of each leaf, or its critical part.
 * @param {Recording} recording @param {number[]} threads indices @param {Span} span
 * @param {Float32Array[]} [critical] the critical parts of the samples of each thread
 */
function leafTimes({ leafNode, threads: all }, threads, { fromUs, toUs }, critical) {
  const leafUs = new Float64Array(leafNode.length)
  for (const thread of threads) {
    const { times, leaves } = all[thread]
    const parts = critical?.[thread]
    for (let index = sampleAt(times, fromUs); index < leaves.length; index++) {
      if (times[index] >= toUs) break
      const leaf = leaves[index]
      if (leaf < 0) continue
      const lengthUs = times[index + 1] - times[index]
      const us = Math.min(times[index + 1], toUs) - Math.max(times[index], fromUs)
      if (us > 0) leafUs[leaf] += parts === undefined ? us : (parts[index] * us) / lengthUs
    }
  }
  return leafUs
}

/** The costs of a selection. A drag asks for few of them, so each is summed up when asked for. */
class Costs {
  #recording
  #threads
  #span
  #label
  #isWhole
  /** @type {ReturnType<typeof nodeTimes> | undefined} */
  #nodes
  /** @type {Items[] | undefined} */
  #items
  /** @type {Items | undefined} */
  #labels

  /**
   * @param {Recording} recording @param {number[]} threads indices @param {Span} span
   * @param {boolean} isWhole whether the selection is all that the report counts
   * @param {number} [label] the only label that counts
   */
  constructor(recording, threads, span, isWhole, label) {
    this.#recording = recording
    this.#threads = threads
    this.#span = span
    this.#isWhole = isWhole
    this.#label = label
    /** Times of leaves, microseconds. */
    this.leafUs = this.#leafTimes()
    /** Times in each of {@link STATES}. */
    this.states = isWhole ? wholeStates(recording, threads) : statesOf(recording, this.leafUs)
    /** The time that tables share out. */
    this.workUs = this.states[JAVASCRIPT] + this.states[NATIVE] + this.states[GC]
    /** The time that critical time shares out. */
    this.wallUs = span.toUs - span.fromUs
  }

  /** Times of nodes. */
  get self() {
    return this.#nodeTimes().self
  }

  /** Times of nodes with those below. */
  get total() {
    return this.#nodeTimes().total
  }

  get functionCosts() {
    return this.#itemCosts('functions', 0)
  }

  get fileCosts() {
    return this.#itemCosts('files', 1)
  }

  get packageCosts() {
    return this.#itemCosts('packages', 2)
  }

  get ownerCosts() {
    return this.#itemCosts('owners', 3)
  }

  /** Times of labels: those of all, whatever label counts alone. @returns {Items} */
  get labelCosts() {
    this.#labels ??= labelCosts(this.#recording, this.#threads, this.#span)
    return this.#labels
  }

  /** @param {Float32Array[]} [critical] the critical parts of the samples of each thread */
  #leafTimes(critical) {
    const leafUs = leafTimes(this.#recording, this.#threads, this.#span, critical)
    const { labels } = this.#recording
    if (labels === undefined || this.#label === undefined) return leafUs
    const counts = leavesOf(labels, this.#label)
    return leafUs.map((us, leaf) => us * counts[leaf])
  }

  #nodeTimes() {
    this.#nodes ??= nodeTimes(this.#recording, this.leafUs)
    return this.#nodes
  }

  /** @param {keyof import('./recording.js').WholeCosts} kind @param {number} index @returns {Items} */
  #itemCosts(kind, index) {
    const whole = this.#isWhole ? this.#recording.whole : undefined
    if (whole !== undefined) return whole[kind]
    this.#items ??= this.#sumItems()
    return this.#items[index]
  }

  #sumItems() {
    const shared = sharedTime(this.#recording)
    const criticalUs = this.#leafTimes(shared)
    return itemCosts(this.#recording, this.#nodeTimes(), this.leafUs, criticalUs)
  }
}

/**
 * Returns the costs of a selection.
 * @param {Recording} recording @param {number[]} threads indices @param {Span} span
 * @param {boolean} [isWhole] whether the selection is all that the report counts
 * @param {number} [label] the only label that counts
 */
function costsOf(recording, threads, span, isWhole = false, label = undefined) {
  return new Costs(recording, threads, span, isWhole, label)
}

/**
 * Returns the times of labels, without idle time. Labels are not nested: total time is self time.
 * @param {Recording} recording @param {number[]} threads indices @param {Span} span @returns {Items}
 */
function labelCosts(recording, threads, span) {
  const { labels, leafState } = recording
  const length = labels?.items.length ?? 0
  const [self, critical, blocked, waiting] = [0, 1, 2, 3].map(() => new Float64Array(length))
  const leafUs = leafTimes(recording, threads, span)
  const criticalUs = leafTimes(recording, threads, span, sharedTime(recording))
  for (const items of labels?.ofLeaves ?? []) {
    for (let leaf = 0; leaf < leafUs.length; leaf++) {
      if (leafState[leaf] === IDLE) continue
      critical[items[leaf]] += criticalUs[leaf]
      const times = { [BLOCKED]: blocked, [WAITING]: waiting }[leafState[leaf]] ?? self
      times[items[leaf]] += leafUs[leaf]
    }
  }
  return { self, total: self, critical, blocked, waiting }
}

/** Returns the time in each of {@link STATES}. @param {Recording} recording @param {Float64Array} leafUs */
function statesOf({ leafState }, leafUs) {
  const states = new Float64Array(STATES.length)
  for (let leaf = 0; leaf < leafUs.length; leaf++) states[leafState[leaf]] += leafUs[leaf]
  return states
}

/** Returns the states of whole threads. @param {Recording} recording @param {number[]} threads indices */
function wholeStates({ threads: all }, threads) {
  return STATES.reduce((sums, _, state) => {
    for (const thread of threads) sums[state] += all[thread].states[state]
    return sums
  }, new Float64Array(STATES.length))
}

/** Returns the times of the nodes at work. @param {Recording} recording @param {Float64Array} leafUs */
function nodeTimes({ parent, leafNode, leafState }, leafUs) {
  const self = new Float64Array(parent.length)
  for (let leaf = 0; leaf < leafUs.length; leaf++) {
    if (leafState[leaf] < WAITING) self[leafNode[leaf]] += leafUs[leaf]
  }
  const total = self.slice()
  // Parents come before their children.
  for (let node = parent.length - 1; node >= 0; node--) {
    if (parent[node] !== -1) total[parent[node]] += total[node]
  }
  return { self, total }
}

/**
 * Returns the times of functions, files, packages and owners.
 * @param {Recording} recording @param {ReturnType<typeof nodeTimes>} nodes
 * @param {Float64Array} leafUs @param {Float64Array} criticalUs
 */
function itemCosts(recording, { self, total }, leafUs, criticalUs) {
  const { itemsOfNodes, outermost, leafNode, leafState } = recording
  const { names, filePaths, packages, ownerNames } = recording
  return [names, filePaths, packages, ownerNames].map(({ length }, kind) => {
    const costs = /** @type {Record<TIMES[number], Float64Array>} */ (
      Object.fromEntries(TIMES.map((name) => [name, new Float64Array(length)]))
    )
    const [items, isOutermost] = [itemsOfNodes[kind], outermost[kind]]
    for (let node = 0; node < items.length; node++) {
      const item = items[node]
      if (item === -1 || total[node] === 0) continue
      costs.self[item] += self[node]
      if (isOutermost[node] === 1) costs.total[item] += total[node]
    }
    for (let leaf = 0; leaf < leafUs.length; leaf++) {
      const item = items[leafNode[leaf]]
      if (item === -1 || leafUs[leaf] === 0) continue
      costs.critical[item] += criticalUs[leaf]
      if (leafState[leaf] === BLOCKED) costs.blocked[item] += leafUs[leaf]
      else if (leafState[leaf] === WAITING) costs.waiting[item] += leafUs[leaf]
    }
    return /** @type {Items} */ (costs)
  })
}

module.exports = { Costs, costsOf }
