'use strict'

// Records the thread that preloads the package.

// What start() needs of a thread is here as well: each file that a preload loads costs tenths of a
// millisecond.

const { load, refuseOtherRuntimes } = require('./addon.js')

// Copied now, because the program can patch both before the microtask of `nameWorker()` runs.
const { getOwnPropertyDescriptor, setPrototypeOf } = Object

/** Bits of `cpuProfWantedTimings()`: user timings, requests, and what TypeScript compiles. */
const TIMINGS = 1
const REQUESTS = 2
const TYPESCRIPT = 4

/** Node's own exit code for an invalid option. */
const INVALID_OPTION = 9

/** Key in the environment data, which workers inherit from their parent. */
const COMPLAINED = '@org/cpu-prof.complained'

/**
 * Starts recording the calling thread. Wrong settings end the program. Any other failure is one line
 * on stderr, and the program runs unprofiled.
 */
function register() {
  // Any call can throw, since earlier preloads can have patched any global. So the preload's files
  // call nothing outside of functions.
  try {
    if (!markThread()) return
    refuseOtherRuntimes()
    const settingsAreValid = record(load())
    if (!settingsAreValid) process.exit(INVALID_OPTION)
  } catch (error) {
    complain(error)
  }
}

/**
 * Marks the calling thread, and returns false if it was marked before. A second copy of the package
 * loads a second addon, which cannot see the first one's recording.
 */
function markThread() {
  const mark = Symbol.for('@org/cpu-prof.recorded')
  if (mark in process) return false
  const descriptor = { __proto__: null, value: true }
  Object.defineProperty(process, mark, /** @type {any} */ (descriptor))
  return true
}

/** @param {any} addon @returns {boolean} false if the settings are wrong */
function record(addon) {
  const { argv } = process
  const { length } = argv
  const thread = describeThread(addon)
  if (!addon.cpuProfRecord(thread, argv, inspectorStarter(addon), follower(addon))) return false
  if (addon.cpuProfIsRecording()) addEvents(addon)

  if (thread.threadId !== 0) nameWorker(addon, argv, length)
  return true
}

/**
 * Passes the worker's script to the addon. Node adds the script to argv after the preload. `await`
 * on null calls no `then` that a program can have patched.
 * @param {any} addon @param {string[]} argv @param {number} length of argv during the preload
 */
async function nameWorker(addon, argv, length) {
  await null
  try {
    if (argv.length <= length) return
    const script = ownValue(argv, '1')
    if (typeof script === 'string') addon.cpuProfNameWorker(script)
  } catch {
    // The worker stays without this name.
  }
}

/**
 * Returns the value of a property, without calling a getter: the program's first lines have run.
 * @param {object} object @param {string} key
 */
function ownValue(object, key) {
  const descriptor = getOwnPropertyDescriptor(object, key)
  // A getter's descriptor has no value, and would inherit one from Object.prototype.
  return descriptor && setPrototypeOf(descriptor, null).value
}

/**
 * Prints why the thread is not recorded. Workers stay silent once a parent has printed a line, since
 * they mostly fail for the same reason.
 * @param {unknown} error
 */
function complain(error) {
  try {
    const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads')
    if (getEnvironmentData(COMPLAINED)) return
    setEnvironmentData(COMPLAINED, true)
    const [reason] = String(error).replace('Error: cpu-prof: ', '').split('\n', 1)
    require('node:fs').writeSync(2, `cpu-prof: not profiling this thread: ${reason}\n`)
  } catch {
    // stderr is closed.
  }
}

/** Lets the program add events, also after an earlier recording has ended, and adds its own. @param {any} addon */
function beginEvents(addon) {
  require('./events.js').attach(addon)
  addEvents(addon)
}

