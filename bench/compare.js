'use strict'

// Measures how often a comparison of equal programs finds a change, and how often a real one is found.
// Usage: node bench/compare.js <runs per side> <folder of runs>… [--changed <folder> <function>]
// Each folder has the runs of one program, as `cpu-prof run --repeat 28 --dir <folder>` writes them. With
// `--changed`, the last folder's runs are compared with those of a version with a slower function.

const path = require('node:path')
const { compare } = require('../index.js')
const { allRunsOf } = require('../lib/offline.js')

/** Comparisons of a folder's runs with their neighbours, and of runs that are drawn. */
const COMPARISONS = { neighbours: 15, drawn: 20, changed: 30 }

let seed = 12_345
/** Returns a whole number below a limit, the same each time. @param {number} limit */
function random(limit) {
  seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
  return seed % limit
}

/** @template T @param {T[]} list */
function shuffled(list) {
  const copy = [...list]
  for (let last = copy.length - 1; last > 0; last--) {
    const other = random(last + 1)
    ;[copy[last], copy[other]] = [copy[other], copy[last]]
  }
  return copy
}

/** @param {string} folder @param {number} size runs of a side */
async function measureNoise(folder, size) {
  const all = allRunsOf(folder)
  const starts = all.length - 2 * size + 1
  const step = Math.max(1, Math.floor(starts / COMPARISONS.neighbours))
  const neighbours = Array.from({ length: starts }, (_, start) => start)
    .filter((start) => start % step === 0)
    .map((start) => all.slice(start, start + 2 * size))
  const drawn = Array.from({ length: COMPARISONS.drawn }, () => shuffled(all).slice(0, 2 * size))
  const counts = []
  let rows = 0
  for (const list of [neighbours, drawn]) {
    let changed = 0
    for (const runs of list) {
      const result = await compare(runs.slice(0, size), runs.slice(size))
      changed += Number(result.rows.some((row) => row.changed))
      rows = result.rows.length
    }
    counts.push(`${changed} of ${list.length}`)
  }
  console.log(`${path.basename(folder)}: ${rows} rows; a change in ${counts.join(' and ')}`)
}

/** @param {string} base @param {string} head @param {string} name of the function @param {number} size */
async function measurePower(base, head, name, size) {
  const [before, after] = [base, head].map(allRunsOf)
  let found = 0
  /** @type {number[]} */
  const relative = []
  for (let number = 0; number < COMPARISONS.changed; number++) {
    const [some, others] = [before, after].map((runs) => shuffled(runs).slice(0, size))
    const { rows } = await compare(some, others)
    const row = rows.find((each) => each.name === name && each.measure === 'self')
    found += Number(row?.changed)
    relative.push(row?.relative ?? 0)
  }
  const middle = relative.sort((a, b) => a - b)[Math.floor(relative.length / 2)]
  const slower = `${(100 * middle).toFixed(1)} %`
  console.log(`${name}, slower by ${slower}: found in ${found} of ${COMPARISONS.changed}`)
}

async function main() {
  const [runs, ...rest] = process.argv.slice(2)
  const at = rest.indexOf('--changed')
  const folders = at < 0 ? rest : rest.slice(0, at)
  for (const folder of folders) await measureNoise(folder, Number(runs))
  if (at >= 0) {
    const base = folders[folders.length - 1]
    await measurePower(base, rest[at + 1], rest[at + 2], Number(runs))
  }
}

main()
