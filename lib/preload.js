'use strict'

// Records the thread that preloads the package.

const { load, refuseOtherRuntimes } = require('./addon.js')
const { addEvents, describeThread, follower, inspectorStarter } = require('./record.js')

// Copied now, because the program can patch both before the microtask of `nameWorker()` runs.
const { getOwnPropertyDescriptor, setPrototypeOf } = Object

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

module.exports = { register }
