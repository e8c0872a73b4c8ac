'use strict'

// A command as a shell would run it: our own input and output, the signals that we get, and our end
// is its end.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { isatty } = require('node:tty')

/** @typedef {{ pid?: number, code: number | null, signal: NodeJS.Signals | null }} Ending */

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/**
 * Runs a command to its end. Rejects if it cannot be started.
 * @param {string[]} command @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Ending>}
 */
function runToEnd([file, ...args], env) {
  return new Promise((resolve, reject) => {
    const terminalAtStart = readTerminal()
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => {
      if (!reachesTheChildToo(signal, terminalAtStart)) child.kill(signal)
    }
    for (const signal of FORWARDED) process.on(signal, forward)
    const stopForwarding = () => {
      for (const signal of FORWARDED) process.off(signal, forward)
    }

    const child = spawn(file, args, { env, stdio: 'inherit' })
    child.on('error', (error) => {
      stopForwarding()
      reject(error)
    })
    child.on('exit', (code, signal) => {
      stopForwarding()
      resolve({ pid: child.pid, code, signal })
    })
  })
}

/**
 * What a terminal sends on Ctrl-C, on Ctrl-\ and when it closes goes to all that it runs. To forward
 * it would give it to the command twice, and many take the second for impatience. A signal of these
 * that someone sends to this process alone cannot be told apart; the others never come from a
 * terminal.
 * @param {NodeJS.Signals} signal @param {Terminal} atStart
 */
function reachesTheChildToo(signal, atStart) {
  if (signal === 'SIGINT' || signal === 'SIGQUIT') return readTerminal().isForeground
  // By now the terminal is gone.
  return signal === 'SIGHUP' && atStart.isThere
}

/** @typedef {{ isThere: boolean, isForeground: boolean }} Terminal */

/** @returns {Terminal} */
function readTerminal() {
  try {
    const stat = fs.readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, , group, , terminal, foregroundGroup] = fields
    return { isThere: terminal !== '0', isForeground: foregroundGroup === group }
  } catch {
    const isThere = [0, 1, 2].some((fd) => isatty(fd))
    return { isThere, isForeground: isThere }
  }
}

/** Ends this process as the command has ended. @param {Ending} ending */
function endAs({ code, signal }) {
  if (signal === null) {
    process.exitCode = code ?? 1
    return
  }
  // In case that we live on, since this signal is blocked, say. Shells have this number for it.
  process.exitCode = 128 + (require('node:os').constants.signals[signal] ?? 0)
  process.kill(process.pid, signal)
}

module.exports = { runToEnd, endAs }
