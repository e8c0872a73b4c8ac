'use strict'

// Starts and stops recordings for the server, one at a time.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { Refusal } = require('../root.js')
const { Tail } = require('./tail.js')

const CHILD = path.join(__dirname, 'child.js')
/** Lines of the command's output, and of what cpu-prof says, that are kept. */
const LINES = { output: 20, words: 20 }
/** Time that a command gets to end after SIGTERM before the answer is given without it. */
const GRACE_MS = 10_000
const PROGRESS_MS = 1000
/** Time for the last output of a command that has ended. */
const REST_MS = 500

/**
 * @typedef {object} Job
 * @property {string[]} command
 * @property {number} repeat
 * @property {string} cwd
 * @property {string} runs the folder of all runs
 * @property {number} timeoutMs
 * @property {AbortSignal} signal
 * @property {(seconds: number, message: string) => void} tell
 *
 * @typedef {object} Recording
 * @property {string} [folder] of the run; undefined if nothing was recorded
 * @property {number | null} code @property {string | null} signal
 * @property {boolean} hasTimedOut
 * @property {string[]} output the last lines that the command printed
 * @property {string[]} words what cpu-prof says about the run
 */

class Recorder {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child
  #what = ''

  /** Has the running command end, if there is one. Its recording is kept. */
  stop() {
    this.#child?.stdin?.end()
  }

  /** @param {Job} job @returns {Promise<Recording>} */
  async record({ command, repeat, cwd, runs, timeoutMs, signal, tell }) {
    if (this.#child !== undefined) {
      throw new Refusal(
        `a recording is running (${this.#what}), and two at once would slow each other down; wait for ` +
          'its end, or cancel its request',
      )
    }
    signal.throwIfAborted()
    const child = spawn(process.execPath, [CHILD, runs, String(repeat), ...command], {
      cwd,
      stdio: 'pipe',
      windowsHide: true,
    })
    // No process and no pipes, for example for lack of memory.
    if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
    this.#child = child
    this.#what = command.join(' ')
    // The child can end first.
    child.stdin.on('error', () => {})
    const output = new Tail(child.stdout, LINES.output)
    const words = new Tail(child.stderr, LINES.words)
    const start = performance.now()
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - start) / 1000)
      tell(seconds, `${seconds} s, ${output.count} lines of output`)
    }, PROGRESS_MS)
    let hasTimedOut = false
    const timeout = setTimeout(() => {
      hasTimedOut = true
      this.stop()
    }, timeoutMs)
    const stop = () => this.stop()
    signal.addEventListener('abort', stop)
    try {
      const ended = this.#end(child)
      const ending = await Promise.race([ended, patience(child)])
      if (ending === undefined) throw new Refusal(goesOn(child.pid))
      const folder = words.first
      const rest = words.lines()
      const isRecorded = folder !== undefined && path.dirname(folder) === runs && hasFiles(folder)
      return {
        ...ending,
        hasTimedOut,
        folder: isRecorded ? folder : undefined,
        output: output.lines(),
        words: rest
          .filter((line) => line !== '' && line !== folder)
          .map((line) => line.replace(/^cpu-prof: /, '')),
      }
    } finally {
      clearInterval(timer)
      clearTimeout(timeout)
      signal.removeEventListener('abort', stop)
    }
  }

  /**
   * Resolves when the recording has ended. Until then, no other one begins.
   * @param {import('node:child_process').ChildProcess} child
   * @returns {Promise<{ code: number | null, signal: string | null }>}
   */
  #end(child) {
    return new Promise((resolve, reject) => {
      const free = () => {
        if (this.#child === child) this.#child = undefined
      }
      child.on('error', (error) => {
        free()
        reject(error)
      })
      child.on('exit', (code, signal) => {
        free()
        const end = () => {
          // A process that outlives the command keeps its stdout open, but not this server alive.
          for (const stream of [child.stdout, child.stderr]) /** @type {any} */ (stream)?.unref?.()
          resolve({ code, signal })
        }
        child.on('close', end)
        setTimeout(end, REST_MS)
      })
    })
  }
}

/** Resolves some time after a child was told to end. @param {import('node:child_process').ChildProcess} child */
function patience(child) {
  return new Promise((resolve) => {
    child.stdin?.on('finish', () => setTimeout(() => resolve(undefined), GRACE_MS).unref())
  })
}

/** @param {number | undefined} pid */
const goesOn = (pid) =>
  `the command does not end on SIGTERM; it goes on below the process ${pid}, and its run will be ` +
  'there when it has ended'

/** @param {string} folder */
const hasFiles = (folder) => fs.existsSync(folder) && fs.readdirSync(folder).length > 0

module.exports = { Recorder }
