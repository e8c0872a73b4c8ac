'use strict'

// Measures which share of the samples stands at the caller of the function that worked, for each kind of work
// and each tier of V8's compilers: `node scripts/leaves.js [nodes]`. Prints the shares, by tier and by work, that
// `--cpu-prof` and a recording have: docs/internals/sampling.md has a part of them. Linux only.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { PROGRAM, ROWS, tiersOf, wrongShares } = require('../__test__/helpers/leaves.js')

const ROOT = path.join(__dirname, '..')
/** Milliseconds that each kind of work runs. */
const MS = '200'
const INTERVAL_US = '100'

/** @typedef {{ node: string, tier: string, row: string, v8: number, ours: number }} Cell */

/**
 * Returns the shares of the rows, of a profile that the arguments and the environment make.
 * @param {string} node @param {string[]} args @param {(dir: string) => { args: string[], env: NodeJS.ProcessEnv }} how
 */
function shares(node, args, how) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-leaves-'))
  try {
    const { args: own, env } = how(dir)
    execFileSync(node, [...args, ...own, PROGRAM, MS], { env: { ...process.env, ...env } })
    const [file] = fs.readdirSync(dir)
    return wrongShares(path.join(dir, file)).map(({ caller, lost }) => caller + lost)
  } finally {
    fs.rmSync(dir, { recursive: true })
  }
}

/** @param {string} dir */
const builtIn = (dir) => ({
  args: ['--cpu-prof', `--cpu-prof-dir=${dir}`, '--cpu-prof-interval', INTERVAL_US],
  env: {},
})

/** @param {string} dir */
const ours = (dir) => ({
  args: ['--require', ROOT],
  env: { CPU_PROF_DIR: dir, CPU_PROF_FORMAT: 'cpuprofile', CPU_PROF_INTERVAL: INTERVAL_US },
})

/** Returns the cells of a Node. @param {string} command @returns {Cell[]} */
function measure(command) {
  const version = execFileSync(command, ['-p', 'process.version'], { encoding: 'utf8' }).trim()
  return Object.entries(tiersOf(version)).flatMap(([tier, flags]) => {
    process.stderr.write(`${version} ${tier}\n`)
    const [v8, own] = [builtIn, ours].map((how) => shares(command, flags, how))
    return ROWS.map((row, i) => ({ node: version, tier, row, v8: v8[i], ours: own[i] }))
  })
}

/** @param {Cell[]} cells @param {'v8' | 'ours'} of */
const mean = (cells, of) => cells.reduce((sum, cell) => sum + cell[of], 0) / cells.length
/** @param {Cell[]} cells @param {'v8' | 'ours'} of */
const largest = (cells, of) => Math.max(...cells.map((cell) => cell[of]))
/** @param {number} share */
const percent = (share) => (100 * share).toFixed(1)

/** Prints a table whose rows have the same value of a key. @param {Cell[]} cells @param {(cell: Cell) => string} keyOf @param {string} title */
function print(cells, keyOf, title) {
  console.log(
    `| ${title} | \`--cpu-prof\`: mean | largest | recording: mean | largest |\n${'|---'.repeat(4 + title.split('|').length)}|`,
  )
  for (const key of new Set(cells.map(keyOf))) {
    const own = cells.filter((cell) => keyOf(cell) === key)
    const of = (/** @type {'v8' | 'ours'} */ which) =>
      `${percent(mean(own, which))} | ${percent(largest(own, which))}`
    console.log(`| ${key} | ${of('v8')} | ${of('ours')} |`)
  }
  console.log()
}

const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath]
const cells = nodes.flatMap(measure)
print(cells, ({ node, tier }) => `${node} | ${tier}`, 'Node | tier')
print(cells, ({ row }) => row, 'work')
