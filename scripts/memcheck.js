'use strict'

// Looks for memory that is used after it was freed, or freed twice: V8's too, since what its
// profiler holds comes from malloc. `node scripts/memcheck.js [node] [seed]` runs the stress
// program under two tools. Valgrind sees every access, also in V8, which is not instrumented, but
// runs one thread at a time. AddressSanitizer's allocator sees frees, and what goes through the C
// library, but threads race as they do in earnest.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..')
const [node = process.execPath, seed = String(Date.now() % 1e6)] = process.argv.slice(2)
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-memcheck-'))
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }))

const TIMEOUT_MS = 600_000
const FEWEST_SAMPLES = 100

const VALGRIND = [
  // Code that V8 has compiled is not in a file, and changes.
  '--smc-check=all-non-file',
  // Not what is looked for: V8 scans stacks that hold leftovers, and leaves its memory to the exit.
  '--undef-value-errors=no',
  '--leak-check=no',
  // Whoever runs goes on running, so that a thread can end while the writer still reads. Scheduled
  // fairly, an addon that does not wait for its writer passed.
  '--fair-sched=no',
  '--freelist-vol=200000000',
  '--num-callers=24',
  '--exit-on-first-error=yes',
  '--error-exitcode=99',
  '--quiet',
]

const ASAN = [
  'detect_leaks=0',
  // Node has a handler of its own for WebAssembly, and would hide ours.
  'handle_segv=2',
  // Code that is not instrumented reads freed memory unseen, unless what it finds there is absurd.
  'max_free_fill_size=65536',
  'free_fill_byte=251',
]

// Valgrind cannot deliver a signal while the main thread's stack grows: let it have grown.
const deep = path.join(dir, 'deep.js')
fs.writeFileSync(deep, 'function deep() { deep() }\ntry { deep() } catch {}\n')

/** A copy of the package, whose addon has names and line numbers. */
function debugPackage() {
  const build = ['build', '--quiet', '--target-dir', path.join(root, 'target')]
  const { status } = spawnSync('cargo', build, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the addon could not be built')
  const copy = path.join(dir, 'package')
  fs.mkdirSync(copy)
  for (const file of ['package.json', 'index.js', 'lib']) {
    fs.cpSync(path.join(root, file), path.join(copy, file), { recursive: true })
  }
  const built = path.join(root, 'target', 'debug', 'libcpu_prof.so')
  fs.copyFileSync(built, path.join(copy, 'cpu-prof.linux-x64-gnu.node'))
  return copy
}

/** The C compiler knows where its own one is. */
function asanLibrary() {
  const { stdout } = spawnSync('cc', ['-print-file-name=libasan.so'], { encoding: 'utf8' })
  return fs.realpathSync(stdout.trim())
}

/** @param {string} tool @param {string[]} preload */
function stress(tool, preload) {
  const output = fs.mkdtempSync(path.join(dir, 'run-'))
  const log = path.join(output, 'log')
  const program = path.join(root, '__test__', 'fixtures', 'stress.js')
  const run = [node, '--expose-gc', '--require', deep, ...preload, program, seed]
  /** @type {Record<string, string>} */
  const env = { CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_DIR: path.join(output, 'traces') }
  if (tool === 'valgrind') {
    run.unshift('valgrind', ...VALGRIND, `--log-file=${log}`)
    run.push('12')
  } else {
    env.LD_PRELOAD = asanLibrary()
    env.ASAN_OPTIONS = [...ASAN, `log_path=${log}`].join(':')
    run.push('150')
  }
  const start = Date.now()
  const { status, signal, error } = spawnSync(run[0], run.slice(1), {
    stdio: 'inherit',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  })
  if (error) throw error
  const seconds = Math.round((Date.now() - start) / 1000)
  const logs = fs.readdirSync(output).filter((file) => file.startsWith('log'))
  const report = logs.map((file) => fs.readFileSync(path.join(output, file), 'utf8')).join('')
  // Valgrind's warnings of large mappings are no errors, and with --quiet nothing else is there.
  const failed = status !== 0 || /Invalid|Mismatched|ERROR/.test(report)
  const who = preload.length > 0 ? tool : `${tool}, without the addon`
  console.log(`${who}: ${failed ? `failed (${signal ?? status})` : 'no errors'}, ${seconds} s`)
  return { failed, report, traces: env.CPU_PROF_DIR }
}

/** @param {string} traces */
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

const preload = ['--require', debugPackage()]
for (const tool of ['valgrind', 'asan']) {
  const { failed, report, traces } = stress(tool, preload)
  if (failed) {
    console.log(report)
    // Is it V8's own?
    stress(tool, [])
    process.exitCode = 1
    continue
  }
  const samples = countSamples(traces)
  console.log(`${samples} samples of ${fs.readdirSync(traces).length} threads`)
  if (samples < FEWEST_SAMPLES) {
    console.log('so few that this proves nothing')
    process.exitCode = 1
  }
}
