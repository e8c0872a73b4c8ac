'use strict'

// What JavaScript does beside a recording of the calling thread, while the recording lasts.

// Node's modules of timings cost a start more than all other JavaScript of a recording, and most programs never
// use them. So they are loaded when the program loads them. What a start needs for this is in this file, because
// each file costs tenths of a millisecond.

/** @typedef {import('./addon.js').Recorder} Recorder */

/** Bits of `cpuProfWantedTimings()`: user timings, requests, and what TypeScript compiles. */
const TIMINGS = 1
const REQUESTS = 2
const TYPESCRIPT = 4

/** What Node notes when it has loaded a module with timings, before anybody can use the module. @type {Record<string, true>} */
const NOTES = {
  __proto__: /** @type {any} */ (null),
  'NativeModule perf_hooks': true,
  'NativeModule dns': true,
  'NativeModule internal/dns/promises': true,
}

/**
 * What the program can patch before it loads the modules.
 * @typedef {{ stringify: typeof JSON.stringify, hrtime: typeof process.hrtime }} Originals
 */

/**
 * What the inspector source is asked for: as `start()` of `inspector-sampler.js` takes it.
 * @typedef {[intervalUs: number, flushMs: number, isFixed: boolean, realm: unknown]} Plan
 */

/**
 * What JavaScript keeps on the addon, because jest loads this module once per test file.
 * @typedef {object} Kept
 * @property {boolean} [isWatched] whether the calling thread is recorded or armed, or was
 * @property {boolean} [watchesExecve]
 * @property {() => void} [stopAttaching]
 * @property {() => void} [stopInspector]
 * @property {() => void} [stopTimings]
 * @property {() => void} [stopRequests]
 * @property {() => void} [stopTypeScript]
 * @property {() => void} [stopWorkers]
 * @property {import('./labels.js').Labelling | null} [labelling]
 * @property {Int32Array} [labelCell] which the addon reads
 * @property {{ numbers: Float64Array, units: Uint16Array }} [requestNotes] which the addon reads
 */

/** Adds the program's own events to the recording that has started, and its end by `process.execve()`. @param {Recorder} addon */
function addEvents(addon) {
  try {
    // Up to Node 25, Node calls the exit callbacks of a program that `process.execve()` replaces.
    if (Number.parseInt(process.versions.node, 10) > 25) endBeforeExecve(addon)
    addon.stopWorkers?.()
    addon.stopWorkers = noteWorkers(addon)
    const wanted = addon.cpuProfWantedTimings()
    if ((wanted & TIMINGS) !== 0) {
      addon.stopTimings?.()
      addon.stopTimings = observeTimings(addon)
    }
    if ((wanted & REQUESTS) !== 0) {
      addon.stopRequests?.()
      addon.stopRequests = require('./observed/requests.js').observe(addon)
    }
    if ((wanted & TYPESCRIPT) !== 0) {
      addon.stopTypeScript?.()
      addon.stopTypeScript = require('./observed/typescript.js').observe(addon, watchAdditions)
    }
  } catch {
    // An earlier preload has patched what these need. The rest is recorded.
  }
}

/** Ends the recording before the program calls `process.execve()`. @param {Recorder} addon */
function endBeforeExecve(addon) {
  if (addon.watchesExecve) return
  addon.watchesExecve = true
  const { subscribe } = require('node:diagnostics_channel')
  // Node tells the channel after it has checked the arguments of a call.
  subscribe('process.execve', () => addon.cpuProfEndForNow())
}

/**
 * Lets the addon know each worker that the thread starts: the time of one that is not recorded is then that of a
 * worker, and of no other thread without a name.
 * @param {Recorder} addon @returns {() => void} ends this
 */
function noteWorkers(addon) {
  // Node 18 does not tell.
  if (Number.parseInt(process.versions.node, 10) < 20) return () => {}
  const { subscribe, unsubscribe } = require('node:diagnostics_channel')
  /** @param {any} message */
  const note = ({ worker }) => {
    try {
      // Node's own thread for hooks of modules is no worker of the program.
      if (worker.constructor.name !== 'InternalWorker') addon.cpuProfNoteWorker()
    } catch {
      // The program must not see an error of the profiler.
    }
  }
  subscribe('worker_threads', note)
  return () => unsubscribe('worker_threads', note)
}

/** Lets the program add events, also after an earlier recording has ended, and adds its own. @param {Recorder} addon */
function beginEvents(addon) {
  require('./events.js').attach(addon)
  addEvents(addon)
}

/** Ends what JavaScript does beside a recording. @param {Recorder} addon */
function endEvents(addon) {
  addon.stopAttaching?.()
  addon.stopInspector?.()
  addon.stopTimings?.()
  addon.stopRequests?.()
  addon.stopTypeScript?.()
  addon.stopWorkers?.()
  addon.stopAttaching = addon.stopInspector = undefined
  addon.stopTimings = addon.stopRequests = addon.stopTypeScript = undefined
  addon.stopWorkers = undefined
  require('./events.js').detach()
}

/**
 * Stops recording the calling thread; returns null if it is not recorded.
 * @param {Recorder} addon
 */
