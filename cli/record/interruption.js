'use strict'

// Lets a signal end a recording early, and a second signal this process.

const { loadTools } = require('../../lib/addon.js')
const { endBySignal, onSignals } = require('../system/index.js')

/**
 * Listens for signals until `close()`. The first one, while a recording runs, resolves `happened`. Any
 * other ends this process, after `giveUp`.
 * @param {() => void} giveUp
 */
function watchInterruption(giveUp) {
  let isRecording = true
  /** @type {() => void} */
  let tell = () => {}
  /** @type {Promise<void>} */
  const happened = new Promise((resolve) => {
    tell = resolve
  })
  const close = onSignals((signal) => {
    if (isRecording) {
      isRecording = false
      return tell()
    }
    loadTools().cpuProfAbandonFiles()
    giveUp()
    // One more signal would have ended this process before.
    close()
    endBySignal(signal)
  })
  return {
    happened,
    close,
    /** Tells that nothing runs that a signal would end early. */
    endRecording() {
      isRecording = false
    },
  }
}

module.exports = { watchInterruption }
