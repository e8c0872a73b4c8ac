'use strict'

// What is done with recordings afterwards. Loaded when it is asked for: a preload must not pay.

const { load } = require('./addon.js')

/** How often `onProgress` is told, milliseconds. */
const TOLD_EVERY = 100

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('../index.js').MergeOptions} [options]
 */
async function merge(inputs, output, options = {}) {
  const paths = asPaths(inputs)
  check(isPath(output), 'output', "a file's path", output)
  const known = ['from', 'to', 'split', 'exit', 'onProgress']
  checkOptions('merge', known, options)
  const { from, to, split, exit, onProgress } = options
  checkWindow(from, to)
  check(split === undefined || typeof split === 'boolean', 'split', 'a boolean', split)
  const ending = 'an object with a pid, and a code or a signal'
  check(exit === undefined || isExit(exit), 'exit', ending, exit)
  const isFunction = onProgress === undefined || typeof onProgress === 'function'
  check(isFunction, 'onProgress', 'a function', onProgress)

  const addon = load()
  const progress = addon.mergeProgress()
  const tell = () => {
    const [done, total] = addon.mergeProgressNow(progress)
    if (total > 0) onProgress?.(Math.min(done, total), total)
  }
  const timer = onProgress && setInterval(tell, TOLD_EVERY)
  const settings = { from, to, split, exit: withoutNull(exit) }
  try {
    return await result(() => addon.merge(paths, output, settings, progress))
  } finally {
    clearInterval(timer)
  }
}

/** @param {string | string[]} inputs @param {import('../index.js').ReportOptions} [options] */
async function report(inputs, options = {}) {
  const paths = asPaths(inputs)
  checkOptions('report', ['top', 'from', 'to'], options)
  const { top = 20, from, to } = options
  check(typeof top === 'number' && top >= 0, 'top', 'a number, 0 or more', top)
  checkWindow(from, to)
  return result(() => load().report(paths, top, from ?? 0, to ?? Infinity))
}

/** @param {string} input @param {string} output */
async function convert(input, output) {
  check(isPath(input), 'input', "a file's path", input)
  check(isPath(output), 'output', "a file's path", output)
  return { files: await result(() => load().convert(input, output)) }
}

/** Says whose error it is. @param {() => Promise<string>} work */
async function result(work) {
  let json
  try {
    json = await work()
  } catch (error) {
    throw new Error(`cpu-prof: ${/** @type {Error} */ (error).message}`)
  }
  return JSON.parse(json)
}

/** @param {unknown} inputs @returns {string[]} */
function asPaths(inputs) {
  const paths = Array.isArray(inputs) ? inputs : [inputs]
  const isRight = paths.length > 0 && paths.every(isPath)
  check(isRight, 'inputs', 'a path, or an array of at least one', inputs)
  return paths
}

/** @param {string} name @param {string[]} known @param {unknown} options */
function checkOptions(name, known, options) {
  check(typeof options === 'object' && options !== null, 'options', 'an object', options)
  for (const option of Object.keys(/** @type {object} */ (options))) {
    if (known.includes(option)) continue
    const all = known.join(', ')
    throw new TypeError(`cpu-prof: ${option} is not an option of ${name}() (there are ${all})`)
  }
}

/** @param {unknown} from @param {unknown} to */
function checkWindow(from, to) {
  for (const [name, time] of Object.entries({ from, to })) {
    const isTime = time === undefined || (typeof time === 'number' && time >= 0)
    check(isTime, name, 'a number of milliseconds, 0 or more', time)
  }
  if (Number(from) >= Number(to)) {
    throw new RangeError(`cpu-prof: from (${from}) must be less than to (${to})`)
  }
}

/**
 * A value of the right type that is out of range is a RangeError, as everywhere.
 * @param {boolean} isRight @param {string} name @param {string} allowed @param {unknown} value
 */
function check(isRight, name, allowed, value) {
  if (isRight) return
  const ErrorType = typeof value === 'number' && /^a number/.test(allowed) ? RangeError : TypeError
  throw new ErrorType(`cpu-prof: ${name} must be ${allowed}, not ${describe(value)}`)
}

/** @param {unknown} value */
function describe(value) {
  if (value === null || typeof value === 'number') return String(value)
  if (value === '') return 'an empty string'
  if (!Array.isArray(value)) return `a value of type ${typeof value}`
  return value.length === 0 ? 'an empty array' : 'such an array'
}

/** @param {unknown} value */
const isPath = (value) => typeof value === 'string' && value !== ''

/** @param {any} exit */
const isExit = (exit) =>
  Number.isInteger(exit?.pid) &&
  (exit.code == null || Number.isInteger(exit.code)) &&
  (exit.signal == null || typeof exit.signal === 'string')

/** @param {import('../index.js').MergeOptions['exit']} exit */
function withoutNull(exit) {
  return exit && { pid: exit.pid, code: exit.code ?? undefined, signal: exit.signal ?? undefined }
}

module.exports = { merge, report, convert }
