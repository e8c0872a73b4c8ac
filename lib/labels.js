'use strict'

// Labels the program's work.

// The value of an `AsyncLocalStorage` is the id of the current label set, which the addon reads with each
// sample.

const { AsyncLocalStorage } = require('node:async_hooks')
const { isMarked, load, loaded, refuseOtherRuntimes } = require('./addon.js')
const { check, describe, isObject } = require('./check.js')
const { WrongUsage } = require('./errors/wrong-usage.js')
const early = require('./labels/early.js')

/** @typedef {import('./addon.js').Recorder} Recorder */

/** The most label sets that are remembered here: the addon remembers more, by their memory. */
const MAX_REMEMBERED = 2000

/** The longest value that is remembered here, in UTF-16 units. The addon cuts longer ones. */
const MAX_LENGTH = 256

/**
 * A remembered label set: its id, and the sets that one more label makes of it, by name and value. A search
 * by short texts is faster than by one long text of all labels.
 * @typedef {{ id: number, further?: Map<string, Map<string, Remembered>> }} Remembered
 */

/** What labels must be. @type {import('./check.js').Kind} */
const LABELS = ['an object', isObject]

/** The id of the empty set. */
const NO_LABELS = 0

/** The id of a set that was not asked for yet. */
const UNKNOWN = -1

/**
 * How the calling thread's labels are kept.
 * @typedef {object} Labelling
 * @property {Recorder} addon
 * @property {AsyncLocalStorage<number | EarlyLabels>} storage has the id of the current label set
 * @property {Map<number, Remembered>} sets remembered sets, by the id of the set that they add to
 * @property {number} count how many sets are remembered
 * @property {number} generation of the addon in which they were asked for
 * @property {Map<number, object>} frames contexts with nothing but a set, by its id
 * @property {import('./labels/hooks.js').ContextHooks | null} hooks null where the addon reads the storage
 */

/**
 * Labels of a context that was entered while nobody recorded: they are gone with it.
 * @typedef {{ id: number, texts: string[] }} EarlyLabels names and values in turn, beside a set
 */

/** Null if labels cannot be recorded, undefined before the first label that can be recorded. @type {Labelling | null | undefined} */
let known

/** The storage of all labels of this module. @type {AsyncLocalStorage<number | EarlyLabels> | undefined} */
let ownStorage

/** Whether the calling thread is recorded or armed, or was. */
let isWatched = false

/**
 * Runs a function with labels, and returns what it returns. All that it starts has the labels too.
 * @template T @param {Record<string, unknown>} labels @param {() => T} fn @returns {T}
 */
function label(labels, fn) {
  if (typeof fn !== 'function') {
    throw new WrongUsage(`cpu-prof: label() takes a function, not ${describe(fn)}`)
  }
  if (!isWatched && !becomesWatched()) return storageOfEarly().run(earlyWith(labels), fn)
  if (known === undefined) known = open()
  const id = idOf(known, labels)
  if (known === null) return fn()
  const { storage, hooks } = known
  return hooks === null ? storage.run(id, fn) : hooks.run(id, fn)
}

/** Adds labels to the rest of the current asynchronous context. @param {Record<string, unknown>} labels */
function setLabels(labels) {
  if (!isWatched && !becomesWatched()) {
    storageOfEarly().enterWith(earlyWith(labels))
    return
  }
  if (known === undefined) known = open()
  enter(known, idOf(known, labels))
}

/**
 * Makes labels the only ones of the rest of the current asynchronous context, if labels can be recorded.
 * @param {Record<string, unknown>} labels
 */
function replaceLabels(labels) {
  if (known === undefined) known = open()
  const id = idOf(known, labels, NO_LABELS)
  if (known === null || entersFrame(known, id)) return
  enter(known, id)
}

/** Finds out whether somebody has begun to record or to arm the thread. */
function becomesWatched() {
  isWatched = isMarked() || loaded()?.isWatched === true
  return isWatched
}

/** Returns the storage of the contexts of a thread that nobody records. It keeps nothing but the contexts. */
function storageOfEarly() {
  if (ownStorage === undefined) {
    ownStorage = new AsyncLocalStorage()
    early.adopt = adopt
  }
  return ownStorage
}

/** Gives the current context the labels that it got while nobody recorded. A recording calls this as it starts. */
function adopt() {
  const labels = ownStorage?.getStore()
  if (typeof labels !== 'object' || !becomesWatched()) return
  if (known === undefined) known = open()
  enter(known, idOf(known, {}, labels))
}

/** Returns the current labels with further ones. @param {Record<string, unknown>} labels @returns {EarlyLabels} */
function earlyWith(labels) {
  const further = textsOf(labels)
  const outer = storageOfEarly().getStore() ?? NO_LABELS
  const { id, texts } = typeof outer === 'number' ? { id: outer, texts: [] } : outer
  const all = [...texts]
  for (let i = 0; i < further.length; i += 2) {
    let at = 0
    while (at < all.length && all[at] !== further[i]) at += 2
    all[at] = further[i]
    all[at + 1] = further[i + 1]
  }
  return { id, texts: all }
}

