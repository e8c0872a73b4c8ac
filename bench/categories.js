'use strict'

// Measures what the events beside the profile cost: the CPU time of tsc and of a loaded HTTP server,
// and the size of the trace, each as a ratio to the profile alone in the same round.
// Usage: node bench/categories.js [rounds] [tsc|server] [categories]. Linux only.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { writeServer } = require('./http-load.js')
const { median } = require('./measure.js')
const { writeProject } = require('./tsc-project.js')

const root = path.join(__dirname, '..')
const DEFAULT = 'cpu,gc,memory,loop,timings,processes'
const EACH = ['cpu,gc', 'cpu,memory', 'cpu,loop', 'cpu,timings', DEFAULT, 'cpu,http']
const VARIANTS = ['cpu', ...(process.argv[4] ? [process.argv[4]] : EACH)]

/** Prints the process's CPU time when it ends, microseconds. */
const PRINT_CPU = `process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  require('node:fs').writeSync(2, 'cpu ' + (user + system) + '\\n')
})`

/** @param {string} name @param {string[]} args @param {number} rounds */
function measure(name, args, rounds) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-categories-'))
  const printer = path.join(dir, 'print.js')
  fs.writeFileSync(printer, PRINT_CPU)
  /** @type {Record<string, { cpu: number, bytes: number }[]>} */
  const results = Object.fromEntries(VARIANTS.map((variant) => [variant, []]))
  for (let round = 0; round < rounds; round++) {
    const order = VARIANTS.map((_, i) => VARIANTS[(i + round) % VARIANTS.length])
    for (const variant of order) {
      const out = path.join(dir, 'out')
      const env = { ...process.env, CPU_PROF_DIR: out, CPU_PROF_CATEGORIES: variant }
      const all = ['--require', root, '--require', printer, ...args]
      const { status, stderr } = spawnSync(process.execPath, all, { env, encoding: 'utf8' })
      const cpu = Number(/^cpu (\d+)$/m.exec(stderr)?.[1])
      // tsc ends with 2, because the library has type errors with these options.
      if (status === null || !cpu) throw new Error(`${name} ended with ${status}: ${stderr}`)
      const files = fs.readdirSync(out).map((file) => fs.statSync(path.join(out, file)).size)
      results[variant].push({ cpu, bytes: files.reduce((sum, size) => sum + size, 0) })
      fs.rmSync(out, { recursive: true })
    }
  }
  fs.rmSync(dir, { recursive: true })
  console.log(`${name} on ${process.version}, ${rounds} rounds`)
  for (const variant of VARIANTS) {
    const ratio = (/** @type {'cpu' | 'bytes'} */ key) =>
      median(results[variant].map((each, i) => each[key] / results.cpu[i][key]))
    const cpu = median(results[variant].map((each) => each.cpu)) / 1000
    const size = median(results[variant].map((each) => each.bytes)) / 1000
    console.log(
      `${variant.padEnd(38)} CPU ${cpu.toFixed(0)} ms (${ratio('cpu').toFixed(3)}), ` +
        `trace ${size.toFixed(0)} kB (${ratio('bytes').toFixed(3)})`,
    )
  }
}

const rounds = Number(process.argv[2] ?? 7)
const only = process.argv[3]
for (const [name, make] of Object.entries({ tsc: writeProject, server: writeServer })) {
  if (only !== undefined && only !== name) continue
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-program-'))
  measure(name, make(dir), rounds)
  fs.rmSync(dir, { recursive: true })
}
