'use strict'

// Runs a command as a shell would: with this process's files, signals and ending.

const fs = require('node:fs')
const exitCodes = require('../../exit-codes.js')
const system = require('../../system/index.js')
const { fail, failWith } = require('../../terminal/output.js')
const { quote } = require('../../terminal/shell.js')

/** @typedef {{ pid?: number, code: number | null, signal: NodeJS.Signals | null }} Ending */
/**
 * What a command has in common with this process.
 * @typedef {object} Connection
 * @property {import('node:child_process').StdioOptions} [stdio] default: the files of this process
 * @property {AbortSignal} [stop] sends SIGTERM to the command
 */

/**
 * Runs a command to its end. Rejects if it cannot be started.
 * @param {string[]} command @param {NodeJS.ProcessEnv} env
 * @param {(pid: number) => void} onStart called once the command runs
 * @param {Connection} [connection]
 * @returns {Promise<Ending>}
 */
function runToEnd([file, ...args], env, onStart, { stdio = 'inherit', stop } = {}) {
  return new Promise((resolve, reject) => {
    const reachesTheCommandToo = system.watchTerminal()
    const stopListening = system.onSignals((signal) => {
      if (!reachesTheCommandToo(signal)) child.kill(signal)
    })
    system.passOnFiles(env)
    const child = system.spawn(file, args, { env, stdio })
    const end = () => child.kill('SIGTERM')
    stop?.addEventListener('abort', end)
    const release = () => {
      stopListening()
      stop?.removeEventListener('abort', end)
    }
    child.on('error', (error) => {
      release()
      reject(error)
    })
    child.on('exit', (code, signal) => {
      release()
      resolve({ pid: child.pid, code, signal })
    })
    if (child.pid !== undefined) onStart(child.pid)
  })
}

/** Says why a command could not be started, and sets the exit code. @param {string} file @param {NodeJS.ErrnoException} error */
function failToStart(file, error) {
  if (error.code === 'ENOENT') fail(notFound(file), exitCodes.NOT_FOUND)
  else failWith(error, { before: `${file} cannot be run: `, exitCode: exitCodes.CANNOT_EXECUTE })
}

/** @param {string} file */
function notFound(file) {
  if (!system.isPath(file)) {
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
  system.endBySignal(signal)
}

/** Returns whether a signal or Ctrl-C ended the command. @param {Ending} ending */
function isInterrupted({ code, signal }) {
  return signal !== null || system.isInterruption(code)
}

module.exports = { runToEnd, failToStart, endAs, isInterrupted }
