'use strict'

// The functions of the package, each of which loads its code on its first call.

// Loaded now, because later its file can be gone too.
const { sayWhy } = require('./errors/say-why.js')

/** Whether the user was told that a file cannot be loaded. */
let hasComplained = false

/**
 * Returns a function that loads a file on its first call, and looks nothing up on later ones. The function
 * returns null if the file cannot be loaded: a deployment can have removed the package or be writing it, or the
 * process can have no descriptor left, or lost the right to read it. The program runs on. The file has a function
 * of the given name.
 * @template T @param {() => T} load @param {keyof T & string} name @returns {() => T | null}
 */
function once(load, name) {
  /** @type {T | null | undefined} */
  let loaded
  return () => {
    if (loaded !== undefined) return loaded
    try {
      const exported = load()
      if (typeof exported[name] !== 'function') throw new Error(`its code has no ${name}()`)
      loaded = exported
    } catch (error) {
      loaded = null
      complain(error)
    }
    return loaded
  }
}

/** Says why calls do nothing, once, and only in a process that is recorded. @param {unknown} error */
function complain(error) {
  if (hasComplained || !(Symbol.for('@org/cpu-prof.recorded') in process)) return
  hasComplained = true
  sayWhy('labels and events of the program are not recorded', error)
}

const recording = once(() => require('./record.js'), 'isRecording')
const labels = once(() => require('./labels.js'), 'label')
const events = once(() => require('./events.js'), 'emit')

/** @type {typeof import('../index.js').start} */
function start(...args) {
  return /** @type {any} */ (require('./record.js')).start(...args)
}

/** @type {typeof import('../index.js').stop} */
function stop() {
  return require('./record.js').stop()
}

/** @param {() => any} fn @param {any} [options] @returns {Promise<any>} */
async function profile(fn, options) {
  const code = recording()
  return code === null ? { result: await fn(), recording: null } : code.profile(fn, options)
}

/** @type {typeof import('../index.js').isRecording} */
function isRecording() {
  return recording()?.isRecording() ?? false
}

/** @type {typeof import('../index.js').label} */
function label(given, fn) {
  const code = labels()
  return code === null ? fn() : code.label(given, fn)
}

/** @type {typeof import('../index.js').setLabels} */
function setLabels(given) {
  labels()?.setLabels(given)
}

/** @type {typeof import('../index.js').emit} */
function emit(event) {
  events()?.emit(event)
}

/** @type {typeof import('../index.js').span} */
function span(name, fn, options) {
  const code = events()
  return code === null ? fn() : code.span(name, fn, options)
}

/** @type {typeof import('../index.js').instant} */
function instant(name, options) {
  events()?.instant(name, options)
}

/** @type {typeof import('../index.js').counter} */
function counter(name, values) {
  events()?.counter(name, values)
}

/** @type {typeof import('../index.js').merge} */
function merge(...args) {
  return require('./offline.js').merge(...args)
}

/** @type {typeof import('../index.js').report} */
function report(...args) {
  return require('./offline.js').report(...args)
}

/** @type {typeof import('../index.js').convert} */
function convert(...args) {
  return require('./offline.js').convert(...args)
}

/** @type {typeof import('../index.js').check} */
function check(...args) {
  return require('./offline.js').check(...args)
}

/** @type {typeof import('../index.js').compare} */
function compare(...args) {
  return require('./offline.js').compare(...args)
}

module.exports = {
  start,
  stop,
  profile,
  isRecording,
  emit,
  span,
  instant,
  counter,
  label,
  setLabels,
  merge,
  report,
  convert,
  check,
  compare,
}
