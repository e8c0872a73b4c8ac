'use strict'

// Starts and stops recordings of the calling thread.

const { load, refuseOtherRuntimes } = require('./addon.js')

/** Bits of `cpuProfWantedTimings()`: user timings, requests, and what TypeScript compiles. */
const TIMINGS = 1
const REQUESTS = 2
const TYPESCRIPT = 4

/** The kinds of the settings in code, by name; undefined before the first `start()`. @type {Record<string, import('./check.js').Kind> | undefined} */
let knownKinds

/**
 * Starts recording the calling thread.
 * @param {Record<string, unknown>} [options]
 */
function start(options = {}) {
  refuseOtherRuntimes()
  const settings = settingsAsText(options)
  const coversWorkers = settings.workers !== 'false'
  delete settings.workers
  const addon = load()
  if (addon.cpuProfIsRecording()) {
    if (!addon.cpuProfIsCovered()) {
      throw new Error('cpu-prof: this thread is being recorded already; call stop() first')
    }
    // A worker recorded as part of its parent's recording gets its own recording instead.
    stopThread(addon)
  }
  const thread = describeThread(addon)
  const failure = addon.cpuProfStart(
    thread,
    process.argv,
    settings,
    inspectorStarter(addon),
    follower(addon),
  )
  if (failure !== null) {
    const ErrorType = failure.isSetting ? RangeError : Error
    throw new ErrorType(`cpu-prof: ${failure.message}`)
  }
  if (addon.cpuProfIsRecording()) beginEvents(addon)
  // An armed thread is stopped from outside, and its workers are armed by themselves. A limited time of
  // history needs a recording from now on.
  if (settings.start !== undefined && settings.start !== 'on' && settings.keep === undefined) return
  // The workers that the calling thread creates from now on.
  const cover = coversWorkers ? addon.cpuProfCoverWorkers() : null
  if (cover !== null) addon.stopAttaching = require('./worker-attach.js').attach(cover)
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

/** Stops recording the calling thread. */
function stop() {
  const recording = stopThread(load())
  if (recording === null) {
    throw new Error('cpu-prof: this thread is not being recorded; call start() first')
  }
  return recording
}

/**
 * Records the calling thread while `fn` runs.
 * @param {() => unknown} fn @param {Record<string, unknown>} [options]
 */
async function profile(fn, options) {
  if (typeof fn !== 'function') {
    const { describe } = require('./check.js')
    throw new TypeError(`cpu-prof: profile() takes a function, not ${describe(fn)}`)
  }
  start(options)
  let result
  try {
    result = await fn()
  } catch (error) {
    // The function's error matters more than one of stop(), which fails if `fn` stopped already.
    if (isRecording()) stop()
    throw error
  }
  return { result, recording: stop() }
}

/** Returns whether the calling thread is being recorded. Without an addon, none is. */
function isRecording() {
  let addon
  try {
    addon = load()
  } catch {
    return false
  }
  return addon.cpuProfIsRecording()
}

/**
 * Checks the names and types of options, and returns their values as text. The addon checks the
 * values, as it does those of the environment.
 * @param {unknown} options
 */
function settingsAsText(options) {
  // Loaded here because a preload has no options.
  const { checkOptions } = require('./check.js')
  const { settingsOf } = require('./settings.js')
  knownKinds ??= Object.fromEntries(
    settingsOf(load()).map(({ name, type }) => [
      name,
      [`a ${type}`, (value) => typeof value === type],
    ]),
  )
  const given = checkOptions(options, knownKinds, 'start() and profile()')
  // The addon takes all properties, also those of Object.prototype.
  const settings = /** @type {Record<string, string>} */ (Object.create(null))
  for (const [name, value] of Object.entries(given)) settings[name] = String(value)
  return settings
}

/**
 * Stops recording the calling thread; returns null if it is not recorded.
 * @param {any} addon
 */
function stopThread(addon) {
  endEvents(addon)
  return addon.cpuProfStop()
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
 * Starts recording the calling thread as a worker of a recorded thread. Called from the code that
 * `worker-attach.js` evaluates in the worker.
 * @param {any} worker
 */
function recordWorker(worker) {
  const addon = load()
  addon.cpuProfRecordWorker(worker, inspectorStarter(addon))
  beginEvents(addon)
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
  start,
  stop,
  profile,
  isRecording,
  addEvents,
  recordWorker,
  inspectorStarter,
  describeThread,
  follower,
}
