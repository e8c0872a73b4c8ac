'use strict'

// Measures the wall time that `cpu-prof run` adds to a command without any Node process, and how
// much of it is the start of Node itself. Usage: node bench/run.js [runs]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { median } = require('./measure.js')

const BIN = path.join(__dirname, '..', 'bin', 'cpu-prof.js')
const COMMAND = ['sleep', '0']
/** @type {Record<string, string[]>} */
const COMMANDS = {
  'the command': COMMAND,
  'node -e 0': [process.execPath, '-e', '0'],
  'cpu-prof run': [process.execPath, BIN, 'run', ...COMMAND],
  'with options': [process.execPath, BIN, 'run', '--interval', '500', ...COMMAND],
}

const runs = Number(process.argv[2] ?? 41)
const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
// Node 18 and 20 read these certificates at every start, which takes tens of milliseconds.
const { NODE_EXTRA_CA_CERTS, NODE_OPTIONS, ...env } = process.env

/** Measures a command. @param {string[]} command @returns milliseconds */
function wallTime([file, ...args]) {
  const before = process.hrtime.bigint()
  const { status } = spawnSync(file, args, { cwd, env, stdio: 'ignore' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}`)
  return Number(process.hrtime.bigint() - before) / 1e6
}

/** @type {Record<string, number[]>} */
const walls = {}
for (let run = 0; run < runs; run++) {
  for (const [name, command] of Object.entries(COMMANDS)) {
    walls[name] ??= []
    walls[name].push(wallTime(command))
  }
}
fs.rmSync(cwd, { recursive: true })
console.log(`${COMMAND.join(' ')} on Node ${process.version}, median of ${runs} paired runs`)
for (const [name, times] of Object.entries(walls)) {
  const added = median(times.map((time, i) => time - walls['the command'][i]))
  console.log(`${name.padEnd(12)} ${median(times).toFixed(1)} ms, added ${added.toFixed(1)} ms`)
}