/**
 * Enters the frame that all contexts with nothing but a label set share, if there is no other context to keep.
 * Returns whether it did. A frame for each request would cost V8's collections more than all else that is
 * done for a request.
 * @param {Labelling} labelling @param {number} id
 */
function entersFrame({ addon, storage, frames, hooks }, id) {
  if (hooks !== null) return false
  let frame = frames.get(id)
  if (frame === undefined) {
    if (!addon.cpuProfIsOutside()) return false
    frame = storage.run(id, () => addon.cpuProfFrame()) ?? undefined
    if (frame === undefined) return false
    frames.set(id, frame)
  }
  return addon.cpuProfEnterFrame(frame)
}

/** @param {Labelling | null} labelling @param {number} id */
function enter(labelling, id) {
  if (labelling === null) return
  labelling.storage.enterWith(id)
  labelling.hooks?.set(id)
}

/**
 * Returns the id of a label set with further labels; throws if one is wrong.
 * @param {Labelling | null} labelling null only checks the labels @param {Record<string, unknown>} labels
 * @param {number | EarlyLabels} [outer] the set; by default the current one
 * @returns {number}
 */
function idOf(labelling, labels, outer = labelling?.storage.getStore() ?? NO_LABELS) {
  const texts = textsOf(labels)
  if (labelling === null) return NO_LABELS
  const outerId = typeof outer === 'number' ? outer : idOfTexts(labelling, outer.id, outer.texts)
  return idOfTexts(labelling, outerId, texts)
}

/** @param {Labelling} labelling @param {number} outer @param {string[]} texts names and values in turn */
function idOfTexts(labelling, outer, texts) {
  let set = labelling.sets.get(outer)
  for (let i = 0; set !== undefined && i < texts.length; i += 2) {
    set = set.further?.get(texts[i])?.get(texts[i + 1])
  }
  if (set !== undefined && set.id !== UNKNOWN) return set.id
  const { addon } = labelling
  const id = addon.cpuProfLabelSet(outer, texts)
  const generation = addon.cpuProfLabelGeneration()
  if (labelling.count >= MAX_REMEMBERED || labelling.generation !== generation) {
    forgetSets(labelling, generation)
  }
  // A new set, such as that of a trace's id, may never come again.
  if (id < 0) return -id
  remember(labelling, outer, texts, id)
  return id
}

/** Forgets the ids of sets. The addon can forget those of an earlier generation. @param {Labelling} labelling @param {number} generation */
function forgetSets(labelling, generation) {
  labelling.sets.clear()
  labelling.frames.clear()
  labelling.count = 0
  labelling.generation = generation
}

/** Returns names and values in turn; throws if a label is wrong. @param {Record<string, unknown>} labels */
function textsOf(labels) {
  check('labels', labels, LABELS)
  /** @type {string[]} */
  const texts = []
  for (const name of Object.keys(labels)) {
    const value = labels[name]
    if (value !== undefined) texts.push(name, textOf(name, value))
  }
  return texts
}

/** @param {string} name @param {unknown} value */
function textOf(name, value) {
  if (typeof value === 'string') {
    return value.length > MAX_LENGTH ? value.slice(0, MAX_LENGTH + 1) : value
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const allowed = 'must be a string, a number or a boolean'
  throw new WrongUsage(`cpu-prof: the label ${name} ${allowed}, not ${describe(value)}`)
}

/**
 * Remembers the id of a set, so that the addon is not asked again.
 * @param {Labelling} labelling @param {number} outer @param {string[]} texts @param {number} id
 */
function remember(labelling, outer, texts, id) {
  if (texts.some((text) => text.length > MAX_LENGTH)) return
  /** @returns {Remembered} */
  const newSet = () => {
    labelling.count++
    return { id: UNKNOWN }
  }
  let set = ofKey(labelling.sets, outer, newSet)
  for (let i = 0; i < texts.length; i += 2) {
    set.further ??= new Map()
    const values = ofKey(set.further, texts[i], () => new Map())
    set = ofKey(values, texts[i + 1], newSet)
  }
  set.id = id
}

/**
 * Returns the value of a key, which is made if the key is new.
 * @template K, V @param {Map<K, V>} map @param {K} key @param {() => V} make
 */
function ofKey(map, key, make) {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
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
  if (addon.labelling === undefined) addon.labelling = openOn(addon)
  return addon.labelling
}

/** @param {Recorder} addon @returns {Labelling | null} */
function openOn(addon) {
  try {
    if (!addon.cpuProfCanLabel()) {
      if (addon.cpuProfIsRecording())
        addon.cpuProfRefuseLabels('this system has no way to read them')
      return null
    }
    const storage = ownStorage ?? new AsyncLocalStorage()
    const labelling = {
      addon,
      storage,
      sets: new Map(),
      count: 0,
      generation: 0,
      frames: new Map(),
      hooks: null,
    }
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

module.exports = { label, setLabels, replaceLabels }
