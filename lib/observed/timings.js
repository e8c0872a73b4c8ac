'use strict'

// Adds the entries of `performance` to the recording.

// These are marks, measures and functions of `timerify()`, and DNS queries.

const { PerformanceObserver } = require('node:perf_hooks')
const { clockOffsetUs } = require('./clock.js')

/** @typedef {import('../addon.js').Recorder} Recorder */

/**
 * Kinds of entries. Node creates those of `dns` only while there is an observer. Other kinds have headers and
 * addresses of requests, which a recording must not have.
 * @type {any[]}
 */
const ENTRY_TYPES = ['mark', 'measure', 'function', 'dns']

/** A larger detail is left out: it would make each flush slow. */
const MAX_DETAIL = 64 * 1024

/** `JSON.stringify` of Node. @type {typeof JSON.stringify} */
let stringify

/**
 * Adds the entries of the calling thread to its recording.
 * @param {Recorder} addon @param {import('../thread.js').Originals} originals @returns {() => void} ends this
 */
function observe(addon, originals) {
  // Node's own method of observers, which takes an entry when it is created. An ordinary observer
  // would keep its entries until a turn of the event loop, and a busy program has none.
  const symbols = Object.getOwnPropertySymbols(PerformanceObserver.prototype)
  const method = symbols.find((symbol) => symbol.description === 'kMaybeBuffer')
  if (method === undefined) return () => {}
  stringify = originals.stringify
  const offsetUs = clockOffsetUs(originals.hrtime)
  const observer = new PerformanceObserver(() => {})
  /** @param {any} entry */
  const take = (entry) => {
    try {
      add(addon, entry, offsetUs)
    } catch {
      // The program can have patched what this calls. It must not see an error of the profiler.
    }
  }
  const descriptor = { __proto__: null, value: take }
  Object.defineProperty(observer, method, /** @type {any} */ (descriptor))
  observer.observe({ entryTypes: ENTRY_TYPES })
  return () => observer.disconnect()
}

/** @param {Recorder} addon @param {any} entry @param {number} offsetUs */
function add(addon, entry, offsetUs) {
  const { entryType } = entry
  // This takes the place of the method in which Node checks the kinds.
  if (!ENTRY_TYPES.includes(entryType)) return
  const { startTime, duration } = entry
  // A program can have changed its entries.
  if (typeof startTime !== 'number') return
  const startUs = offsetUs + startTime * 1e3
  if (entryType === 'mark') {
    addon.cpuProfMark(entry.name, detailOf(entry), startUs, startTime)
    return
  }
  const [name, detail] = describe(entry)
  addon.cpuProfMeasure(name, detail, startUs, startTime, duration * 1e3)
}

/**
 * Returns the name of an entry and its detail. Entries of Node get tracks of their own.
 * @param {any} entry @returns {[string, string | undefined]}
 */
function describe(entry) {
  const { entryType, name, detail } = entry
  switch (entryType) {
    case 'dns':
      return [`${name} ${detail?.hostname ?? detail?.host ?? ''}`, trackEntry('DNS', 'tertiary')]
    case 'function':
      return [name || '(anonymous)', trackEntry('timerify', 'secondary')]
    default:
      return [name, detailOf(entry)]
  }
}

/** @param {string} track @param {string} color */
function trackEntry(track, color) {
  const devtools = { dataType: 'track-entry', track, color, properties: [] }
  return stringify({ devtools })
}

/** Returns the program's detail as JSON. Node has cloned it, so it has no getters. @param {any} entry */
function detailOf({ detail }) {
  if (detail === null || detail === undefined) return undefined
  try {
    const text = stringify(detail)
    return text !== undefined && text.length <= MAX_DETAIL ? text : undefined
  } catch {
    // A circle, or a BigInt.
    return undefined
  }
}

module.exports = { observe }
