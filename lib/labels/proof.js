'use strict'

// Finds where V8 keeps the current asynchronous context, and proves that labels are read from there.

const { AsyncLocalStorage } = require('node:async_hooks')

/** @typedef {import('../addon.js').Recorder} Recorder */

/** Counts of other storages in a context, which its table grows with. */
const OTHERS = [0, 1, 8, 100]

/** Values that are read: the smallest and the largest of their kind, and some between. */
const VALUES = [-(2 ** 31), -7, 0, 1, 10_001, 2 ** 31 - 1]

/**
 * Lets the addon read a storage's value with each sample. Returns null if it does, undefined if this Node
 * keeps no context that can be read, and else the reason against.
 * @param {Recorder} addon @param {AsyncLocalStorage<any>} storage
 * @returns {string | null | undefined}
 */
function useContext(addon, storage) {
  // Such a Node has words of half the size.
  const { variables } = /** @type {any} */ (process.config)
  if (variables.v8_enable_pointer_compression === 1 || !('snapshot' in AsyncLocalStorage)) {
    return undefined
  }
  // Node leaves an entry in the current context for each storage that was used. Only this ends them.
  return AsyncLocalStorage.snapshot()(() => prove(addon, storage))
}

/**
 * @param {Recorder} addon @param {AsyncLocalStorage<any>} storage
 * @returns {string | null | undefined} as `useContext`
 */
function prove(addon, storage) {
  const hasContext = storage.run(1, () => addon.cpuProfFindContext())
  if (!hasContext) return undefined
  const isFound = storage.run(2, () => addon.cpuProfFindContextAgain(storage))
  if (!isFound) return 'this Node.js keeps the asynchronous context in an unknown place'
  if (!isProven(addon, storage))
    return 'this Node.js keeps the asynchronous context in an unknown form'
  addon.cpuProfUseContext()
  return null
}

/** @param {Recorder} addon @param {AsyncLocalStorage<any>} storage */
function isProven(addon, storage) {
  /** @param {number | null} expected */
  const reads = (expected) => addon.cpuProfReadLabels() === expected
  /** @param {number} value */
  const readsIn = (value) =>
    storage.run(value, () => reads(value) && storage.exit(() => reads(null)) && reads(value))
  return OTHERS.every((count) => {
    const others = Array.from({ length: count }, () => new AsyncLocalStorage())
    const inner = others.splice(count / 2)
    return (
      reads(null) &&
      within(
        others,
        0,
        () =>
          reads(null) &&
          VALUES.every(readsIn) &&
          storage.run(-7, () => within(inner, 0, () => reads(-7))),
      )
    )
  })
}

/**
 * Calls a function in a context with a value of each storage from an index on.
 * @param {AsyncLocalStorage<any>[]} storages @param {number} from @param {() => boolean} fn
 * @returns {boolean}
 */
function within(storages, from, fn) {
  if (from === storages.length) return fn()
  return storages[from].run(0, () => within(storages, from + 1, fn))
}

module.exports = { useContext }
