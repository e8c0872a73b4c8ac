'use strict'

// Ends a program in sixteen ways, and prints a table of the profiles that the built-in `--cpu-prof`
// and cpu-prof keep, for docs/endings.md. Usage: node bench/endings.js [node binaries]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const { run, filesIn } = require('../__test__/helpers/run.js')
const { ENDINGS, canEnd } = require('../__test__/helpers/endings.js')

/** @typedef {{ builtIn: string, ours: string }} Cell */

/** Runs every ending on this Node, and returns the outcomes. */
async function measure() {
  /** @type {Cell[]} */
  const cells = []
  for (const ending of ENDINGS) {
    const { flags = [], how, kill, threads = 1 } = ending
    if (!canEnd(ending)) {
      cells.push({ builtIn: '–', ours: '–' })
      continue
    }
    const args = [...flags, 'ending.js', how, '700']
    const during = (/** @type {import('node:child_process').ChildProcess} */ child) => {
      if (kill !== undefined) child.once('message', () => child.kill(kill))
    }
    const plain = await run(args, { preload: null, during })
    const judge = (
      /** @type {Awaited<ReturnType<typeof run>>} */ result,
      /** @type {number} */ kept,
    ) => {
      const same = result.code === plain.code && result.signal === plain.signal
      const profile = kept === threads ? 'kept' : kept === 0 ? 'lost' : `${kept} of ${threads}`
      return same ? profile : `${profile}, other status`
    }
    const builtIn = await run(args, { preload: ['--cpu-prof'], during })
    const ours = await run(args, { during })
    cells.push({
      builtIn: judge(builtIn, profilesIn(builtIn.cwd)),
      // run() has already read and checked these traces.
      ours: judge(ours, ours.traces.length),
    })
  }
  return cells
}

/** Counts the readable profiles in a folder. @param {string} dir */
function profilesIn(dir) {
  return filesIn(dir, '.cpuprofile').filter((file) => {
    try {
      return JSON.parse(fs.readFileSync(file, 'utf8')).samples.length > 0
    } catch {
      return false
    }
  }).length
}

/** Measures on each Node binary, and prints the table. @param {string[]} nodes */
function table(nodes) {
  const columns = nodes.map((node) => {
    const { stdout } = spawnSync(node, [__filename, '--measure'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { version, cells } = JSON.parse(stdout)
    return { version, cells: /** @type {Cell[]} */ (cells) }
  })
  /** Returns one word if all versions agree. @param {(cell: Cell) => string} pick @param {number} row */
  const cell = (pick, row) => {
    const all = columns.map(({ cells }) => pick(cells[row]))
    if (new Set(all).size === 1) return all[0]
    return columns.map(({ version }, i) => `${version}: ${all[i]}`).join('; ')
  }
  const versions = columns.map(({ version }) => version)
  console.log(`| the program ends by | \`--cpu-prof\` | ${versions.join(' | ')} |`)
  console.log(`| --- | --- | ${versions.map(() => '---').join(' | ')} |`)
  for (const [row, { name }] of ENDINGS.entries()) {
    const ours = columns.map(({ cells }) => cells[row].ours).join(' | ')
    console.log(`| ${name} | ${cell(({ builtIn }) => builtIn, row)} | ${ours} |`)
  }
}

if (process.argv[2] === '--measure') {
  measure().then((cells) => console.log(JSON.stringify({ version: process.version, cells })))
} else {
  const nodes = process.argv.slice(2)
  table(nodes.length > 0 ? nodes : [process.execPath])
}
