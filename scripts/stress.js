'use strict'

// Runs programs that have made profilers crash, with V8's stress flags, on each core, and counts the endings
// that are not normal: `node scripts/stress.js [minutes] [node] [programs]`. Programs are files of
// `__test__/fixtures`, separated by commas. Addons come with `cargo build --package cpu-prof --examples`.

const { execFile, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..')
/** The source of the samples, as the environment has it. */
const { CPU_PROF_SOURCE = 'auto' } = process.env
const [minutes = '30', given = process.execPath, chosen = ''] = process.argv.slice(2)
// Runs have folders of their own.
const node = given.includes(path.sep) ? path.resolve(given) : given
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-stress-'))
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }))

const TIMEOUT_MS = 300_000
const FIXTURES = path.join(root, '__test__', 'fixtures')
const ADDON = path.join(root, 'target', 'debug', 'examples', 'libnative.so')
/** Flags of V8 that move, collect or recompile more than usual. */
const FLAGS = [
  [],
  ['--stress-incremental-marking'],
  ['--stress-scavenge=50'],
  ['--stress-compaction'],
  ['--stress-flush-code', '--flush-bytecode'],
  ['--always-osr'],
  ['--always-sparkplug'],
  ['--no-opt'],
  ['--deopt-every-n-times=1000'],
  ['--interrupt-budget=1000'],
  ['--stress-compaction', '--max-semi-space-size=1'],
  ['--conservative-stack-scanning'],
  ['--gc-interval=500'],
  ['--interpreted-frames-native-stack'],
  ['--cpu-prof'],
]
const PRELOAD = ['--require', root]
const NATIVE = ['native-load.js', '20', ...(fs.existsSync(ADDON) ? [ADDON] : [])]
/** Programs with their arguments, and what is loaded before them. */
const PROGRAMS = [
  { preload: PRELOAD, program: ['stress.js', 'SEED', '12'] },
  { preload: PRELOAD, program: ['worker-collections.js', '60', 'label'] },
  { preload: PRELOAD, program: ['worker-collections.js', '60', 'plain'] },
  { preload: PRELOAD, program: ['spans.js', '10'] },
  { preload: PRELOAD, program: ['leaves.js', '150'] },
  { preload: PRELOAD, program: ['naps.js', '20'] },
  { preload: PRELOAD, program: ['text-load.js', '15'] },
  { preload: [], program: ['text-load.js', '15'] },
  { preload: PRELOAD, program: NATIVE },
  // Its own recordings are the first ones then.
  { preload: [], program: NATIVE },
].filter(({ program: [file] }) => chosen === '' || chosen.split(',').includes(file))
/** @type {Record<string, string>[]} */
const ENVS = [
  { CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_INTERVAL: '100' },
  { CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_INTERVAL: '1000' },
  { CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_INTERVAL: '200', CPU_PROF_CATEGORIES: '+native' },
  { CPU_PROF_CATEGORIES: '+native' },
]

/** With these flags V8 takes a lock in its own signal handler on Node 18: any two profiles can hang. */
const LOCKING = '--interpreted-frames-native-stack'
const isNode18 = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.startsWith('v18.')
/** The flags that this Node knows. */
const known = FLAGS.filter(
  (flags) =>
    !(isNode18 && flags.includes(LOCKING)) &&
    spawnSync(node, [...flags, '-e', '0'], { cwd: dir }).status === 0,
)
/** @type {Map<string, number>} */
const endings = new Map()
const until = Date.now() + Number(minutes) * 60_000
let runs = 0

/** Runs one program after the other, so that each meets all flags and settings. */
async function runAll() {
  while (Date.now() < until) {
    const run = runs++
    const { preload, program } = PROGRAMS[run % PROGRAMS.length]
    const round = Math.floor(run / PROGRAMS.length)
    const flags = known[round % known.length]
    const env = ENVS[Math.floor(round / known.length + round) % ENVS.length]
    await runOne([...flags, '--expose-gc', ...preload], program, env)
  }
}

/** @param {string[]} flags @param {string[]} program @param {Record<string, string>} settings */
async function runOne(flags, [file, ...args], settings) {
  const seed = String(Math.floor(Math.random() * 1e6))
  const full = args.map((arg) => (arg === 'SEED' ? seed : arg))
  const all = [...flags, path.join(FIXTURES, file), ...full]
  const traces = fs.mkdtempSync(path.join(dir, 'run-'))
  const options = /** @type {const} */ ({
    // For Node's own profiles.
    cwd: traces,
    env: {
      PATH: process.env.PATH,
      TMPDIR: dir,
      CPU_PROF_DIR: traces,
      CPU_PROF_SOURCE,
      ...settings,
    },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  /** @type {{ ending: string, stderr: string }} */
  const { ending, stderr } = await new Promise((resolve) => {
    const child = execFile(node, all, options, (error, _, stderr) => {
      const { exitCode, signalCode } = child
      const abnormal = signalCode === 'SIGKILL' ? 'too slow' : (signalCode ?? `exit ${exitCode}`)
      resolve({ ending: error === null ? 'normal' : abnormal, stderr })
    })
  })
  endings.set(ending, (endings.get(ending) ?? 0) + 1)
  if (ending !== 'normal') {
    console.error(`${ending}: ${JSON.stringify(settings)} ${all.join(' ')}\n${stderr.slice(-2000)}`)
  }
  fs.rmSync(traces, { recursive: true, force: true })
}

Promise.all(Array.from({ length: os.availableParallelism() }, runAll)).then(() => {
  const counts = [...endings].map(([ending, count]) => `${count} × ${ending}`)
  console.log(`${runs} runs: ${counts.join(', ')}`)
  process.exitCode = [...endings.keys()].every((ending) => ending === 'normal') ? 0 : 1
})
