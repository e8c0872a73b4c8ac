'use strict'

// Adds the program's own events to the running recording of the calling thread.

const { isMarked, load } = require('./addon.js')

/** The addon while the calling thread may be recorded, else null; at first undefined. @type {import('./addon.js').Recorder | null | undefined} */
let recorder

/** Finds out whether the preload records the thread: another copy of this module may have begun that. */
function lookUp() {
  try {
    recorder = isMarked() ? load() : null
  } catch {
    // The preload has said why nothing is recorded.
    recorder = null
  }
  return recorder
}

/** Returns the addon; null if the calling thread is surely not recorded. */
function current() {
  return recorder === undefined ? lookUp() : recorder
}

/** Lets events be added from now on. @param {import('./addon.js').Recorder} addon */
function attach(addon) {
  recorder = addon
}

/** Adds no events from now on. */
function detach() {
  recorder = null
}

/**
 * Adds an event. Throws if the event is against the rules of its phase.
 * @param {object} event
 */
function emit(event) {
  const addon = current()
  if (addon === null) return
  const code = loadChecks()
  if (code === null) return
  const { describe, WrongUsage } = code
  if (typeof event !== 'object' || event === null) {
    throw new WrongUsage(`cpu-prof: emit() takes an event, not ${describe(event)}`)
  }
  const problem = addon.cpuProfEmit(asJson(event, 'the event of emit()', code))
  if (problem !== null) throw new WrongUsage(`cpu-prof: emit(): ${problem}`)
}

/**
 * Runs a function, and adds its time under a name. The time of a function that returns a promise
 * ends when the promise is settled.
 * @template T @param {string} name @param {() => T} fn @param {object} [options]
 * @returns {T}
 */
function span(name, fn, options) {
  const addon = current()
  if (addon === null) return fn()
  const text = String(name)
  const number = addon.cpuProfBeginSpan(text, detailOf('track-entry', options))
  const end = () => {
    if (number !== null) addon.cpuProfEndSpan(text, number)
  }
  let result
  try {
    result = fn()
  } catch (error) {
    end()
    throw error
  }
  if (isPromise(result)) return /** @type {any} */ (result).finally(end)
  end()
  return result
}

/** Marks a moment. @param {string} name @param {object} [options] */
function instant(name, options) {
  const addon = current()
  addon?.cpuProfMark(String(name), detailOf('marker', options))
}

/** Adds values over time. @param {string} name @param {Record<string, number>} values */
function counter(name, values) {
  if (current() === null) return
  emit({ cat: 'user', name, ph: 'C', args: values })
}

/**
 * Returns how DevTools draws a time or a moment, as JSON.
 * @param {'track-entry' | 'marker'} dataType
 * @param {any} [options]
 */
function detailOf(dataType, options) {
  if (options === undefined) return undefined
  const code = loadChecks()
  if (code === null) return undefined
  const { track, group, color, tooltip, properties } = code.ownValues('options', options)
  const devtools = {
    dataType,
    track,
    trackGroup: group,
    color,
    tooltipText: tooltip,
    properties: properties && Object.entries(properties),
  }
  return asJson({ devtools }, 'an option', code)
}

/**
 * Loads what checks the arguments. Returns null if it cannot be loaded: the program runs on without the event.
 * @returns {typeof import('./check.js') | null}
 */
function loadChecks() {
  try {
    const code = require('./check.js')
    return typeof code.ownValues === 'function' ? code : null
  } catch {
    return null
  }
}

/**
 * Returns a value as JSON, and throws if it has none.
 * @param {unknown} value @param {string} what the value is @param {typeof import('./check.js')} code
 */
function asJson(value, what, { WrongUsage }) {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (cause) {
    // A circle, a BigInt, or an error of the program's own toJSON().
    const [reason] = String(/** @type {any} */ (cause)?.message).split('\n', 1)
    throw new WrongUsage(`cpu-prof: ${what} cannot be written as JSON: ${reason}`, { cause })
  }
}

/** Returns whether a value is a promise with `finally`. @param {any} value */
function isPromise(value) {
  return typeof value?.then === 'function' && typeof value.finally === 'function'
}

module.exports = { emit, span, instant, counter, attach, detach }
