'use strict'

// Looks for memory that is used after it was freed, or freed twice, in V8 too, since V8's profiler
// takes its memory from malloc. `node scripts/memcheck.js [node] [seed]` runs the stress program
// under two tools. Valgrind sees every access, also in V8, which is not instrumented, but runs one
// thread at a time. AddressSanitizer's allocator sees only frees and accesses through the C library,
// but threads race as they do in a normal run.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { targetName } = require('../lib/addon.js')
const { build } = require('./build.js')
const { fileName } = require('./targets.js')

const root = path.join(__dirname, '..')
const [node = process.execPath, seed = String(Date.now() % 1e6)] = process.argv.slice(2)
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-memcheck-'))
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }))

const TIMEOUT_MS = 600_000
const FEWEST_SAMPLES = 100

const VALGRIND = [
  // V8's compiled code is not in a file, and changes.
  '--smc-check=all-non-file',
  // Both reports are noise here: V8 scans stacks that hold stale values, and does not free its memory
  // at exit.
  '--undef-value-errors=no',
  '--leak-check=no',
  // The running thread keeps running, so that a thread can end while the writer still reads. With
  // fair scheduling, an addon that did not wait for its writer passed.
  '--fair-sched=no',
  '--freelist-vol=200000000',
  '--num-callers=24',
  '--exit-on-first-error=yes',
  '--error-exitcode=99',
  '--quiet',
]

const ASAN = [
  'detect_leaks=0',
  // Node installs a SIGSEGV handler for WebAssembly, which would replace AddressSanitizer's.
  'handle_segv=2',
  // Reads of freed memory by code that is not instrumented are noticed only if the contents are
  // invalid.
  'max_free_fill_size=65536',
  'free_fill_byte=251',
]

// Valgrind cannot deliver a signal while the main thread's stack grows, so the stack grows first.
const deep = path.join(dir, 'deep.js')
fs.writeFileSync(deep, 'function deep() { deep() }\ntry { deep() } catch {}\n')

/** Copies the package, with an addon that has symbols and line numbers. */
function debugPackage() {
  const built = build({ cargo: ['--quiet', '--package', 'cpu-prof'] })
  const copy = path.join(dir, 'package')
  fs.mkdirSync(copy)
  for (const file of ['package.json', 'index.js', 'lib']) {
    fs.cpSync(path.join(root, file), path.join(copy, file), { recursive: true })
  }
  fs.copyFileSync(built['cpu-prof'], path.join(copy, fileName('cpu-prof', targetName())))
  return copy
}

/** Returns the path of the C compiler's AddressSanitizer library. */
function asanLibrary() {
  const { stdout } = spawnSync('cc', ['-print-file-name=libasan.so'], { encoding: 'utf8' })
  return fs.realpathSync(stdout.trim())
}

/** Runs the stress program under a tool. @param {string} tool @param {string[]} preload */
async function stress(tool, preload) {
  const output = fs.mkdtempSync(path.join(dir, 'run-'))
  const log = path.join(output, 'log')
  const program = path.join(root, '__test__', 'fixtures', 'stress.js')
  const command = [node, '--expose-gc', '--require', deep, ...preload, program, seed]
  /** @type {Record<string, string>} */
  const env = {
    CPU_PROF_CATEGORIES: '+native',
    CPU_PROF_FLUSH_INTERVAL: '10',
    CPU_PROF_DIR: path.join(output, 'traces'),
  }
  if (tool === 'valgrind') {
    command.unshift('valgrind', ...VALGRIND, `--log-file=${log}`)
    command.push('8')
  } else {
    env.LD_PRELOAD = asanLibrary()
    env.ASAN_OPTIONS = [...ASAN, `log_path=${log}`].join(':')
    command.push('150')
  }
  const start = Date.now()
  const { status, signal } = await run(command, { ...process.env, NODE_OPTIONS: '', ...env })
  const seconds = Math.round((Date.now() - start) / 1000)
  const logs = fs.readdirSync(output).filter((file) => file.startsWith('log'))
  const report = logs.map((file) => fs.readFileSync(path.join(output, file), 'utf8')).join('')
  // With --quiet, only errors and warnings of large mappings are in Valgrind's log.
  const failed = status !== 0 || /Invalid|Mismatched|ERROR/.test(report)
  const title = preload.length > 0 ? tool : `${tool}, without the addon`
  console.log(`${title}: ${failed ? `failed (${signal ?? status})` : 'no errors'}, ${seconds} s`)
  return { failed, report, traces: env.CPU_PROF_DIR }
}

/**
 * Runs a command to its end.
 * @param {string[]} command @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ status: number | null, signal: NodeJS.Signals | null }>}
 */
function run([program, ...args], env) {
  return new Promise((resolve, reject) => {
    const limits = /** @type {const} */ ({ timeout: TIMEOUT_MS, killSignal: 'SIGKILL' })
    const child = spawn(program, args, { stdio: 'inherit', env, ...limits })
    child.on('error', reject)
    child.on('exit', (status, signal) => resolve({ status, signal }))
  })
}

/** Counts the samples in a folder of traces. @param {string} traces */
function countSamples(traces) {
  let count = 0
  for (const file of fs.readdirSync(traces)) {
    const { traceEvents } = JSON.parse(fs.readFileSync(path.join(traces, file), 'utf8'))
    for (const { name, args } of traceEvents) {
      if (name === 'ProfileChunk') count += args.data.cpuProfile.samples.length
    }
  }
  return count
}

/** Runs the stress program under a tool, and without the addon if that failed. @param {string} tool @param {string[]} preload */
async function check(tool, preload) {
  const { failed, report, traces } = await stress(tool, preload)
  if (failed) {
    console.log(report)
    // The same run without the addon shows whether the error is V8's own.
    await stress(tool, [])
    process.exitCode = 1
    return
  }
  const samples = countSamples(traces)
  const threads = fs.readdirSync(traces).length
  console.log(`${tool}: ${samples} samples of ${threads} threads`)
  if (samples < FEWEST_SAMPLES) {
    console.log(`${tool}: fewer than ${FEWEST_SAMPLES} samples: too few to prove anything`)
    process.exitCode = 1
  }
}

async function main() {
  const preload = ['--require', debugPackage()]
  // Valgrind runs one thread at a time, so the other tool has the other cores.
  await Promise.all(['valgrind', 'asan'].map((tool) => check(tool, preload)))
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
