'use strict'

// The package's functions; records the thread when Node preloads this file.

// Requiring the package in ordinary code starts nothing.
if (isPreloaded()) {
  require('./lib/preload.js').register(() => require('./lib/thread.js'))
  // Few programs call the functions, and their text costs a start as much as the preload's. So Node loads this
  // file again for the program that requires it.
  delete require.cache[__filename]
} else {
  module.exports = require('./lib/api.js')
}

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
