'use strict'

// Runs TypeScript's compiler on a real library at 1 ms, and measures the CPU time, wall time and
// peak memory that a profiler adds, the pause of a rotation, and the time from the `exit` event to
// the end. Usage: node bench/tsc.js [rounds]. Linux only.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { rounds, quantile, median, resources, events } = require('./measure.js')
const { writeProject } = require('./tsc-project.js')

async function main() {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-tsc-'))
  const tsc = writeProject(project)
  const count = Number(process.argv[2] ?? 5)
  /** @type {Record<string, number[]>} */
  const pauses = {}
  const results = await rounds(count, 1000, async ({ nodeArgs, env }, dir) => {
    const leaving = ['--require', path.join(__dirname, 'leaving.js')]
    const result = await resources([...nodeArgs, ...leaving, ...tsc], env)
    const flushes = events(dir).filter(({ name }) => name === 'thread.flush')
    // The last flush belongs to stop, which `leavingMs` contains; it is not a rotation.
    const source = env.CPU_PROF_SOURCE ?? 'auto'
    pauses[source] ??= []
    pauses[source].push(...flushes.slice(0, -1).map(({ args }) => args.data.pauseUs))
    for (const file of fs.readdirSync(dir)) fs.rmSync(path.join(dir, file))
    return result
  })
  fs.rmSync(project, { recursive: true })

  console.log(`tsc on ${process.version}, medians of ${count} rounds`)
  const columns = /** @type {const} */ (['cpuMs', 'wallMs', 'peakMb', 'leavingMs'])
  for (const [name, runs] of Object.entries(results)) {
    const cells = columns.map((column) => {
      const added = median(runs.map((run, i) => run[column] - results.none[i][column]))
      return `${column} ${median(runs.map((run) => run[column])).toFixed(0)} (added ${added.toFixed(0)})`
    })
    console.log(`${name.padEnd(10)} ${cells.join(', ')}`)
  }
  for (const [source, all] of Object.entries(pauses).filter(([, all]) => all.length > 0)) {
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(all, share))
    console.log(
      `rotations  ${source}: ${all.length}, pause p50 ${p50} µs, p99 ${p99} µs, max ${max} µs`,
    )
  }
}

main()
