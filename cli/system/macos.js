'use strict'

// What macOS tells, by way of the addon.

const fs = require('node:fs')
const posix = require('./posix.js')
const { listProcesses, snapshotOf } = require('./snapshot.js')

const NODE = /\/node(js)?$/

/** @returns {import('./posix.js').Terminal} */
function readTerminal() {
  try {
    const self = listProcesses().find(({ pid }) => pid === process.pid)
    const { hasTerminal, isForeground } = self ?? {}
    if (hasTerminal !== undefined && isForeground !== undefined) {
      return { isThere: hasTerminal, isForeground }
    }
  } catch {
    // The addon cannot list processes.
  }
  return posix.guessTerminal()
}

/** Returns whether this process has a terminal. To list all processes takes longer. */
function hasTerminal() {
  try {
    fs.closeSync(fs.openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/** @type {import('./index.js').System} */
module.exports = {
  ...posix,
  // The kernel keeps the start of a process as a time of the clock, and never changes it.
  START_TOLERANCE_MS: 0,
  takeSnapshot: () => snapshotOf(listProcesses(), NODE),
  watchTerminal: () => posix.terminalWatcher(hasTerminal(), readTerminal),
  // libuv starts programs with POSIX_SPAWN_CLOEXEC_DEFAULT, which closes all other files to them.
  passOnFiles: () => {},
}
