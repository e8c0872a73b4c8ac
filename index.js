'use strict'

// Only Node's own preload has this parent: requiring the package in ordinary code starts nothing.
if (module.parent?.id === 'internal/preload') require('./register.js')

/** Whether the calling thread is being recorded. */
exports.isRecording = function isRecording() {
  return require('./binding.js').isRecording()
}
