'use strict'

// Reads the labels of leaves. An item is a value of a key, or the absence of the key.

/** @typedef {NonNullable<ReturnType<typeof readLabels>>} Labels */

/**
 * Returns the items, and those of each leaf; undefined where no leaf has labels.
 * @param {{ labels?: number[] }} leaves @param {Record<string, string>[]} [sets] from that of the number 1 on
 */
function readLabels({ labels }, sets = []) {
  if (labels === undefined || sets.length === 0) return undefined
  const all = [{}, ...sets].map((set) => new Map(Object.entries(set)))
  const keys = [...new Set(all.flatMap((set) => [...set.keys()]))]
  /** @type {{ key: string, name: string }[]} */
  const items = []
  /** Item of each set, by the keys. */
  const ofSets = keys.map((key) => {
    /** @type {Map<string | undefined, number>} */
    const known = new Map()
    return Int32Array.from(all, (set) => {
      const value = set.get(key)
      const item = known.get(value) ?? items.length
      if (item === items.length) {
        known.set(value, item)
        items.push({ key, name: value ?? `(no ${key})` })
      }
      return item
    })
  })
  /** Items of the leaves, by the keys. */
  const ofLeaves = ofSets.map((ofSet) => Int32Array.from(labels, (set) => ofSet[set]))
  return { keys, items, ofLeaves }
}

/** Returns for each leaf whether it has an item. @param {Labels} labels @param {number} item */
function leavesOf({ keys, items, ofLeaves }, item) {
  return Uint8Array.from(ofLeaves[keys.indexOf(items[item].key)], (other) =>
    other === item ? 1 : 0,
  )
}

module.exports = { readLabels, leavesOf }
