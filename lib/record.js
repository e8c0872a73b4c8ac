'use strict'

// Starts and stops recordings of the calling thread.

const { load, refuseOtherRuntimes } = require('./addon.js')
const { sayWhy } = require('./errors/say-why.js')
const { isWrongUsage } = require('./errors/wrong-usage.js')
const early = require('./labels/early.js')
const { calling, describeThread, preparePush } = require('./preload.js')
const { beginEvents, follow, inspectorStarter, learnAddonName, stopThread } = require('./thread.js')

/** A recording that another part of the program has started. */
class AlreadyRecorded extends Error {
  constructor() {
    super('cpu-prof: this thread is being recorded already; call stop() first')
    // As users see it.
    this.name = 'Error'
  }
}

/** The kinds of the settings in code, by name; undefined before the first `start()`. @type {Record<string, import('./check.js').Kind> | undefined} */
let knownKinds

/**
 * Starts recording the calling thread.
 * @param {Record<string, unknown>} [options]
 */
function start(options = {}) {
  begin(options)
  // Its labels, from before.
  early.adopt?.()
}

/** @param {Record<string, unknown>} options */
function begin(options) {
  refuseOtherRuntimes()
  const settings = settingsAsText(options)
  const coversWorkers = settings.workers !== 'false'
  delete settings.workers
  const addon = load()
  if (addon.cpuProfIsRecording()) {
    if (!addon.cpuProfIsCovered()) {
      throw new AlreadyRecorded()
    }
    // A worker recorded as part of its parent's recording gets its own recording instead.
    stopThread(addon)
  }
  const thread = describeThread(addon)
  preparePush(addon)
  const failure = addon.cpuProfStart(
    thread,
    process.argv,
    settings,
    inspectorStarter(addon),
    () => follow(addon),
    calling,
  )
  if (failure !== null) {
    const { OutOfRange } = require('./errors/wrong-usage.js')
    const ErrorType = failure.isSetting ? OutOfRange : Error
    throw new ErrorType(`cpu-prof: ${failure.message}`)
  }
  addon.isWatched = true
  if (addon.cpuProfIsRecording()) {
    learnAddonName(addon)
    beginEvents(addon)
  }
  // An armed thread is stopped from outside, and its workers are armed by themselves. A limited time of
  // history needs a recording from now on.
  if (settings.start !== undefined && settings.start !== 'on' && settings.keep === undefined) return
  // The workers that the calling thread creates from now on.
  const cover = coversWorkers ? addon.cpuProfCoverWorkers() : null
  if (cover !== null) addon.stopAttaching = require('./worker-attach.js').attach(cover)
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
    const { WrongUsage } = require('./errors/wrong-usage.js')
    throw new WrongUsage(`cpu-prof: profile() takes a function, not ${describe(fn)}`)
  }
  if (!startFor(options)) return { result: await fn(), recording: null }
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

/**
 * Starts a recording for a function, and returns whether it runs. Throws for a wrong usage. Any other trouble is
 * a line on stderr, and the function runs unprofiled.
 * @param {Record<string, unknown>} [options]
 */
function startFor(options) {
  try {
    start(options)
    return true
  } catch (error) {
    if (isWrongUsage(error) || error instanceof AlreadyRecorded) throw error
    sayWhy('profile() records nothing', error)
    return false
  }
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
 * Starts recording the calling thread as a worker of a recorded thread. Called from the code that
 * `worker-attach.js` evaluates in the worker.
 * @param {any} worker
 */
function recordWorker(worker) {
  const addon = load()
  addon.isWatched = true
  addon.cpuProfRecordWorker(worker, inspectorStarter(addon))
  beginEvents(addon)
}

module.exports = { start, stop, profile, isRecording, recordWorker }
