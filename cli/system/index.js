'use strict'

// The system that the command line runs on: each has a file with the functions that depend on it.

/**
 * @typedef {object} Stat
 * @property {number} parent process id
 * @property {number} group process id of the group's first process; 0 on a system without groups
 * @property {number} session process id of the session's first process; 0 on a system without sessions
 * @property {number} startMs milliseconds after the system's start; after 1970 on macOS
 * @property {number} [cpuMs] CPU time so far; missing if the system does not tell
 *
 * @typedef {object} NodeFacts
 * @property {string[]} words of the command line; the executable alone if the system does not tell more
 * @property {string | null} [nodeOptions] the variable; null without the variable, undefined if unknown
 * @property {number} namespacePid the pid by which the process knows itself; another in a container
 *
 * @typedef {object} Snapshot the processes of this machine
 * @property {number[]} pids
 * @property {(pid: number) => number[]} pidsBefore returns those that started before a process
 * @property {(pid: number) => Stat | undefined} readStat returns undefined if the process is gone
 * @property {(pid: number) => string | undefined} readExecutable returns its path; undefined if the
 *   process has ended, or is another user's
 * @property {(pid: number, executable: string, startMs: number) => NodeFacts | undefined} readNode
 *   returns what is known about a Node process; undefined if the process is none, or not yet.
 *   `startMs` is that of the process that had the id before.
 */

/**
 * @typedef {object} ControlSocket by which an armed process is controlled
 * @property {string} file where to connect
 * @property {string} folder that only its user can fill
 * @property {number} pid as the process itself sees its id
 * @property {number} outerPid by which this process knows the process
 * @property {number} [user] of the process; undefined on Windows, as the group is
 * @property {number} [group] of the process
 * @property {string} root the path of the root of its files; empty if it is that of this process
 *
 * @typedef {{ host: string, port: number }} Listener where a process waits for connections
 *
 * @typedef {object} Inspection what opening another process's inspector needs
 * @property {(pid: number) => boolean} handlesDebugSignal returns whether a process has a handler for
 *   SIGUSR1, which ends any other process
 * @property {(pid: number) => Listener[]} listenersOf returns where a process waits for connections
 * @property {(pid: number, port: number) => boolean} isPortTaken returns whether any process in the
 *   network of a process waits on a port
 */

/**
 * @typedef {object} System
 * @property {boolean} IS_WINDOWS
 * @property {NodeJS.Signals[]} SIGNALS the signals that end a process by default and that it can handle
 * @property {number} START_TOLERANCE_MS by how much the start of a process can differ between two looks
 * @property {string} TEMP_VARIABLE the environment variable that names the folder for temporary files
 * @property {() => Snapshot} takeSnapshot throws if the system does not tell about processes
 * @property {(pid: number) => string[] | undefined} openFilesOf returns the paths of the files that a
 *   process has open; undefined if the system does not tell
 * @property {() => (signal: NodeJS.Signals) => boolean} watchTerminal returns a function that tells
 *   whether the terminal sent a signal to the command too
 * @property {(env: NodeJS.ProcessEnv) => void} passOnFiles lets the processes that this process starts
 *   inherit the files that this process has inherited
 * @property {(file: string, args: string[], options: import('node:child_process').SpawnOptions) =>
 *   import('node:child_process').ChildProcess} spawn starts a program
 * @property {(text: string) => string[]} shellWords returns the words that have the system's shell run a
 *   command
 * @property {(signal: NodeJS.Signals) => void} endBySignal ends this process as the signal does by default
 * @property {(code: number | null) => boolean} isInterruption returns whether an exit code tells that
 *   Ctrl-C ended a process
 * @property {(file: string) => boolean} isPath returns whether a command is the path of its program,
 *   which is not searched for
 * @property {(file: string) => boolean} isDevice returns whether a path names a device by its name alone
 * @property {(folder: string) => boolean} isPrivate returns whether the addon will read a new, empty
 *   folder, which this call makes private where new folders are not
 * @property {(a: string, b: string) => boolean} isSamePath compares absolute paths
 * @property {(env: NodeJS.ProcessEnv) => ControlSocket[]} listSockets returns the sockets of this user's
 *   armed processes; to root on Linux those of all users
 * @property {(env: NodeJS.ProcessEnv) => string[]} socketFolders returns the folders of these sockets
 * @property {(socket: ControlSocket) => void} removeSocket removes the socket of a process that has ended
 * @property {(pid: number) => number | undefined} ownerOf returns the user of a process; undefined if
 *   the system does not tell
 * @property {(pid: number, folder: string) => boolean | undefined} seesFolder returns whether a process
 *   has a folder under the same path; undefined if the system does not tell
 * @property {<T>(socket: ControlSocket, call: () => T) => T} asUserOf calls a function with the rights of the
 *   user of a process: where a path leads is looked up as that user
 * @property {Inspection} [inspection] none where a process that is not armed cannot be reached
 * @property {<T>(change: () => T) => T} patiently calls a change of files, again if another program
 *   has a file open at that moment
 */

/** @type {System} */
const system = systemOf(process.platform)

/** @param {NodeJS.Platform} platform @returns {System} */
function systemOf(platform) {
  if (platform === 'win32') return require('./windows.js')
  return platform === 'darwin' ? require('./macos.js') : require('./linux.js')
}

/** Calls `listener` for each of the signals, until the returned function is called. @param {NodeJS.SignalsListener} listener */
function onSignals(listener) {
  for (const signal of system.SIGNALS) process.on(signal, listener)
  return () => {
    for (const signal of system.SIGNALS) process.off(signal, listener)
  }
}

/** Returns whether a process is there, also another user's. @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

module.exports = { ...system, onSignals, isAlive }
