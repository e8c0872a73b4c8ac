'use strict'

// Measures the wall time that a profiler adds to `node -e 0`. Usage: node bench/startup.js [runs]

const { rounds, median, wallTime } = require('./measure.js')

async function main() {
  const runs = Number(process.argv[2] ?? 21)
  const results = await rounds(runs, 1000, ({ nodeArgs, env }) =>
    wallTime([...nodeArgs, '-e', '0'], env),
  )
  console.log(`node -e 0 on ${process.version}, median of ${runs} paired runs`)
  for (const [name, walls] of Object.entries(results)) {
    const added = median(walls.map((wall, i) => wall - results.none[i]))
    console.log(`${name.padEnd(10)} ${median(walls).toFixed(1)} ms, added ${added.toFixed(1)} ms`)
  }
}

main()
