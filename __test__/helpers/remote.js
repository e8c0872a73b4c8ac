'use strict'

// Programs that are armed, or run without cpu-prof, and are controlled by the command line.

const { spawn } = require('node:child_process')
const path = require('node:path')
const { cli } = require('./cli.js')
const { cleanEnv, temporaryDirectory, FIXTURES, PACKAGE } = require('./files.js')
const { message } = require('./run.js')

const PROGRAM = path.join(FIXTURES, 'controlled.js')

/**
 * @typedef {object} Program
 * @property {import('node:child_process').ChildProcess} child
 * @property {number} pid
 * @property {string} cwd
 * @property {string} stderr what it has printed so far
 * @property {any} ready its first message
 */

/**
 * Starts a program, which lives until the end of the spec. Resolves once the program runs.
 * @param {import('node:test').TestContext} t @param {string[]} args Node's
 * @param {Record<string, string | undefined>} [env] @param {string} [cwd]
 * @returns {Promise<Program>}
 */
async function startProgram(t, args, env = {}, cwd = temporaryDirectory()) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  /** @type {Program} */
  const program = { child, cwd, pid: Number(child.pid), stderr: '', ready: undefined }
  child.stderr?.on('data', (data) => {
    program.stderr += data
  })
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  })
  program.ready = await message(child)
  return program
}

/**
 * Starts an armed program.
 * @param {import('node:test').TestContext} t @param {string} folder of its control socket
 * @param {string[]} [words] arguments of the program
 */
function startArmed(t, folder, words = []) {
  const env = { CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder }
  return startProgram(t, ['--require', PACKAGE, PROGRAM, ...words], env)
}

/** Has a program work until the work is sampled. @param {Program} program */
async function work({ child }) {
  const worked = message(child)
  child.send('work')
  await worked
}

/**
 * Returns the command line that finds the control sockets of one folder.
 * @param {string} folder @returns {typeof cli}
 */
function cliOf(folder) {
  return (args, options = {}) =>
    cli(args, { ...options, env: { CPU_PROF_SOCKET: folder, ...options.env } })
}

module.exports = { cliOf, startArmed, startProgram, work, PROGRAM }
