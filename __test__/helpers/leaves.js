'use strict'

const path = require('node:path')
const { ROWS } = require('../fixtures/leaves.js')
const { readCpuProfile } = require('./cpuprofile.js')

const PROGRAM = path.join(__dirname, '..', 'fixtures', 'leaves.js')

/** What forces each tier of V8's compilers, from the slowest on, by the flags that this Node has. */
const TIERS = {
  interpreter: ['--no-opt', '--no-maglev', '--no-sparkplug'],
  sparkplug: ['--no-opt', '--no-maglev', '--always-sparkplug'],
  maglev: ['--no-opt', '--maglev'],
  turbofan: ['--no-maglev', '--no-sparkplug'],
  mixed: [],
}
/**
 * @typedef {object} RowShares
 * @property {string} row
 * @property {number} samples Count of the samples of the row's time, without those of collections.
 * @property {number} caller Share of these with the caller and without the worker, which had the time.
 * @property {number} lost Share of these with neither of the two.
 */

/**
 * Returns the shares of each row of a profile of the fixture that were charged to the wrong function.
 * @param {string} file @param {boolean} [isOurs] @returns {RowShares[]}
 */
function wrongShares(file, isOurs = false) {
  const { samples, nodes, byId } = readCpuProfile(file, { isOurs })
  const parents = new Map()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  /** @param {number} sample */
  const stack = (sample) => {
    const names = []
    for (let id = sample; id !== undefined; id = parents.get(id)) {
      names.push(byId.get(id).callFrame.functionName)
    }
    return names
  }
  const stacks = samples.map(stack)
  return ROWS.map((row) => {
    const caller = `calls_${row}`
    const isOf = (/** @type {string[]} */ names) => names.includes(row) || names.includes(caller)
    const own = stacks.slice(stacks.findIndex(isOf), stacks.findLastIndex?.(isOf) ?? 0)
    const counted = own.filter((/** @type {string[]} */ names) => !isLegitimate(names, row))
    const count = (/** @type {(names: string[]) => boolean} */ is) =>
      counted.filter(is).length / Math.max(counted.length, 1)
    return {
      row,
      samples: counted.length,
      caller: count((names) => names.includes(caller) && !names.includes(row)),
      lost: count((names) => !isOf(names)),
    }
  })
}

/** Returns whether a sample is where it belongs without being the worker's. */
function isLegitimate(/** @type {string[]} */ names, /** @type {string} */ row) {
  return names[0] === '(garbage collector)' || (!names.includes(row) && /hrtime|bigint/i.test(names[0]))
}

module.exports = { PROGRAM, TIERS, wrongShares }