/** Adds the program's own events to the recording that has started, and its end by `process.execve()`. @param {any} addon */
function addEvents(addon) {
  try {
    // Up to Node 25, Node calls the exit callbacks of a program that `process.execve()` replaces.
    if (Number.parseInt(process.versions.node, 10) > 25) endBeforeExecve(addon)
    const wanted = addon.cpuProfWantedTimings()
    if ((wanted & TIMINGS) !== 0) {
      addon.stopTimings?.()
      addon.stopTimings = require('./timings.js').observe(addon)
    }
    if ((wanted & REQUESTS) !== 0) {
      addon.stopRequests?.()
      addon.stopRequests = require('./requests.js').observe(addon)
    }
    if ((wanted & TYPESCRIPT) !== 0) {
      addon.stopTypeScript?.()
      addon.stopTypeScript = require('./typescript.js').observe(addon)
    }
  } catch {
    // An earlier preload has patched what these need. The rest is recorded.
  }
}

/** Ends the recording before the program calls `process.execve()`. @param {any} addon */
function endBeforeExecve(addon) {
  // Kept on the addon because jest loads this module once per test file.
  if (addon.watchesExecve) return
  addon.watchesExecve = true
  const { subscribe } = require('node:diagnostics_channel')
  // Node tells the channel after it has checked the arguments of a call.
  subscribe('process.execve', () => addon.cpuProfEndForNow())
}

/** Ends what JavaScript does beside a recording. @param {any} addon */
function endEvents(addon) {
  // These functions are kept on the addon because jest loads this module once per test file.
  addon.stopAttaching?.()
  addon.stopInspector?.()
  addon.stopTimings?.()
  addon.stopRequests?.()
  addon.stopTypeScript?.()
  addon.stopAttaching = addon.stopInspector = undefined
  addon.stopTimings = addon.stopRequests = addon.stopTypeScript = undefined
  require('./events.js').detach()
}

/**
 * Stops recording the calling thread; returns null if it is not recorded.
 * @param {any} addon
 */
function stopThread(addon) {
  endEvents(addon)
  return addon.cpuProfStop()
}

/**
 * Returns the function by which the addon starts the inspector source. It returns why the source
 * could not start. An empty reason means that the thread has no inspector, as Node's internal
 * threads, and needs no message.
 * @param {any} addon
 * @returns {(...plan: [number, number, boolean, typeof globalThis]) => string | null}
 */
function inspectorStarter(addon) {
  return (...plan) => {
    try {
      addon.stopInspector = require('./inspector-sampler.js').start(addon, ...plan)
      return null
    } catch (error) {
      const [reason] = String(error).split('\n', 1)
      return reason.endsWith('without a V8::Inspector') ? '' : reason
    }
  }
}

/**
 * Returns the function that adds the program's own events to a recording of an armed thread, and ends them
 * with the recording. The addon calls the function when the recording has started or stopped.
 * @param {any} addon
 */
function follower(addon) {
  return () => {
    try {
      if (addon.cpuProfFollow(inspectorStarter(addon))) stopThread(addon)
      else if (addon.cpuProfIsRecording()) beginEvents(addon)
      else endEvents(addon)
    } catch {
      // The program has patched what these need. The profile is recorded.
    }
  }
}

/** Returns the facts about the calling thread that only JavaScript knows. @param {any} addon */
function describeThread(addon) {
  const { execArgv, version } = process
  // Loading `worker_threads` costs the main thread milliseconds, and its id there is always 0.
  if (addon.cpuProfIsMainThread()) {
    return { threadId: 0, name: '', execArgv, version, lib: __dirname, ...clusterWorker() }
  }
  // Node has `threadName` from 22 on.
  const { threadId, threadName: name = '' } = /** @type {any} */ (require('node:worker_threads'))
  return { threadId, name, execArgv, version, lib: __dirname }
}

/**
 * Returns the id that the process has as a worker of `node:cluster`, if it is one. Node loads the module
 * of a worker before any preload, and deletes the id from the environment; all other programs must not
 * load the module for this.
 */
function clusterWorker() {
  try {
    if (process.channel == null) return {}
    const { moduleLoadList = [] } = /** @type {any} */ (process)
    if (!moduleLoadList.includes('NativeModule internal/cluster/child')) return {}
    const { worker } = /** @type {any} */ (require('node:cluster'))
    return Number.isInteger(worker?.id) ? { clusterWorker: worker.id } : {}
  } catch {
    // An earlier preload has patched what this needs.
    return {}
  }
}

module.exports = {
  register,
  beginEvents,
  describeThread,
  follower,
  inspectorStarter,
  stopThread,
}
