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

/** The functions that record. @type {any} */
let recording

/** @type {typeof import('./index.js').start} */
function start(...args) {
  recording ??= require('./lib/record.js')
  return recording.start(...args)
}

/** @type {typeof import('./index.js').stop} */
function stop() {
  recording ??= require('./lib/record.js')
  return recording.stop()
}

/** @type {typeof import('./index.js').profile} */
function profile(...args) {
  recording ??= require('./lib/record.js')
  return recording.profile(...args)
}

/** @type {typeof import('./index.js').isRecording} */
function isRecording() {
  recording ??= require('./lib/record.js')
  return recording.isRecording()
}

/** The functions that label. @type {any} */
let labels

/** @type {typeof import('./index.js').label} */
function label(given, fn) {
  labels ??= require('./lib/labels.js')
  return labels.label(given, fn)
}

/** @type {typeof import('./index.js').setLabels} */
function setLabels(given) {
  labels ??= require('./lib/labels.js')
  labels.setLabels(given)
}

/** The functions that add events. @type {any} */
let events

/** @type {typeof import('./index.js').emit} */
function emit(event) {
  events ??= require('./lib/events.js')
  events.emit(event)
}

/** @type {typeof import('./index.js').span} */
function span(name, fn, options) {
  events ??= require('./lib/events.js')
  return events.span(name, fn, options)
}

/** @type {typeof import('./index.js').instant} */
function instant(name, options) {
  events ??= require('./lib/events.js')
  events.instant(name, options)
}

/** @type {typeof import('./index.js').counter} */
function counter(name, values) {
  events ??= require('./lib/events.js')
  events.counter(name, values)
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
