'use strict'

// Ends the recording before `process.execve()` replaces the program.

/**
 * Watches the calls of the calling thread's program. Node tells the channel after it has checked the
 * arguments of a call.
 * @param {any} addon
 */
function watch(addon) {
  // Kept on the addon because jest loads this module once per test file.
  if (addon.watchesExecve) return
  addon.watchesExecve = true
  const { subscribe } = require('node:diagnostics_channel')
  subscribe('process.execve', () => addon.cpuProfEndForNow())
}

module.exports = { watch }
