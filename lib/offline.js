'use strict'

// Merges, reports on and converts recordings.

const { load } = require('./addon.js')
const { check, checkNotNegative, checkPath, checkOptions, isPath } = require('./check.js')

/** Milliseconds between two calls of `onProgress`. */
const PROGRESS_INTERVAL = 100

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('../index.js').MergeOptions} [options]
 */
async function merge(inputs, output, options = {}) {
  const paths = checkInputs(inputs)
  checkPath('output', output)
  const { onProgress, ...settings } = checkMergeOptions(options)

  const addon = load()
  const progress = addon.cpuProfMergeProgress()
  const tell = () => {
    const [done, total] = addon.cpuProfMergeProgressNow(progress)
    if (total > 0) onProgress?.(Math.min(done, total), total)
  }
  const timer = onProgress && setInterval(tell, PROGRESS_INTERVAL)
  try {
    return await parseResult(() => addon.cpuProfMerge(paths, output, settings, progress))
  } finally {
    clearInterval(timer)
  }
}

/** @param {string | string[]} inputs @param {import('../index.js').ReportOptions} [options] */
async function report(inputs, options = {}) {
  const paths = checkInputs(inputs)
  const { top = 20, from, to } = checkOptions(options, ['top', 'from', 'to'], 'report()')
  checkNotNegative('top', 'a number, 0 or more', top)
  checkSlice(from, to)
  return parseResult(() => load().cpuProfReport(paths, top, from ?? 0, to ?? Infinity))
}

/** @param {string} input @param {string} output */
async function convert(input, output) {
  checkPath('input', input)
  checkPath('output', output)
  return { files: await parseResult(() => load().cpuProfConvert(input, output)) }
}

/** @param {unknown} options */
function checkMergeOptions(options) {
  const known = ['from', 'to', 'split', 'exit', 'onProgress']
  const { from, to, split, exit, onProgress } = checkOptions(options, known, 'merge()')
  checkSlice(from, to)
  check(split === undefined || typeof split === 'boolean', 'split', 'a boolean', split)
  const isExit = exit === undefined || isProcessExit(exit)
  check(isExit, 'exit', 'an object with a pid, and a code or a signal', exit)
  const isFunction = onProgress === undefined || typeof onProgress === 'function'
  check(isFunction, 'onProgress', 'a function', onProgress)
  return { from, to, split, exit: withoutNull(exit), onProgress }
}

/** @param {unknown} inputs @returns {string[]} */
function checkInputs(inputs) {
  const paths = Array.isArray(inputs) ? inputs : [inputs]
  const allowed = 'a path, or an array of at least one path'
  check(paths.length > 0 && paths.every(isPath), 'inputs', allowed, inputs)
  return paths
}

/** @param {unknown} from @param {unknown} to */
function checkSlice(from, to) {
  for (const [name, time] of Object.entries({ from, to })) {
    if (time !== undefined) checkNotNegative(name, 'a number of milliseconds, 0 or more', time)
  }
  if (Number(from) >= Number(to)) {
    throw new RangeError(`cpu-prof: from (${from}) must be less than to (${to})`)
  }
}

/** @param {any} exit */
const isProcessExit = (exit) =>
  Number.isInteger(exit?.pid) &&
  (exit.code == null || Number.isInteger(exit.code)) &&
  (exit.signal == null || typeof exit.signal === 'string')

/** Replaces null, which the addon refuses. @param {import('../index.js').MergeOptions['exit']} exit */
function withoutNull(exit) {
  return exit && { pid: exit.pid, code: exit.code ?? undefined, signal: exit.signal ?? undefined }
}

/** Parses the addon's result, and puts the package's name before an error. @param {() => Promise<string>} work */
async function parseResult(work) {
  let json
  try {
    json = await work()
  } catch (error) {
    throw new Error(`cpu-prof: ${/** @type {Error} */ (error).message}`)
  }
  return JSON.parse(json)
}

module.exports = { merge, report, convert }
