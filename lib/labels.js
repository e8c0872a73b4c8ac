'use strict'

// Labels the program's work.

// The value of an `AsyncLocalStorage` is the id of the current label set, which the addon reads with each
// sample.

const { AsyncLocalStorage } = require('node:async_hooks')
const { load } = require('./addon.js')
const { check, describe, isObject } = require('./check.js')
const { refuseOtherRuntimes } = require('./record.js')

/** The most label sets whose ids are remembered here. */
const MAX_REMEMBERED = 10_000

/** The longest text of a label set whose id is remembered here. */
const MAX_LENGTH = 1000

/**
 * How the calling thread's labels are kept.
 * @typedef {object} Labelling
 * @property {any} addon
 * @property {AsyncLocalStorage<number>} storage has the id of the current label set
 * @property {Map<string, number>} ids ids by the id of the outer set and the texts of the labels
 * @property {import('./labels/hooks.js').ContextHooks | null} hooks null where the addon reads the storage
 */

/** Null if labels cannot be recorded, undefined before the first label. @type {Labelling | null | undefined} */
let known

/**
 * Runs a function with labels, and returns what it returns. All that it starts has the labels too.
 * @template T @param {Record<string, unknown>} labels @param {() => T} fn @returns {T}
 */
function label(labels, fn) {
  if (typeof fn !== 'function') {
    throw new TypeError(`cpu-prof: label() takes a function, not ${describe(fn)}`)
  }
  const texts = textsOf(labels)
  if (known === undefined) known = open()
  if (known === null) return fn()
  const { storage, hooks } = known
  const id = idOf(known, texts)
  return hooks === null ? storage.run(id, fn) : hooks.run(id, fn)
}

/** Adds labels to the rest of the current asynchronous context. @param {Record<string, unknown>} labels */
function setLabels(labels) {
  const texts = textsOf(labels)
  if (known === undefined) known = open()
  if (known === null) return
  const id = idOf(known, texts)
  known.storage.enterWith(id)
  known.hooks?.set(id)
}

/** Returns names and values in turn, as text. @param {Record<string, unknown>} labels */
function textsOf(labels) {
  check('labels', labels, ['an object', isObject])
  /** @type {string[]} */
  const texts = []
  for (const name of Object.keys(labels)) {
    const value = labels[name]
    if (value === undefined) continue
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      const text = describe(value)
      throw new TypeError(
        `cpu-prof: the label ${name} must be a string, a number or a boolean, not ${text}`,
      )
    }
    texts.push(name, String(value))
  }
  return texts
}

/**
 * Returns the id of the current label set with further labels.
 * @param {Labelling} labelling @param {string[]} texts
 */
function idOf({ addon, storage, ids }, texts) {
  const outer = storage.getStore() ?? 0
  let key = String(outer)
  // With their lengths, no two lists of texts have one key.
  for (const text of texts) key += `,${text.length},${text}`
  const remembered = ids.get(key)
  if (remembered !== undefined) return remembered
  const id = addon.cpuProfLabelSet(outer, texts)
  if (ids.size >= MAX_REMEMBERED) ids.clear()
  if (key.length <= MAX_LENGTH) ids.set(key, id)
  return id
}

/** Finds out how the calling thread's labels can be recorded. @returns {Labelling | null} */
function open() {
  let addon
  try {
    refuseOtherRuntimes()
    addon = load()
  } catch {
    return null
  }
  // Kept on the addon because jest loads this module once per test file.
  if (addon.labelling === undefined) addon.labelling = openOn(addon)
  return addon.labelling
}

/** @param {any} addon @returns {Labelling | null} */
function openOn(addon) {
  try {
    if (!addon.cpuProfCanLabel()) {
      if (addon.cpuProfIsRecording())
        addon.cpuProfRefuseLabels('this system has no way to read them')
      return null
    }
    const storage = new AsyncLocalStorage()
    const labelling = { addon, storage, ids: new Map(), hooks: null }
    const why = require('./labels/proof.js').useContext(addon, storage)
    if (why === null) return labelling
    if (why === undefined) {
      return { ...labelling, hooks: require('./labels/hooks.js').watch(addon, storage) }
    }
    addon.cpuProfRefuseLabels(why)
  } catch {
    // The program has patched what this needs.
  }
  return null
}

module.exports = { label, setLabels }
