'use strict'

// The functions of the package, each of which loads its code on its first call.

/** Returns a function that loads a file on its first call, and looks nothing up on later ones. @param {() => any} load */
function once(load) {
  /** @type {any} */
  let loaded
  return () => (loaded ??= load())
}

const recording = once(() => require('./record.js'))
const labels = once(() => require('./labels.js'))
const events = once(() => require('./events.js'))

/** @type {typeof import('../index.js').start} */
function start(...args) {
  return recording().start(...args)
}

/** @type {typeof import('../index.js').stop} */
function stop() {
  return recording().stop()
}

/** @type {typeof import('../index.js').profile} */
function profile(...args) {
  return recording().profile(...args)
}

/** @type {typeof import('../index.js').isRecording} */
function isRecording() {
  return recording().isRecording()
}

/** @type {typeof import('../index.js').label} */
function label(given, fn) {
  return labels().label(given, fn)
}

/** @type {typeof import('../index.js').setLabels} */
function setLabels(given) {
  labels().setLabels(given)
}

/** @type {typeof import('../index.js').emit} */
function emit(event) {
  events().emit(event)
}

/** @type {typeof import('../index.js').span} */
function span(name, fn, options) {
  return events().span(name, fn, options)
}

/** @type {typeof import('../index.js').instant} */
function instant(name, options) {
  events().instant(name, options)
}

/** @type {typeof import('../index.js').counter} */
function counter(name, values) {
  events().counter(name, values)
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
