'use strict'

// What Windows tells and does.

const childProcess = require('node:child_process')
const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { namedIn } = require('./socket-names.js')

/** The keys Ctrl-C and Ctrl-Break, and the end of the console. No other signal reaches a program. @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGBREAK', 'SIGHUP']
/** The exit code of a program that Ctrl-C, Ctrl-Break or the end of its console has ended. */
const STATUS_CONTROL_C_EXIT = 0xc000013a

const NODE = /(^|[\\/])node\.exe$/i
/** A name that stands for a device in every folder, with any ending. */
const DEVICE = /(^|[\\/])(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$) *(\.[^\\/]*)?$/i
/** The namespace of devices and pipes. */
const DEVICE_PATH = /^[\\/]{2}\.[\\/]/

/** The name of a pipe by which a process is controlled. */
const PIPE = /^\\\\\.\\pipe\\cpu-prof-\d+-\d+$/

/** What a change of files fails with while another program has a file open. */
const BUSY = ['EACCES', 'EBUSY', 'EPERM']
/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 200
/** What is left of the time that this process may wait in all. */
let patienceMs = 2000

/** @returns {import('./index.js').Snapshot} */
function takeSnapshot() {
  const { listProcesses, snapshotOf } = require('./snapshot.js')
  return snapshotOf(listProcesses(), NODE)
}

/** The shell, and its options before a command that is passed on as it is. */
const SHELL = process.env.comspec ?? 'cmd.exe'
const SHELL_OPTIONS = ['/d', '/s', '/c']
const COMMAND_FILE = /\.(cmd|bat)$/i

/**
 * Starts a program. cross-spawn finds programs by PATHEXT, reads the first line of scripts, and has cmd.exe
 * open other files. Throws if the program is not found, for which cmd.exe would have a message and an exit
 * code of its own.
 *
 * No job object of our own is needed. libuv puts each child into a job that ends the child with this
 * process, as Windows programs expect. A job for all processes below would change what they see of
 * their jobs, and would end daemons that a command leaves behind on purpose.
 * @param {string} program @param {string[]} words @param {import('node:child_process').SpawnOptions} given
 */
function spawn(program, words, given) {
  const verbatim = { ...given, windowsVerbatimArguments: true }
  if (isShell(program, words)) return childProcess.spawn(program, words, verbatim)
  // @ts-expect-error the package has no types
  const { _parse: parse } = require('cross-spawn')
  const { command, args, options, file } = parse(program, words, given)
  if (!file) throw Object.assign(new Error(`spawn ${program} ENOENT`), { code: 'ENOENT' })
  // Only cmd.exe gets its arguments so.
  if (!options.windowsVerbatimArguments) return childProcess.spawn(command, args, options)
  // @ts-expect-error the package has no types
  const interpreter = require('cross-spawn/lib/util/readShebang')(file)
  if (interpreter) return spawn(interpreter, [file, ...words], given)
  if (!COMMAND_FILE.test(file)) return childProcess.spawn(command, args, options)
  // cross-spawn's quotes let a part of an argument become a command, in a command file outside of
  // node_modules/.bin.
  const { commandFileWords } = require('./command-file.js')
  return childProcess.spawn(SHELL, commandFileWords(file, words), verbatim)
}

/** Returns the words that have the shell run a command. @param {string} text */
function shellWords(text) {
  return [SHELL, ...SHELL_OPTIONS, `"${text}"`]
}

/** Returns whether words are those of `shellWords()`. @param {string} program @param {string[]} words */
function isShell(program, words) {
  const [text, ...others] = words.slice(SHELL_OPTIONS.length)
  const isSame = SHELL_OPTIONS.every((option, index) => words[index] === option)
  return program === SHELL && isSame && others.length === 0 && /^".*"$/s.test(text ?? '')
}

/** Ends this process with the code that the signal gives by default: no program ends by a signal here. */
function endBySignal() {
  process.exit(STATUS_CONTROL_C_EXIT)
}

/**
 * Lists the sockets of this user's armed processes: a file of the user tells the name of a pipe.
 * @param {NodeJS.ProcessEnv} env @returns {import('./index.js').ControlSocket[]}
 */
function listSockets({ CPU_PROF_SOCKET: given, LOCALAPPDATA: local }) {
  const usual = local && path.isAbsolute(local) ? path.join(local, 'cpu-prof') : undefined
  const folder = given && path.isAbsolute(given) ? given : usual
  if (folder === undefined) return []
  return namedIn(folder).flatMap((socket) => {
    const pipe = loadTools().cpuProfReadOwnFile(folder, path.basename(socket.file)) ?? ''
    return PIPE.test(pipe)
      ? [{ ...socket, file: pipe, user: undefined, group: undefined, root: '' }]
      : []
  })
}

/**
 * Calls a change of files, again if that fails because another program has a file open. Virus scanners
 * and indexers open new files for moments.
 * @template T @param {() => T} change @returns {T}
 */
function patiently(change) {
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return change()
    } catch (error) {
      const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
      if (!BUSY.includes(code) || patienceMs <= 0) throw error
      patienceMs -= pauseMs
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
  }
}

/** @type {import('./index.js').System} */
module.exports = {
  IS_WINDOWS: true,
  SIGNALS,
  // The start is the difference of two clocks, one of which moves in steps of 16 ms.
  START_TOLERANCE_MS: 100,
  TEMP_VARIABLE: 'TEMP',
  takeSnapshot,
  openFilesOf: () => undefined,
  // The console tells all its programs, and nothing else sends a signal.
  watchTerminal: () => () => true,
  // Programs get files as handles, whose numbers nobody knows.
  passOnFiles: () => {},
  spawn,
  shellWords,
  endBySignal,
  isInterruption: (code) => code === STATUS_CONTROL_C_EXIT,
  isPath: (file) => /[\\/]|^[a-z]:/i.test(file),
  isDevice: (file) => DEVICE.test(file) || DEVICE_PATH.test(file),
  // A new folder has the access of the folder above, not a mode.
  isPrivate: (folder) => loadTools().cpuProfMakePrivate(folder),
  listSockets,
  // The system removes the file of a socket with the process.
  removeSocket: () => {},
  socketFolders: () => [],
  asUserOf: (_, call) => call(),
  ownerOf: () => undefined,
  seesFolder: () => undefined,
  isSamePath: (a, b) => a.toLowerCase() === b.toLowerCase(),
  patiently,
}
