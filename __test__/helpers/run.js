'use strict'

// Records programs. Specs that need no recording take their helpers from files.js.

const { spawn } = require('node:child_process')
const path = require('node:path')
const files = require('./files.js')
const { readTrace } = require('./trace.js')

const { cleanEnv, temporaryDirectory, tracesIn, PACKAGE, FIXTURES } = files

/** The source of all recordings: `v8`, unless SPEC_SOURCE names another source. */
const SOURCE = process.env.SPEC_SOURCE ?? 'v8'

/**
 * Runs Node with the preload in a new directory and waits for its end.
 * @param {string[]} args Node's arguments; a fixture is given by its file name
 * @param {object} [options]
 * @param {Record<string, string | undefined>} [options.env] added to the environment
 * @param {string[] | null} [options.preload] the arguments that preload the package; null for none
 * @param {string} [options.cwd] the working directory, also the output directory
 * @param {string[]} [options.under] a command that runs the one given as its last arguments
 * @param {(child: import('node:child_process').ChildProcess, dir: string) => void} [options.during]
 *   called once the process runs
 * @param {number} [options.read] the number of traces to read and check; default: all
 */
async function run(args, options = {}) {
  const { env = {}, preload = ['--require', PACKAGE], under = [], during } = options
  const { read = Infinity } = options
  const cwd = options.cwd ?? temporaryDirectory()
  const [command, ...full] = [...under, process.execPath, ...(preload ?? []), ...args.map(fixture)]
  const child = spawn(command, full, {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (data) => {
    output.stdout += data
  })
  child.stderr?.on('data', (data) => {
    output.stderr += data
  })
  child.stdin?.end()
  during?.(child, cwd)
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (...ending) => resolve(ending))
  })
  const files = tracesIn(env.CPU_PROF_DIR ? path.resolve(cwd, env.CPU_PROF_DIR) : cwd)
  const traces = []
  for (const file of files.slice(0, read)) traces.push(await readTrace(file))
  traces.sort((a, b) => a.pid - b.pid || a.tid - b.tid)
  return { code, signal, ...output, pid: child.pid, cwd, files, traces }
}

/** Resolves the file name of a fixture to its path. @param {string} name */
function fixture(name) {
  return /^[\w-]+\.(js|mjs)$/.test(name) ? path.join(FIXTURES, name) : name
}

/** Returns CLOCK_MONOTONIC, the clock of a trace, in microseconds. */
const nowUs = () => Number(process.hrtime.bigint() / 1000n)

/** Resolves with the child's next message. @param {import('node:child_process').ChildProcess} child */
function message(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code, signal) => reject(new Error(`ended early: ${code ?? signal}`)))
  })
}

module.exports = { ...files, run, message, nowUs, readTrace, SOURCE }
