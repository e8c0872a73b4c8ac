'use strict'

// Measures the wall time and the instructions that a profiler adds to `node -e 0`.
// Arguments: [runs=21]. Instructions need valgrind.

const { rounds, instructions, median, wallTime } = require('./measure.js')

const EMPTY = ['-e', '0']

async function main() {
  const runs = Number(process.argv[2] ?? 21)
  const results = await rounds(runs, 1000, ({ nodeArgs, env }) =>
    wallTime([...nodeArgs, ...EMPTY], env),
  )
  console.log(`node -e 0 on ${process.version}, median of ${runs} paired runs`)
  const counts = await rounds(1, 1000, ({ nodeArgs, env }) =>
    instructions([...nodeArgs, ...EMPTY], { env }),
  )
  for (const [name, walls] of Object.entries(results)) {
    const added = median(walls.map((wall, i) => wall - results.none[i]))
    const more = counts[name][0] - counts.none[0]
    console.log(
      `${name.padEnd(10)} ${median(walls).toFixed(1)} ms, added ${added.toFixed(1)} ms and ` +
        `${more.toFixed(1)} million instructions`,
    )
  }
}

main()
