'use strict'

const binding = require('./binding.js')

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

/** Whether the calling thread is being recorded. */
exports.isRecording = function isRecording() {
  return binding.load().isRecording()
}
