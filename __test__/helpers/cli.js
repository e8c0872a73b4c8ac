'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('./files.js')

const BIN = path.join(PACKAGE, 'bin', 'cpu-prof.js')

/** For {@link Options} `under`: kills a command that hangs, with the exit code 137. */
const LIMITED = ['timeout', '-s', 'KILL', '60']

/**
 * @typedef {object} Options
 * @property {string} [cwd] default: a new folder
 * @property {Record<string, string | undefined>} [env] added to the environment
 * @property {string | Buffer} [input] written to its stdin
 * @property {string[]} [under] a command that runs the one given as its last arguments
 * @property {boolean} [detached] in a new session, without a terminal
 * @property {(child: import('node:child_process').ChildProcess) => void} [during]
 */

/** Runs the command line to its end. @param {string[]} args @param {Options} [options] */
async function cli(args, { cwd = temporaryDirectory(), input = '', ...options } = {}) {
  const [command, ...full] = [...(options.under ?? []), process.execPath, BIN, ...args]
  const child = spawn(command, full, {
    cwd,
    env: { ...cleanEnv(), ...options.env },
    detached: options.detached ?? false,
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (data) => {
    output.stdout += data
  })
  child.stderr.on('data', (data) => {
    output.stderr += data
  })
  options.during?.(child)
  if (options.during === undefined) child.stdin.end(input)
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (...ending) => resolve(ending))
  })
  return { code, signal, cwd, ...output }
}

/** Returns a `during` that closes a stream of the child unread. @param {'stdout' | 'stderr'} stream */
function unread(stream) {
  return (/** @type {import('node:child_process').ChildProcess} */ child) => {
    child[stream]?.destroy()
    child.stdin?.end()
  }
}

/** Resolves when a stream has printed the text. @param {import('node:stream').Readable | null} stream @param {string} text */
function textFrom(stream, text) {
  return new Promise((resolve) => {
    let all = ''
    stream?.on('data', (data) => {
      all += data
      if (all.includes(text)) resolve(undefined)
    })
  })
}

module.exports = { cli, textFrom, unread, BIN, LIMITED }
