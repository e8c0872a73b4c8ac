'use strict'

const binding = require('./lib/addon.js')

// Requiring the package in ordinary code starts nothing.
if (isPreloaded()) binding.register()

/** Only Node's own preload has this parent. To ask for it is deprecated, which nobody shall hear. */
function isPreloaded() {
  const { noDeprecation } = process
  Reflect.set(process, 'noDeprecation', true)
  const isPreload = module.parent?.id === 'internal/preload'
  if (noDeprecation === undefined) Reflect.deleteProperty(process, 'noDeprecation')
  else Reflect.set(process, 'noDeprecation', noDeprecation)
  return isPreload
}

/** What may be set in code, and of what type it is. @type {Record<string, string>} */
const OPTIONS = {
  dir: 'string',
  name: 'string',
  interval: 'number',
  format: 'string',
  flushInterval: 'number',
  ignoreList: 'string',
  maxNodes: 'number',
  source: 'string',
  workers: 'boolean',
}

/** @param {Record<string, unknown>} [options] */
function start(options = {}) {
  const { workers = 'true', ...settings } = asText(options)
  // A worker that is recorded for its parent's sake may have a recording of its own instead.
  if (binding.load().isCovered()) binding.stop()
  if (isRecording()) {
    throw new Error('cpu-prof: this thread is being recorded already; call stop() first')
  }
  const failure = binding.start(settings, workers === 'true')
  if (failure === null) return
  const ErrorType = failure.isSetting ? RangeError : Error
  throw new ErrorType(`cpu-prof: ${failure.message}`)
}

function stop() {
  const recording = binding.stop()
  if (recording === null) {
    throw new Error('cpu-prof: this thread is not being recorded; call start() first')
  }
  return recording
}

/** @param {() => unknown} fn @param {Record<string, unknown>} [options] */
async function profile(fn, options) {
  if (typeof fn !== 'function') {
    throw new TypeError(`cpu-prof: profile() takes a function, not ${describe(fn)}`)
  }
  start(options)
  let result
  try {
    result = await fn()
  } catch (error) {
    // The function's own error is the one to be heard, even if it stopped the recording itself.
    if (isRecording()) stop()
    throw error
  }
  return { result, recording: stop() }
}

function isRecording() {
  return binding.load().isRecording()
}

/** Checks names and types; values are checked where the environment's are. @param {unknown} options */
function asText(options) {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`cpu-prof: options must be an object, not ${describe(options)}`)
  }
  /** @type {Record<string, string>} */
  const settings = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!Object.hasOwn(OPTIONS, name)) {
      const known = Object.keys(OPTIONS).join(', ')
      throw new TypeError(`cpu-prof: ${name} is not an option (there are ${known})`)
    }
    if (typeof value !== OPTIONS[name]) {
      throw new TypeError(`cpu-prof: ${name} must be a ${OPTIONS[name]}, not ${describe(value)}`)
    }
    settings[name] = String(value)
  }
  return settings
}

/** @param {unknown} value */
function describe(value) {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** @type {typeof import('./index.js').merge} */
function merge(...args) {
  return require('./lib/offline.js').merge(...args)
}

/** @type {typeof import('./index.js').report} */
function report(...args) {
  return require('./lib/offline.js').report(...args)
}

/** @type {typeof import('./index.js').convert} */
function convert(...args) {
  return require('./lib/offline.js').convert(...args)
}

module.exports = { start, stop, profile, isRecording, merge, report, convert }
