'use strict'

// What Linux and macOS have in common.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { isatty } = require('node:tty')
const { asUserOf } = require('./as-user.js')
const { listSockets, removeSocket, socketFolders } = require('./posix-sockets.js')

/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** @typedef {{ isThere: boolean, isForeground: boolean }} Terminal */

/**
 * Returns a function that tells whether the terminal sent a signal to the command too. A terminal
 * signals its whole foreground group on Ctrl-C and Ctrl-\, and all its processes when it closes.
 * Forwarding would deliver the signal twice, and many programs quit at once on the second. The other
 * signals never come from a terminal. A SIGINT, SIGQUIT or SIGHUP sent to this process alone looks the
 * same, and is not forwarded either.
 * @param {boolean} wasThere whether there was a terminal at the start @param {() => Terminal} readTerminal
 */
function terminalWatcher(wasThere, readTerminal) {
  return (/** @type {NodeJS.Signals} */ signal) => {
    if (signal === 'SIGINT' || signal === 'SIGQUIT') return readTerminal().isForeground
    // The terminal is closed by now.
    return signal === 'SIGHUP' && wasThere
  }
}

/** Guesses from the standard streams where the system does not tell more. @returns {Terminal} */
function guessTerminal() {
  const isThere = [0, 1, 2].some((fd) => isatty(fd))
  return { isThere, isForeground: isThere }
}

/** @param {NodeJS.Signals} signal */
function endBySignal(signal) {
  process.kill(process.pid, signal)
}

/**
 * Returns whether the addon will read a new folder. Some file systems give all files to one user, or
 * let all users write.
 * @param {string} folder
 */
function isPrivate(folder) {
  const { uid, mode } = fs.lstatSync(folder)
  return uid === process.geteuid?.() && (mode & 0o022) === 0
}

module.exports = {
  IS_WINDOWS: false,
  SIGNALS,
  TEMP_VARIABLE: 'TMPDIR',
  terminalWatcher,
  guessTerminal,
  // Only Linux has files that tell.
  openFilesOf: () => undefined,
  spawn,
  shellWords: (/** @type {string} */ text) => ['sh', '-c', text],
  endBySignal,
  // A signal tells.
  isInterruption: () => false,
  isPath: (/** @type {string} */ file) => file.includes('/'),
  // A device is a file, whose kind tells.
  isDevice: () => false,
  isPrivate,
  listSockets,
  removeSocket,
  socketFolders,
  asUserOf,
  // Only Linux tells.
  ownerOf: () => undefined,
  seesFolder: () => undefined,
  isSamePath: (/** @type {string} */ a, /** @type {string} */ b) => a === b,
  // An open file can be moved and removed.
  patiently: (/** @type {() => any} */ change) => change(),
}
