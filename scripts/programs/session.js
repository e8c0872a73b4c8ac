'use strict'

// Runs a command as a user would: in a terminal or with pipes, with changes of a file and Ctrl-C.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { stripVTControlCharacters } = require('node:util')
const { watchProcesses, endLiving } = require('./processes.js')

const LIMIT_MS = 180_000
/** Time in which a watcher must not restart: a recording is written every half second. */
const QUIET_MS = 6000
const CTRL_C = '\x03'

/**
 * Steps of a user, for a command that does not end by itself.
 * @typedef {object} Steps
 * @property {RegExp} started what the command prints at each start, with the flag `g`
 * @property {string} [change] the file to change, after which one more start is expected
 * @property {string} [request] the page to ask for; the address is taken from the output
 */

/**
 * @typedef {object} Outcome
 * @property {number | null} code
 * @property {NodeJS.Signals | null} signal
 * @property {string} stdout in a terminal also stderr
 * @property {string} stderr
 * @property {number[]} starts before and after the change of the file
 * @property {string} [answer] to the request
 * @property {string} [problem] why the command was ended early
 * @property {import('./processes.js').Seen[]} processes
 */

/**
 * Runs a command to its end, and ends what it leaves running.
 * @param {string[]} command
 * @param {{ dir: string, cwd: string, env: NodeJS.ProcessEnv, steps?: Steps, stop?: string[] }} options
 *   dir: the folder with everything of the program; stop: a command that ends daemons
 * @returns {Promise<Outcome>}
 */
async function runSession(command, { dir, cwd, env, steps, stop }) {
  const watch = watchProcesses(dir)
  const child = steps ? spawnInTerminal(command, cwd, env) : spawnWithPipes(command, cwd, env)
  /** @type {Outcome} */
  const outcome = { ...emptyOutcome(), processes: watch.all }
  child.stdout.on('data', (data) => {
    outcome.stdout += data
  })
  child.stderr.on('data', (data) => {
    outcome.stderr += data
  })
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    // A daemon keeps the pipes open, so the event `close` can be missing.
    child.on('exit', (code, signal) => resolve(Object.assign(outcome, { code, signal })))
  })
  const limit = setTimeout(() => {
    outcome.problem ??= `no end after ${LIMIT_MS / 1000} s`
    endLiving(watch)
  }, LIMIT_MS)
  if (steps) await takeSteps(steps, cwd, outcome, child, ended)
  await ended
  // The rest of the output.
  await sleep(100)
  clearTimeout(limit)
  if (stop) await new Promise((resolve) => spawnWithPipes(stop, cwd, env).on('exit', resolve))
  await endLiving(watch)
  watch.stop()
  for (const stream of [child.stdout, child.stderr, child.stdin]) stream?.destroy()
  return outcome
}

function emptyOutcome() {
  return { code: null, signal: null, stdout: '', stderr: '', starts: [] }
}

/** @param {string[]} command @param {string} cwd @param {NodeJS.ProcessEnv} env */
function spawnWithPipes([file, ...args], cwd, env) {
  const child = spawn(file, args, { cwd, env })
  child.stdin.end()
  return child
}

/**
 * Starts a command in the foreground of a terminal of its own, where Ctrl-C reaches all its
 * processes.
 * @param {string[]} command @param {string} cwd @param {NodeJS.ProcessEnv} env
 */
function spawnInTerminal(command, cwd, env) {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const line = `stty rows 40 cols 120 -echo && exec ${quoted}`
  return spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    cwd,
    env,
  })
}

/**
 * Does what a user does, and counts the starts.
 * @param {Steps} steps @param {string} cwd @param {Outcome} outcome
 * @param {import('node:child_process').ChildProcessWithoutNullStreams} child
 * @param {Promise<unknown>} ended
 */
async function takeSteps({ started, change, request }, cwd, outcome, child, ended) {
  let isOver = false
  ended.finally(() => {
    isOver = true
  })
  const starts = () => count(outcome.stdout, started)
  const until = async (/** @type {number} */ number) => {
    while (!isOver && starts() < number) await sleep(20)
    return !isOver
  }
  if (!(await until(1))) return
  if (request) outcome.answer = await ask(outcome.stdout, request)
  await sleep(QUIET_MS)
  outcome.starts.push(starts())
  if (change) {
    fs.appendFileSync(path.join(cwd, change), '\n// Changed.\n')
    if (!(await until(outcome.starts[0] + 1))) return
    await sleep(QUIET_MS / 2)
    outcome.starts.push(starts())
  }
  child.stdin.write(CTRL_C)
}

/** @param {string} text @param {RegExp} pattern */
function count(text, pattern) {
  return (stripVTControlCharacters(text).match(pattern) ?? []).length
}

/** Asks the server whose address the output names. @param {string} output @param {string} page */
async function ask(output, page) {
  const address = /http:\/\/localhost:\d+\//.exec(stripVTControlCharacters(output))?.[0]
  const response = await fetch(new URL(page, address))
  return `${response.status}\n${await response.text()}`
}

module.exports = { runSession }
