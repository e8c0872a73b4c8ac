'use strict'

// Runs a command as a shell would: with this process's files, signals and ending.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { isatty } = require('node:tty')
const { loadTools } = require('../../../lib/addon.js')
const exitCodes = require('../../exit-codes.js')
const { onSignals } = require('../../terminal/cleanup.js')
const { fail } = require('../../terminal/output.js')
const { quote } = require('../../terminal/shell.js')
const { listOpenFiles, readStat } = require('../proc.js')

/** @typedef {{ pid?: number, code: number | null, signal: NodeJS.Signals | null }} Ending */
/** @typedef {{ isThere: boolean, isForeground: boolean }} Terminal */

/**
 * Runs a command to its end. Rejects if it cannot be started.
 * @param {string[]} command @param {NodeJS.ProcessEnv} env
 * @param {(pid: number) => void} onStart called once the command runs
 * @returns {Promise<Ending>}
 */
function runToEnd([file, ...args], env, onStart) {
  return new Promise((resolve, reject) => {
    const terminalAtStart = readTerminal()
    const stopListening = onSignals((signal) => {
      if (!reachesTheChildToo(signal, terminalAtStart)) child.kill(signal)
    })
    passOnFiles(env)
    const child = spawn(file, args, { env, stdio: 'inherit' })
    child.on('error', (error) => {
      stopListening()
      reject(error)
    })
    child.on('exit', (code, signal) => {
      stopListening()
      resolve({ pid: child.pid, code, signal })
    })
    if (child.pid !== undefined) onStart(child.pid)
  })
}

/**
 * Lets the processes that this process starts inherit the files that this process has inherited,
 * under the same numbers. Node closes them to its children.
 * @param {NodeJS.ProcessEnv} env
 */
function passOnFiles({ MAKEFLAGS = '', NODE_CHANNEL_FD }) {
  // A pipe with both ends.
  const [, ...jobserver] = /--jobserver-(?:auth|fds)=(\d+),(\d+)/.exec(MAKEFLAGS) ?? []
  const files = listOpenFiles().filter(({ fd }) => fd > 2)
  const inherited = files
    .filter((file) => jobserver.includes(String(file.fd)) || isInherited(file, files))
    .map(({ fd }) => fd)
    .filter((fd) => fd !== Number(NODE_CHANNEL_FD))
  // Most processes have none, and loading the addon takes milliseconds.
  if (inherited.length > 0) loadTools().cpuProfPassOn(inherited)
}

/**
 * Returns whether a file is not one of Node's own.
 * @param {import('../proc.js').OpenFile} file @param {import('../proc.js').OpenFile[]} all
 */
function isInherited({ target, isWritten }, all) {
  if (!target.startsWith('pipe:')) {
    return target.startsWith('socket:') || (target.startsWith('/') && target !== '/dev/null')
  }
  // libuv's pipes have both ends in this process.
  return !all.some((other) => other.target === target && other.isWritten !== isWritten)
}

/**
 * Returns whether the terminal sent the signal to the command too. A terminal signals its whole
 * foreground group on Ctrl-C and Ctrl-\, and all its processes when it closes. Forwarding would
 * deliver the signal twice, and many programs quit at once on the second. The other signals never
 * come from a terminal. A SIGINT, SIGQUIT or SIGHUP sent to this process alone looks the same, and
 * is not forwarded either.
 * @param {NodeJS.Signals} signal @param {Terminal} atStart
 */
function reachesTheChildToo(signal, atStart) {
  if (signal === 'SIGINT' || signal === 'SIGQUIT') return readTerminal().isForeground
  // The terminal is closed by now.
  return signal === 'SIGHUP' && atStart.isThere
}

/** @returns {Terminal} */
function readTerminal() {
  const stat = readStat('self')
  if (stat !== undefined) {
    return { isThere: stat.terminal !== 0, isForeground: stat.foregroundGroup === stat.group }
  }
  const isThere = [0, 1, 2].some((fd) => isatty(fd))
  return { isThere, isForeground: isThere }
}

/** Says why a command could not be started, and sets the exit code. @param {string} file @param {NodeJS.ErrnoException} error */
function failToStart(file, { code, message }) {
  if (code === 'ENOENT') fail(notFound(file), exitCodes.NOT_FOUND)
  else fail(`${file} cannot be run: ${message}`, exitCodes.CANNOT_EXECUTE)
}

/** @param {string} file */
function notFound(file) {
  if (!file.includes('/')) {
    return `${file} was not found on the PATH; for a package's command: cpu-prof run npx ${quote(file)} …`
  }
  return fs.existsSync(file)
    ? `${file} cannot be run: the interpreter in its first line does not exist`
    : `${file} was not found`
}

/** Ends this process as the command ended. @param {Ending} ending */
function endAs({ code, signal }) {
  if (signal === null) {
    process.exitCode = code ?? exitCodes.FAILED
    return
  }
  // For the case that this process survives, for example because the signal is blocked.
  process.exitCode = exitCodes.SIGNAL + (require('node:os').constants.signals[signal] ?? 0)
  process.kill(process.pid, signal)
}

module.exports = { runToEnd, failToStart, endAs }
