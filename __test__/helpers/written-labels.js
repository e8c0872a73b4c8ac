'use strict'

// The label ids and label sets of written samples, as cpu-prof writes them in traces and `.cpuprofile`s.

/** @typedef {Record<string, unknown>} LabelSet */

/** Gives label sets their ids, each once. */
class LabelIds {
  /** @type {Map<string, number>} */
  #ids = new Map()
  #next

  /** @param {number} [first] the first id */
  constructor(first = 1) {
    this.#next = first
  }

  /**
   * Returns the arrays of samples with these sets; nothing if none has labels.
   * @param {(LabelSet | undefined)[]} sets of the samples
   */
  arrays(sets) {
    if (sets.every((set) => set === undefined)) return {}
    /** @type {Record<string, LabelSet>} */
    const labelSets = {}
    const labels = sets.map((set) => {
      if (set === undefined) return 0
      const text = JSON.stringify(set)
      const known = this.#ids.get(text)
      if (known !== undefined) return known
      const id = this.#next++
      this.#ids.set(text, id)
      labelSets[id] = set
      return id
    })
    return { labels, ...(Object.keys(labelSets).length > 0 && { labelSets }) }
  }
}

module.exports = { LabelIds }
