'use strict'

// The package's functions; records the thread when Node preloads this file.

// Requiring the package in ordinary code starts nothing.
if (isPreloaded()) require('./lib/preload.js').register()

/**
 * Returns whether Node preloads this file. Only Node's own preload module has this id. Reading
 * module.parent prints a deprecation warning, so warnings are off meanwhile.
 */
function isPreloaded() {
  const { noDeprecation } = process
  Reflect.set(process, 'noDeprecation', true)
  const isPreload = module.parent?.id === 'internal/preload'
  if (noDeprecation === undefined) Reflect.deleteProperty(process, 'noDeprecation')
  else Reflect.set(process, 'noDeprecation', noDeprecation)
  return isPreload
}

// These are loaded on the first call: a preload never needs them.

/** Returns a function that loads a file on its first call, and looks nothing up on later ones. @param {() => any} load */
function once(load) {
  /** @type {any} */
  let loaded
  return () => (loaded ??= load())
}

const recording = once(() => require('./lib/record.js'))
const labels = once(() => require('./lib/labels.js'))
const events = once(() => require('./lib/events.js'))

/** @type {typeof import('./index.js').start} */
function start(...args) {
  return recording().start(...args)
}

/** @type {typeof import('./index.js').stop} */
function stop() {
  return recording().stop()
}

/** @type {typeof import('./index.js').profile} */
function profile(...args) {
  return recording().profile(...args)
}

/** @type {typeof import('./index.js').isRecording} */
function isRecording() {
  return recording().isRecording()
}

/** @type {typeof import('./index.js').label} */
function label(given, fn) {
  return labels().label(given, fn)
}

/** @type {typeof import('./index.js').setLabels} */
function setLabels(given) {
  labels().setLabels(given)
}

/** @type {typeof import('./index.js').emit} */
function emit(event) {
  events().emit(event)
}

/** @type {typeof import('./index.js').span} */
function span(name, fn, options) {
  return events().span(name, fn, options)
}

/** @type {typeof import('./index.js').instant} */
function instant(name, options) {
  events().instant(name, options)
}

/** @type {typeof import('./index.js').counter} */
function counter(name, values) {
  events().counter(name, values)
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

/** @type {typeof import('./index.js').check} */
function check(...args) {
  return require('./lib/offline.js').check(...args)
}

/** @type {typeof import('./index.js').compare} */
function compare(...args) {
  return require('./lib/offline.js').compare(...args)
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
