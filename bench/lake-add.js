'use strict'

// Measures what it takes to add 1 GB of traces to a lake: copies, with other pids, of a recording of
// TypeScript's compiler. Usage: node bench/lake-add.js [rounds]. Linux only.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { PACKAGE } = require('./measure.js')
const { MB, copies, record } = require('./merges.js')

/** Prints the memory and the CPU time of a process at its end. */
const REPORT = `process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  console.error(JSON.stringify([maxRSS / 1024, (userCPUTime + systemCPUTime) / 1e6]))
})`

/** Adds traces to a new lake. @param {string} dir @param {string} inputs @returns {[megabytes: number, seconds: number]} */
function add(dir, inputs) {
  const report = path.join(dir, 'report.js')
  fs.writeFileSync(report, REPORT)
  const lake = path.join(dir, 'lake')
  const args = [
    '--require',
    report,
    path.join(PACKAGE, 'bin', 'cpu-prof.js'),
    'lake',
    'add',
    inputs,
  ]
  const { status, stderr } = spawnSync(process.execPath, [...args, '--to', lake, '--repo', 'a/b'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  fs.rmSync(lake, { recursive: true })
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
}

function main() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true }))
  const inputs = path.join(dir, 'inputs')
  const bytes = copies(record(path.join(dir, 'recording')), inputs, 1000 * MB)
  console.log(`${(bytes / MB).toFixed(0)} MB in ${fs.readdirSync(inputs).length} files`)
  for (let round = 0; round < Number(process.argv[2] ?? 3); round++) {
    const [megabytes, seconds] = add(dir, inputs)
    console.log(`${megabytes.toFixed(0)} MB of peak memory, ${seconds.toFixed(1)} s of CPU time`)
  }
}

main()
