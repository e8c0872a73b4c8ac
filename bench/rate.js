'use strict'

// Records a thread that is always busy, and prints how many samples a second each profiler reaches
// at small intervals. Usage: node bench/rate.js [node…]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { rounds, median } = require('./measure.js')

const INTERVALS = [1, 10, 50, 100, 1000]
const BUSY_MS = 3000
const PROGRAM = `
  const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2))
  for (const end = performance.now() + ${BUSY_MS}; performance.now() < end; ) fib(15)`

async function main() {
  const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath]
  console.log(`${os.cpus().length} cores; samples a second, and their median distance in µs`)
  for (const node of nodes) {
    /** @type {Record<string, string>[]} */
    const rows = []
    for (const interval of INTERVALS) {
      const results = await rounds(1, interval, ({ nodeArgs, env }, dir) => {
        const { status, stderr } = spawnSync(node, [...nodeArgs, '-e', PROGRAM], { env })
        if (status !== 0) throw new Error(String(stderr))
        const deltas = takeDeltas(dir)
        if (deltas.length === 0) return '–'
        const seconds = deltas.reduce((sum, delta) => sum + delta, 0) / 1e6
        return `${Math.round(deltas.length / seconds)}, ${median(deltas)} µs`
      })
      const { none, ...profilers } = results
      const cells = Object.entries(profilers).map(([name, [cell]]) => [name, cell])
      rows.push({ interval: String(interval), ...Object.fromEntries(cells) })
    }
    console.log(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim())
    console.table(rows)
  }
}

/** Returns the distances between the samples of the profile in a folder, and removes it. @param {string} dir @returns {number[]} */
function takeDeltas(dir) {
  return fs.readdirSync(dir).flatMap((name) => {
    const file = path.join(dir, name)
    const profile = JSON.parse(fs.readFileSync(file, 'utf8'))
    fs.rmSync(file)
    if (profile.timeDeltas) return profile.timeDeltas
    const chunks = profile.traceEvents.filter((/** @type {any} */ e) => e.name === 'ProfileChunk')
    return chunks.flatMap((/** @type {any} */ chunk) => chunk.args.data.timeDeltas)
  })
}

main()
