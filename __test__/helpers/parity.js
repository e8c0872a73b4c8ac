'use strict'

// Runs a program with Node's `--cpu-prof` and with cpu-prof, on the same Node, and compares the outcomes.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { readCpuProfile } = require('./cpuprofile.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('./run.js')

const DEFAULT_NAME = 'CPU.<date>.<time>.<pid>'
const PRELOAD = ['--require', PACKAGE]
/** An interval at which a program of some milliseconds has samples. */
const FINE = 200

/**
 * Computes Fibonacci numbers until V8's sampling threads have ticked between two looks a few times: then
 * fib() has samples, however slow the machine is. The first argument names how to end, and whether to use
 * a worker.
 */
const SOURCE = `'use strict'

const { hasTicked, ticks } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
const { Worker, isMainThread } = require('node:worker_threads')

/** Where there is no sampling, the work ends after this CPU time. */
const LIMIT_MS = 1000
const LOOKS = 10
const [, , how, execArgv] = process.argv

if (isMainThread && how?.startsWith('worker')) {
  const argv = [how === 'worker-exits' ? 'exit' : 'natural', 'an argument']
  const worker = new Worker(__filename, { argv, execArgv: execArgv && JSON.parse(execArgv) })
  worker.on('exit', (code) => console.log('worker ended with', code))
} else if (how === 'drained') {
  setTimeout(() => setImmediate(compute), 10)
} else {
  compute()
}

function compute() {
  if (how === 'sigint-heard') process.on('SIGINT', () => process.exit(7))
  console.log(fibUntilSampled(), process.argv.slice(2))
  if (how === 'exit') process.exit(55)
  if (how === 'ready') process.send?.(how)
  if (how?.startsWith('sigint')) process.kill(process.pid, 'SIGINT')
  if (how === 'sigkill') process.kill(process.pid, 'SIGKILL')
  if (how === 'sigwinch') {
    process.kill(process.pid, 'SIGWINCH')
    afterwards()
  }
  if (how === 'ready' || how === 'sigint-heard') setInterval(() => {}, 1e6)
}

function afterwards() {
  fibUntilSampled()
  console.log('afterwards')
}

function fibUntilSampled() {
  const workedMs = () => process.cpuUsage().user / 1000
  const enough = workedMs() + LIMIT_MS
  let result = 0
  let before = ticks()
  for (let looks = 0; looks < LOOKS && workedMs() < enough; ) {
    result = fib(26)
    const now = ticks()
    if (hasTicked(now, before)) looks++
    before = now
  }
  return result
}

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2)
}
`

const PROGRAM = path.join(temporaryDirectory(), 'fibonacci.js')
fs.writeFileSync(PROGRAM, SOURCE)

/**
 * The settings of both profilers. `{root}` is the parent of the working directory.
 * @typedef {{ dir?: string, name?: string, interval?: number | string }} Settings
 * @typedef {{ preload?: string[] | null, env?: Record<string, string | undefined> }} Way
 */

/** Returns the built-in profiler's flags. @param {Settings} settings @returns {Way} */
const byFlags = ({ dir, name, interval }) => ({
  preload: [
    '--cpu-prof',
    ...(dir === undefined ? [] : [`--cpu-prof-dir=${dir}`]),
    ...(name === undefined ? [] : [`--cpu-prof-name=${name}.cpuprofile`]),
    ...(interval === undefined ? [] : [`--cpu-prof-interval=${interval}`]),
  ],
})

/** Returns cpu-prof's settings. @param {Settings} settings @returns {Way} */
const byEnv = ({ dir, name, interval }) => ({
  env: {
    CPU_PROF_FORMAT: 'cpuprofile',
    CPU_PROF_DIR: dir,
    CPU_PROF_NAME: name,
    CPU_PROF_INTERVAL: interval?.toString(),
  },
})

/**
 * Runs a program and lists all files that exist afterwards, relative to `root`, the parent of the
 * working directory `cwd`.
 * @param {string[]} args
 * @param {Way & { isOurs: boolean, files?: string[] }} options `files` exist before the run
 * @param {Parameters<typeof run>[1]} [more]
 */
