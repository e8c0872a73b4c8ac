'use strict'

const { load } = require('./binding.js')

/** How often `onProgress` is told, milliseconds. */
const TOLD_EVERY = 100

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('./index.js').MergeOptions} [options]
 */
async function merge(inputs, output, options = {}) {
  const paths = typeof inputs === 'string' ? [inputs] : inputs
  check(Array.isArray(paths) && paths.every(isPath), 'inputs', 'a path, or an array of them')
  check(isPath(output), 'output', "a file's path")
  check(typeof options === 'object' && options !== null, 'options', 'an object')
  const { from, to, split, exit, onProgress, ...unknown } = options
  for (const name of Object.keys(unknown)) {
    throw new TypeError(`cpu-prof: ${name} is not an option of merge()`)
  }
  check(isTime(from), 'from', 'a number of milliseconds, 0 or more')
  check(isTime(to), 'to', 'a number of milliseconds, 0 or more')
  if (from !== undefined && to !== undefined && from >= to) {
    throw new RangeError(`cpu-prof: from (${from}) must be less than to (${to})`)
  }
  check(split === undefined || typeof split === 'boolean', 'split', 'a boolean')
  check(exit === undefined || isExit(exit), 'exit', 'an object with a pid, and a code or a signal')
  check(onProgress === undefined || typeof onProgress === 'function', 'onProgress', 'a function')

  const addon = load()
  const progress = addon.mergeProgress()
  const tell = () => {
    const [done, total] = addon.mergeProgressNow(progress)
    if (total > 0) onProgress?.(Math.min(done, total), total)
  }
  const timer = onProgress && setInterval(tell, TOLD_EVERY)
  try {
    return await addon.merge(paths, output, { from, to, split, exit: withoutNull(exit) }, progress)
  } catch (error) {
    throw new Error(`cpu-prof: ${/** @type {Error} */ (error).message}`)
  } finally {
    clearInterval(timer)
  }
}

/** @param {unknown} value */
const isPath = (value) => typeof value === 'string' && value !== ''

/** @param {unknown} value */
const isTime = (value) => value === undefined || (Number.isFinite(value) && Number(value) >= 0)

/** @param {any} exit */
const isExit = (exit) =>
  Number.isInteger(exit?.pid) &&
  (exit.code == null || Number.isInteger(exit.code)) &&
  (exit.signal == null || typeof exit.signal === 'string')

/** @param {import('./index.js').MergeOptions['exit']} exit */
function withoutNull(exit) {
  return exit && { pid: exit.pid, code: exit.code ?? undefined, signal: exit.signal ?? undefined }
}

/** @param {boolean} isRight @param {string} name @param {string} allowed */
function check(isRight, name, allowed) {
  if (!isRight) throw new TypeError(`cpu-prof: ${name} must be ${allowed}`)
}

module.exports = { merge }