function stopThread(addon) {
  endEvents(addon)
  return addon.cpuProfStop()
}

/**
 * Adds the program's own events to a recording of an armed thread, or ends them with the recording. The addon
 * calls this when the recording has started or stopped.
 * @param {Recorder} addon
 */
function follow(addon) {
  try {
    if (addon.cpuProfFollow(inspectorStarter(addon))) stopThread(addon)
    else if (addon.cpuProfIsRecording()) {
      learnAddonName(addon)
      beginEvents(addon)
    } else endEvents(addon)
  } catch {
    // The program has patched what these need. The profile is recorded.
  }
}

/**
 * Lets the addon learn the name that V8 gives to the functions of all addons, at the start of a recording. It is
 * that of this addon as long as there is no other one.
 * @param {Recorder} addon
 */
function learnAddonName(addon) {
  const isAddon = (/** @type {string} */ file) =>
    file.endsWith('.node') && !/[\\/]cpu-prof[^\\/]*$/.test(file)
  if (Object.keys(require.cache).some(isAddon)) addon.cpuProfWaitForSample()
}

/** Returns the function by which the addon starts the inspector source. @param {Recorder} addon */
function inspectorStarter(addon) {
  return (/** @type {Plan} */ ...plan) => startInspector(addon, plan)
}

/**
 * Starts the inspector source. Returns why it could not start. An empty reason means that the thread has no
 * inspector, as Node's internal threads, and needs no message.
 * @param {Recorder} addon @param {Plan} plan @returns {string | null}
 */
function startInspector(addon, plan) {
  try {
    addon.stopInspector = require('./inspector-sampler.js').start(addon, ...plan)
    return null
  } catch (error) {
    const [reason] = String(error).split('\n', 1)
    return reason.endsWith('without a V8::Inspector') ? '' : reason
  }
}

/**
 * Adds the timings of the calling thread to its recording.
 * @param {Recorder} addon @returns {() => void} ends this
 */
function observeTimings(addon) {
  const originals = { stringify: JSON.stringify, hrtime: process.hrtime }
  const leaveEntries = observeEntries(addon, originals)
  const leaveConsole = watchConsole(addon, originals)
  return () => {
    leaveEntries()
    leaveConsole()
  }
}

/**
 * Adds entries from the moment on at which the program can make some.
 * @param {Recorder} addon @param {Originals} originals @returns {() => void} ends this
 */
function observeEntries(addon, originals) {
  const begin = () => require('./observed/timings.js').observe(addon, originals)
  const { moduleLoadList } = /** @type {any} */ (process)
  if (!Array.isArray(moduleLoadList)) return begin()
  for (let i = 0; i < moduleLoadList.length; i++) if (NOTES[moduleLoadList[i]]) return begin()
  let leave = watchAdditions(moduleLoadList, (note) => {
    if (!NOTES[note]) return
    leave()
    leave = begin()
  })
  return () => leave()
}

/**
 * Calls a function with each value that is added to an object from now on, and its key. An object asks its
 * prototype before it gets a new property.
 * @param {any} object @param {(value: any, key: any) => void} take @returns {() => void} ends this
 */
function watchAdditions(object, take) {
  const { getPrototypeOf, setPrototypeOf } = Object
  const { set } = Reflect
  const before = getPrototypeOf(object)
  /** @type {ProxyHandler<any>} */
  const handler = {
    set(target, key, value, receiver) {
      const isSet = set(target, key, value, receiver)
      try {
        if (receiver === object) take(value, key)
      } catch {
        // The program can have patched what this calls. It must not see an error of the profiler.
      }
      return isSet
    },
  }
  // An empty object between the two, so that an array is still an instance of `Array`.
  const between = new Proxy(Object.create(before), handler)
  setPrototypeOf(object, between)
  return () => {
    if (getPrototypeOf(object) === between) setPrototypeOf(object, before)
  }
}

/**
 * Adds the calls of `console.timeStamp()`, which without an inspector does nothing. Returns the
 * function that ends this.
 * @param {Recorder} addon @param {Originals} originals
 */
function watchConsole(addon, originals) {
  const original = console.timeStamp
  if (typeof original !== 'function') return () => {}
  // A bound function shows no code of its own.
  const watched = timeStamp.bind({ addon, original, originals })
  const descriptor = { __proto__: null, value: 'timeStamp', configurable: true }
  Object.defineProperty(watched, 'name', /** @type {any} */ (descriptor))
  console.timeStamp = watched
  return () => {
    if (console.timeStamp === watched) console.timeStamp = original
  }
}

/** @this {{ addon: Recorder, original: Function, originals: Originals }} @param {any[]} args */
function timeStamp(...args) {
  try {
    const { addon, originals } = this
    addon.cpuProfEmit(require('./observed/time-stamp.js').eventOf(addon, originals, args))
  } catch {
    // The program must not see an error of the profiler.
  }
  return Reflect.apply(this.original, console, args)
}

module.exports = {
  addEvents,
  beginEvents,
  follow,
  inspectorStarter,
  learnAddonName,
  startInspector,
  stopThread,
}