async function observe(
  args,
  { isOurs, files: before = [], preload = PRELOAD, env = {} },
  more = {},
) {
  const root = temporaryDirectory()
  const cwd = path.join(root, 'cwd')
  fs.mkdirSync(cwd)
  for (const file of before) fs.writeFileSync(path.join(root, file), 'mine')
  const result = await run(args, {
    ...more,
    cwd,
    preload: preload === null ? null : preload.map((flag) => flag.replace('{root}', root)),
    env: Object.fromEntries(
      Object.entries({ ...more.env, ...env }).map(([variable, value]) => [
        variable,
        value?.replace('{root}', root),
      ]),
    ),
  })
  const files = fs
    .readdirSync(root, { recursive: true })
    .map(String)
    .filter((file) => fs.statSync(path.join(root, file)).isFile())
    .sort()
  const isProfile = (/** @type {string} */ file) =>
    file.endsWith('.cpuprofile') && fs.readFileSync(path.join(root, file), 'utf8') !== 'mine'
  const profiles = files
    .filter(isProfile)
    .map((file) => readCpuProfile(path.join(root, file), { isOurs }))
  const names = files.map((file) =>
    file.replace(/\bCPU\.\d{8}\.\d{6}\.(\d+)/, (all, pid) =>
      Number(pid) === result.pid ? DEFAULT_NAME : all,
    ),
  )
  return { ...result, root, files, names, profiles }
}

/**
 * Runs a program with the built-in flag and with cpu-prof, at the same time, and checks that exit status
 * and output are the same.
 * @param {string[]} args
 * @param {Settings} [settings]
 * @param {Parameters<typeof run>[1] & { files?: string[] }} [options]
 */
async function both(args, settings = {}, { files, ...more } = {}) {
  const [builtIn, ours] = await Promise.all([
    observe(args, { ...byFlags(settings), isOurs: false, files }, more),
    observe(args, { ...byEnv(settings), isOurs: true, files }, more),
  ])
  assertSameEnd(builtIn, ours)
  return { builtIn, ours }
}

/** @typedef {Awaited<ReturnType<typeof observe>>} Outcome */

/** Checks that exit status and output are the same. @param {Outcome} builtIn @param {Outcome} ours */
function assertSameEnd(builtIn, ours) {
  for (const key of /** @type {const} */ (['code', 'signal', 'stdout', 'stderr'])) {
    assert.equal(ours[key], builtIn[key], key)
  }
}

/**
 * Checks that both profilers left only files of these names, without a complaint.
 * @param {{ builtIn: Outcome, ours: Outcome }} outcomes
 * @param {string[]} names
 */
function assertFiles({ builtIn, ours }, names) {
  assert.equal(builtIn.stderr, '')
  assert.deepEqual(builtIn.names, names)
  assert.deepEqual(ours.names, names)
}

/**
 * Checks which threads' profiles contain fib(), and that both profilers show the same call frame.
 * @param {{ builtIn: Outcome, ours: Outcome }} outcomes
 * @param {boolean[]} [threads]
 */
function assertFib({ builtIn, ours }, threads = [true]) {
  assert.deepEqual(
    { builtIn: hasFib(builtIn), ours: hasFib(ours) },
    { builtIn: threads, ours: threads },
  )
  assert.deepEqual(fibFrame(ours), fibFrame(builtIn))
}

/** @param {any} profile @param {string} name */
const hasFunction = ({ nodes }, name) =>
  nodes.some((/** @type {any} */ { callFrame }) => callFrame.functionName === name)

/** Returns for each profile whether it contains fib(). @param {Outcome} outcome */
function hasFib({ profiles }) {
  return profiles.map((profile) => hasFunction(profile, 'fib'))
}

/** Returns the call frame of fib() without its script id. @param {Outcome} outcome */
function fibFrame({ profiles }) {
  const node = profiles
    .flatMap(({ nodes }) => nodes)
    .find((/** @type {any} */ { callFrame }) => callFrame.functionName === 'fib')
  const { scriptId, ...frame } = node.callFrame
  return frame
}

const ONE_THREAD = [`cwd/${DEFAULT_NAME}.0.001.cpuprofile`]
const TWO_THREADS = [...ONE_THREAD, `cwd/${DEFAULT_NAME}.1.002.cpuprofile`]

module.exports = {
  assertFib,
  assertFiles,
  assertSameEnd,
  both,
  byEnv,
  byFlags,
  hasFib,
  hasFunction,
  observe,
  DEFAULT_NAME,
  FINE,
  ONE_THREAD,
  PRELOAD,
  PROGRAM,
  TWO_THREADS,
}
