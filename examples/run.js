'use strict'

// Runs each example's command under `cpu-prof run`, and checks that its trace contains the expected
// functions. Usage: node examples/run.js [names]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const bin = path.join(root, 'bin', 'cpu-prof.js')
const dir = path.join(root, 'profiles', `examples-${Date.now()}`)

/** Commands, their working directories, and functions that their traces must contain. */
const EXAMPLES = {
  build: { command: ['node', 'build/main.js'], shows: ['findWords', 'countPrimes', 'mergeSort'] },
  server: { command: ['node', 'server/main.js'], shows: ['renderTable', 'visit'] },
  pool: { command: ['node', 'pool/main.js'], shows: ['hashChain'] },
  tests: { command: ['node', '--test'], cwd: 'tests', shows: ['countWords', 'multiply'] },
  monorepo: {
    command: ['npx', 'nx', 'run-many', '-t', 'build', '--skip-nx-cache'],
    cwd: 'monorepo',
    shows: ['brackets', 'bundle'],
  },
}

const wanted = process.argv.slice(2)
/** @type {string[]} */
const failed = []
for (const [name, example] of Object.entries(EXAMPLES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const { command, shows } = example
  const cwd = path.join(__dirname, 'cwd' in example ? example.cwd : '.')
  console.log(`\n== ${name}: cpu-prof run ${command.join(' ')}\n`)
  const folder = path.join(dir, name)
  const { status } = spawnSync(process.execPath, [bin, 'run', '--dir', folder, '--', ...command], {
    cwd,
    stdio: 'inherit',
  })
  const trace = path.join(folder, 'trace.json')
  const text = status === 0 && fs.existsSync(trace) ? fs.readFileSync(trace, 'utf8') : ''
  const missing = shows.filter((each) => !text.includes(`"functionName":"${each}"`))
  if (missing.length === 0) continue
  failed.push(name)
  console.error(
    `\nmissing in the trace: ${missing.join(', ')}; the command ended with status ${status}`,
  )
}
console.log(failed.length === 0 ? '\nall examples were recorded' : `\nfailed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
