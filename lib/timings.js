'use strict'

// Adds the program's user timings to the recording.

// These are marks, measures and functions of `performance`, and DNS queries.

const { PerformanceObserver, performance } = require('node:perf_hooks')

/** Kinds of entries. Node creates those of `dns` only while there is an observer. @type {any[]} */
const ENTRY_TYPES = ['mark', 'measure', 'function', 'dns']

/** A larger detail is left out: it would make each flush slow. */
const MAX_DETAIL = 64 * 1024

/** `JSON.stringify`, copied at the start: the program can patch it later. @type {typeof JSON.stringify} */
let stringify

/**
 * Adds the timings of the calling thread to its recording.
 * @param {any} addon @returns {() => void} ends this
 */
function observe(addon) {
  // Node's own method of observers, which takes an entry when it is created. An ordinary observer
  // would keep its entries until a turn of the event loop, and a busy program has none.
  const symbols = Object.getOwnPropertySymbols(PerformanceObserver.prototype)
  const method = symbols.find((symbol) => symbol.description === 'kMaybeBuffer')
  if (method === undefined) return () => {}
  stringify = JSON.stringify
  const offsetUs = clockOffsetUs()
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
  const leaveConsole = watchConsole(addon, offsetUs)
  return () => {
    observer.disconnect()
    leaveConsole()
  }
}

/**
 * Adds the calls of `console.timeStamp()`, which without an inspector does nothing. Returns the
 * function that ends this.
 * @param {any} addon @param {number} offsetUs
 */
function watchConsole(addon, offsetUs) {
  const original = console.timeStamp
  if (typeof original !== 'function') return () => {}
  // A bound function shows no code of its own.
  const watched = timeStamp.bind({ addon, original, offsetUs })
  const descriptor = { __proto__: null, value: 'timeStamp', configurable: true }
  Object.defineProperty(watched, 'name', /** @type {any} */ (descriptor))
  console.timeStamp = watched
  return () => {
    if (console.timeStamp === watched) console.timeStamp = original
  }
}

/**
 * Adds a call of `console.timeStamp(label, start, end, track, group, color)`. Both times are
 * milliseconds of `performance.now()`, or labels of earlier calls.
 * @this {{ addon: any, original: Function, offsetUs: number }} @param {any[]} args
 */
function timeStamp(...args) {
  try {
    const [label = 'default', start, end, track, trackGroup, color] = args
    const time = (/** @type {unknown} */ value) =>
      typeof value === 'number' ? Math.round(traceTime(this, value)) : value
    const name = `${label}`
    const data = {
      message: name,
      name,
      start: time(start),
      end: time(end),
      track,
      trackGroup,
      color,
    }
    const event = { cat: 'devtools.timeline', name: 'TimeStamp', ph: 'I', args: { data } }
    this.addon.cpuProfEmit(stringify(event))
  } catch {
    // The program must not see an error of the profiler.
  }
  return Reflect.apply(this.original, console, args)
}

/**
 * Returns a time by the trace's clock, microseconds. On macOS that clock stands still while the system
 * sleeps.
 * @param {{ addon: any, offsetUs: number }} recording @param {number} ms of `performance.now()`
 */
function traceTime({ addon, offsetUs }, ms) {
  return offsetUs + ms * 1e3 - addon.cpuProfClockLead()
}

/** Returns the time of the clock of `process.hrtime` at which `performance.now()` was 0, microseconds. */
function clockOffsetUs() {
  let [offsetUs, narrowestUs] = [0, Infinity]
  // The thread can stand still between two readings, so the closest ones count.
  for (let i = 0; i < 5; i++) {
    const beforeUs = hrtimeUs()
    const timeUs = performance.now() * 1e3
    const afterUs = hrtimeUs()
    if (afterUs - beforeUs >= narrowestUs) continue
    narrowestUs = afterUs - beforeUs
    offsetUs = (beforeUs + afterUs) / 2 - timeUs
  }
  return offsetUs
}

function hrtimeUs() {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e6 + nanoseconds / 1e3
}

/** @param {any} addon @param {any} entry @param {number} offsetUs */
function add(addon, entry, offsetUs) {
  const { entryType, startTime, duration } = entry
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

module.exports = { observe, clockOffsetUs }
