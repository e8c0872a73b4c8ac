'use strict'

// Parts that the benchmarks share: the variants of a program, and how they are measured.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { load } = require('../lib/addon.js')

const PACKAGE = path.join(__dirname, '..')

if (!load().cpuProfBuild().endsWith(':published')) {
  throw new Error(
    'the addons are a build for tests; measure the published one: npm run build -- --published',
  )
}

/**
 * Returns the variants to compare: a program without a profiler, with Node's built-in profiler, and
 * with cpu-prof, by V8's profiler and by the walk. All write into `dir`.
 * @param {string} dir
 * @param {number} interval µs
 */
function variants(dir, interval) {
  const env = { ...process.env, CPU_PROF_DIR: dir, CPU_PROF_INTERVAL: String(interval) }
  const builtIn = ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-interval=${interval}`]
  const nodeArgs = ['--require', PACKAGE]
  return {
    none: { nodeArgs: [], env: process.env },
    'built-in': { nodeArgs: builtIn, env: process.env },
    'cpu-prof': { nodeArgs, env },
    // Where there is no walk, V8's profiler takes these samples, too.
    walk: { nodeArgs, env: { ...env, CPU_PROF_SOURCE: 'walk' } },
  }
}

/**
 * Calls `run` for each variant in turn, round after round, so that a change of the machine's load
 * affects all variants equally.
 * @template T
 * @param {number} rounds
 * @param {number} interval µs
 * @param {(variant: {nodeArgs: string[], env: NodeJS.ProcessEnv}, dir: string) => T | Promise<T>} run
 */
async function rounds(rounds, interval, run) {
  /** @type {Record<string, T[]>} */
  const results = {}
  for (let round = 0; round < rounds; round++) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
    const order = Object.entries(variants(dir, interval))
    // Rotates the order, since the first run of a round finds the machine in another state than the
    // last run.
    for (let turn = 0; turn < round; turn++) order.push(...order.splice(0, 1))
    for (const [name, variant] of order) {
      results[name] ??= []
      results[name].push(await run(variant, dir))
    }
    fs.rmSync(dir, { recursive: true })
  }
  return results
}

/** Returns the number below which `share` of the numbers lie. @param {number[]} numbers @param {number} share */
function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** @param {number[]} numbers */
const median = (numbers) => quantile(numbers, 0.5)

/** Measures a run of Node. @param {string[]} args @param {NodeJS.ProcessEnv} env @returns milliseconds */
function wallTime(args, env) {
  const before = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  const wall = Number(process.hrtime.bigint() - before) / 1e6
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return wall
}

/**
 * Returns the millions of instructions of a run of Node; NaN without valgrind. With a given hash seed, V8 does
 * not search for random primes, which takes up to ten million instructions.
 * @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} options
 */
function instructions(args, options) {
  const valgrind = ['--tool=callgrind', '--callgrind-out-file=/dev/null', process.execPath]
  const { stderr } = spawnSync('valgrind', [...valgrind, '--hash-seed=1', ...args], options)
  return Number(/Collected : (\d+)/.exec(String(stderr))?.[1]) / 1e6
}

/**
 * Measures the wall time, CPU time and peak memory of a process, and the time from its `exit` event
 * to its end if it preloads leaving.js. Linux only.
 * @param {string[]} args @param {NodeJS.ProcessEnv} env
 */
async function resources(args, env) {
  const cpuBefore = childrenCpuMs()
  const before = process.hrtime.bigint()
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  let leftAt = ''
  const pipe = /** @type {import('node:stream').Readable} */ (child.stdio[3])
  pipe.on('data', (data) => {
    leftAt += data
  })
  let peakKb = 0
  const timer = setInterval(() => {
    peakKb = Math.max(peakKb, peakKbOf(child.pid))
  }, 20)
  const end = await new Promise((resolve) =>
    child.on('exit', () => resolve(process.hrtime.bigint())),
  )
  clearInterval(timer)
  return {
    wallMs: Number(end - before) / 1e6,
    cpuMs: childrenCpuMs() - cpuBefore,
    peakMb: peakKb / 1024,
    leavingMs: leftAt === '' ? Number.NaN : Number(end - BigInt(leftAt)) / 1e6,
  }
}

/** Returns the CPU time of all children that have ended, which Linux counts for this process. */
function childrenCpuMs() {
  const stat = fs.readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const TICK_MS = 10
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

/** Returns a process's peak memory in kB, 0 after its end. @param {number | undefined} pid */
function peakKbOf(pid) {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Reads the events of all traces in a folder. @param {string} dir @returns {any[]} */
function events(dir) {
  return fs
    .readdirSync(dir)
    .filter((file) => file.endsWith('.trace.json'))
    .flatMap((file) => JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8')).traceEvents)
}

module.exports = { PACKAGE, rounds, quantile, median, wallTime, instructions, resources, events }
