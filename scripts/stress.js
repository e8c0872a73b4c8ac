'use strict'

// Runs programs that have made profilers crash, with V8's stress flags, and counts the endings that
// are not normal: `node scripts/stress.js [minutes] [node]`.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..')
const [minutes = '30', node = process.execPath] = process.argv.slice(2)
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-stress-'))
process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }))

const TIMEOUT_MS = 300_000
const FIXTURES = path.join(root, '__test__', 'fixtures')
/** Flags of V8 that move, collect or recompile more than usual. */
const FLAGS = [
  [],
  ['--stress-incremental-marking'],
  ['--stress-scavenge=50'],
  ['--stress-compaction'],
  ['--stress-flush-code', '--flush-bytecode'],
  ['--always-osr'],
  ['--conservative-stack-scanning'],
  ['--gc-interval=500'],
  ['--cpu-prof', `--cpu-prof-dir=${dir}`],
]
/** Programs with their arguments. */
const PROGRAMS = [
  ['stress.js', '0', '12'],
  ['spans.js', '10'],
  ['naps.js', '20'],
]
const ENVS = [
  { CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_INTERVAL: '100' },
  { CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_INTERVAL: '1000' },
]

/** The flags that this Node knows. */
const known = FLAGS.filter((flags) => spawnSync(node, [...flags, '-e', '0']).status === 0)
/** @type {Map<string, number>} */
const endings = new Map()
const until = Date.now() + Number(minutes) * 60_000
let runs = 0
while (Date.now() < until) {
  const flags = known[runs % known.length]
  const program = PROGRAMS[runs % PROGRAMS.length]
  const env = ENVS[Math.floor(runs / known.length) % ENVS.length]
  runs++
  run(flags, program, env)
}
console.log(
  `${runs} runs: ${[...endings].map(([ending, count]) => `${count} × ${ending}`).join(', ')}`,
)
process.exitCode = [...endings.keys()].every((ending) => ending === 'normal') ? 0 : 1

/** @param {string[]} flags @param {string[]} program @param {Record<string, string>} settings */
function run(flags, [file, ...args], settings) {
  const seed = String(Math.floor(Math.random() * 1e6))
  const full = args.map((arg) => (arg === '0' ? seed : arg))
  const all = [...flags, '--expose-gc', '--require', root, path.join(FIXTURES, file), ...full]
  const env = { PATH: process.env.PATH, CPU_PROF_DIR: dir, ...settings }
  const { status, signal, stderr } = spawnSync(node, all, {
    env,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const ending =
    status === 0 ? 'normal' : signal === 'SIGKILL' ? 'too slow' : (signal ?? `exit ${status}`)
  endings.set(ending, (endings.get(ending) ?? 0) + 1)
  if (ending !== 'normal') {
    console.error(`${ending}: ${JSON.stringify(settings)} ${all.join(' ')}\n${stderr.slice(-2000)}`)
  }
  for (const each of fs.readdirSync(dir)) fs.rmSync(path.join(dir, each))
}
