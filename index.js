'use strict'

const binding = require('./binding.js')

// Only Node's own preload has this parent: requiring the package in ordinary code starts nothing.
if (module.parent?.id === 'internal/preload') binding.register()

/** Whether the calling thread is being recorded. */
exports.isRecording = function isRecording() {
  return binding.load().isRecording()
}
