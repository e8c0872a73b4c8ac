'use strict'

/** @type {Record<string, string>} */
const PLATFORMS = { 'linux-x64': 'linux-x64-gnu' }

/** Workers inherit their parent's environment data. */
const SAID = '@org/cpu-prof.said'

/** The addon. */
function load() {
  return find(require)
}

/**
 * Applies `get` to the addon that was built here from source, or else to the platform's package.
 * @template T @param {(file: string) => T} get
 */
function find(get) {
  const name = PLATFORMS[`${process.platform}-${process.arch}`]
  if (name === undefined) {
    throw new Error(`it is not built for ${process.platform}-${process.arch} yet`)
  }
  try {
    return get(`../cpu-prof.${name}.node`)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return get(`@org/cpu-prof-${name}`)
  }
}

/**
 * Starts recording the calling thread. Trouble is said in one line on stderr, and the program runs
 * on unprofiled; wrong settings alone stop it.
 */
function register() {
  // An earlier preload can have patched anything that is used here.
  try {
    if (!isMarked() && !record(load())) process.exit(9)
  } catch (error) {
    complain(error)
  }
}

/** Marks the thread. A second copy of the package is another addon, which cannot know of the first. */
function isMarked() {
  const mark = Symbol.for('@org/cpu-prof.recorded')
  if (mark in process) return true
  Object.defineProperty(process, mark, /** @type {any} */ ({ __proto__: null, value: true }))
  return false
}

/** @param {any} addon @returns {boolean} false if the settings are wrong */
function record(addon) {
  const { argv } = process
  const { length } = argv
  const thread = thisThread(addon)
  if (!addon.record(thread, argv, startInspector(addon))) return false

  if (thread.threadId !== 0) nameWorker(addon, argv, length)
  return true
}

/**
 * Starts recording the calling thread with settings given in code. Gives what went wrong.
 * @param {Record<string, string>} settings
 * @param {boolean} workers whether the workers that it creates are recorded too
 * @returns {{ isSetting: boolean, message: string } | null}
 */
function start(settings, workers) {
  const addon = load()
  const failure = addon.start(thisThread(addon), process.argv, settings, startInspector(addon))
  if (failure === null && workers) {
    addon.uncover = require('./worker-attach.js').cover({
      addon: find(require.resolve),
      recording: addon.coverWorkers(),
      isInspector: addon.stopInspector !== undefined,
    })
  }
  return failure
}

/** Starts recording the calling thread, a worker that another recording covers. @param {any} worker */
function recordWorker(worker) {
  const addon = load()
  addon.recordWorker(worker, startInspector(addon))
}

/**
 * Stops recording the calling thread; null if it is not recorded.
 * @returns {any}
 */
function stop() {
  const addon = load()
  // They are kept there since jest gives every test file its own copy of this module.
  addon.uncover?.()
  addon.stopInspector?.()
  addon.uncover = addon.stopInspector = undefined
  return addon.stop()
}

/**
 * For a thread that is not sampled by the addon itself. Gives what went wrong, which is nothing to
 * be told of where Node has no inspector: in a thread of its own.
 * @param {any} addon
 * @returns {(...plan: [number, number, boolean, typeof globalThis]) => string | null}
 */
function startInspector(addon) {
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

/** @param {any} addon */
function thisThread(addon) {
  // `worker_threads` costs the main thread milliseconds to load, and there it says 0.
  const threadId = addon.isFirstThread() ? 0 : require('node:worker_threads').threadId
  const { execArgv, version } = process
  return { threadId, execArgv, version }
}

/**
 * Node puts a worker's script into argv after the preload. To await calls no `then` that a program
 * could have patched.
 * @param {any} addon @param {string[]} argv @param {number} length
 */
async function nameWorker(addon, argv, length) {
  await null
  if (argv.length > length && typeof argv[1] === 'string') addon.nameWorker(argv[1])
}

/** What troubles one thread mostly troubles the workers below it. @param {unknown} error */
function complain(error) {
  try {
    const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads')
    if (getEnvironmentData(SAID)) return
    setEnvironmentData(SAID, true)
    const reason = String(error).split('\n', 1)[0]
    require('node:fs').writeSync(2, `cpu-prof: not profiling this thread: ${reason}\n`)
  } catch {
    // Nobody is there to read it.
  }
}

module.exports = { load, register, start, stop, recordWorker }
