'use strict'

const path = require('node:path')
const { ROWS } = require('../fixtures/leaves.js')
const { readCpuProfile } = require('./cpuprofile.js')

const PROGRAM = path.join(__dirname, '..', 'fixtures', 'leaves.js')

/**
 * Returns the flags that force each tier of V8's compilers, from the slowest on. `mixed` is as V8 likes.
 * @param {string} version of Node @returns {Record<string, string[]>}
 */
function tiersOf(version) {
  const hasMaglev = Number(version.replace(/^v/, '').split('.')[0]) >= 20
  const [noTurbofan, noMaglev] = hasMaglev
    ? [['--no-turbofan'], ['--no-maglev']]
    : [['--no-opt'], []]
  return {
    interpreter: [...noTurbofan, ...noMaglev, '--no-sparkplug'],
    sparkplug: [...noTurbofan, ...noMaglev, '--always-sparkplug'],
    ...(hasMaglev && { maglev: [...noTurbofan, '--maglev'] }),
    turbofan: [...noMaglev, '--no-sparkplug'],
    mixed: [],
  }
}

/**
 * @typedef {object} RowShares
 * @property {string} row
 * @property {number} all Count of the samples of the row's time.
 * @property {number} samples Count of these without those of collections.
 * @property {number} caller Share of these with the caller and without the worker, which had the time.
 * @property {number} lost Share of these with neither of the two.
 * @property {{ start: number, lines: number[] }} worker First line of the worker, and the lines of its samples.
 */

/**
 * Returns what a profile of the fixture charges to the wrong function, for each row.
 * @param {string} file @param {string[]} [rows] that ran
 * @param {number} [from] share of each row's samples that is left out: at first V8 compiles the worker, while its
 *   caller waits for it
 * @returns {RowShares[]}
 */
function wrongShares(file, rows = ROWS, from = 0) {
  const { samples, nodes, byId } = readCpuProfile(file, { isOurs: false })
  const parents = new Map()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  /** @type {Map<number, string[]>} */
  const stacks = new Map()
  for (const { id } of nodes) {
    const names = []
    for (let at = id; at !== undefined; at = parents.get(at)) {
      names.push(byId.get(at).callFrame.functionName)
    }
    stacks.set(id, names)
  }
  const all = samples.map((/** @type {number} */ id) => stacks.get(id) ?? [])
  return rows.map((row) => {
    const caller = `calls_${row}`
    const isOf = (/** @type {string[]} */ names) => names.includes(row) || names.includes(caller)
    const first = all.findIndex(isOf)
    const end = all.length - [...all].reverse().findIndex(isOf)
    const during = all.slice(first + Math.floor(from * (end - first)), end)
    const counted = during.filter((/** @type {string[]} */ names) => isWork(names))
    const share = (/** @type {(names: string[]) => boolean} */ is) =>
      counted.filter(is).length / Math.max(counted.length, 1)
    const own = nodes.filter((/** @type {any} */ node) => node.callFrame.functionName === row)
    return {
      row,
      all: during.length,
      samples: counted.length,
      caller: share((names) => names.includes(caller) && !names.includes(row)),
      lost: share((names) => !isOf(names)),
      worker: {
        start: (own[0]?.callFrame.lineNumber ?? -1) + 1,
        lines: own.flatMap((/** @type {any} */ { positionTicks = [] }) =>
          positionTicks.map((/** @type {any} */ tick) => tick.line),
        ),
      },
    }
  })
}

/** Returns whether a sample is neither of a collection nor of the caller's clock. @param {string[]} names */
function isWork(names) {
  return names[0] !== '(garbage collector)' && !names.includes('now')
}

module.exports = { PROGRAM, ROWS, tiersOf, wrongShares }
