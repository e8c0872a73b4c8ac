'use strict'

// Merges, reports on, converts and checks recordings.

const { loadTools } = require('./addon.js')
const {
  assertArgument,
  checkBoolean,
  checkNotNegative,
  checkNumber,
  checkPath,
  checkOptions,
  isPath,
  ownValues,
} = require('./check.js')

const FILTERS = ['process', 'thread', 'package', 'focus', 'ignore']
/** Options that all tools share. */
const SELECTION = ['from', 'to', 'sourceMaps', ...FILTERS]
const MERGE_OPTIONS = [...['names', 'exit', 'onProgress', 'categories', 'interval']]
const REPORT_OPTIONS = ['top', 'function', 'details', 'tree', 'imports', 'stalls']
/** Each function of `details` takes a walk over all call trees. */
const MAX_DETAILS = 100
/** Milliseconds between two calls of `onProgress`. */
const PROGRESS_INTERVAL = 100

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('../index.js').MergeOptions} [options]
 */
async function merge(inputs, output, options = {}) {
  const { onProgress, ...settings } = checkMergeOptions(options)
  const hasNames = settings.names.length > 0
  const paths = hasNames && Array.isArray(inputs) && inputs.length === 0 ? [] : checkInputs(inputs)
  checkPath('output', output)

  const addon = loadTools()
  const progress = addon.cpuProfMergeProgress()
  const reportProgress = () => {
    const [done, total] = addon.cpuProfMergeProgressNow(progress)
    if (total > 0) onProgress?.(Math.min(done, total), total)
  }
  const timer = onProgress && setInterval(reportProgress, PROGRESS_INTERVAL)
  try {
    return await parseResult(() => addon.cpuProfMerge(paths, output, settings, progress))
  } finally {
    clearInterval(timer)
  }
}

/** @param {string | string[]} inputs @param {import('../index.js').ReportOptions} [options] */
async function report(inputs, options = {}) {
  const paths = checkInputs(inputs)
  const given = checkOptions(options, [...REPORT_OPTIONS, ...SELECTION], 'report()')
  const { top = 20, function: wanted, details = 0, tree = false, imports = false, stalls } = given
  checkNotNegative('top', 'a number, 0 or more', top)
  const isText = wanted === undefined || (typeof wanted === 'string' && wanted !== '')
  assertArgument(isText, 'function', 'a text', wanted)
  const isCount =
    Number.isInteger(details) && Number(details) >= 0 && Number(details) <= MAX_DETAILS
  assertArgument(isCount, 'details', `a whole number, 0 to ${MAX_DETAILS}`, details)
  checkBoolean('tree', tree)
  checkBoolean('imports', imports)
  if (stalls !== undefined)
    checkNotNegative('stalls', 'a number of milliseconds, 0 or more', stalls)
  const settings = { top, function: wanted, details, tree, imports, stalls }
  const selection = checkSelection(given)
  return parseResult(() => loadTools().cpuProfReport(paths, settings, selection))
}

/**
 * Returns the data of the HTML report as JSON.
 * @param {string[]} inputs @param {import('../index.js').Selection} options
 * @returns {Promise<string>}
 */
function pageData(inputs, options) {
  const selection = checkSelection(checkOptions(options, SELECTION, 'report()'))
  return callAddon(() => loadTools().cpuProfPage(inputs, selection))
}

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('../index.js').ConvertOptions} [options]
 */
async function convert(inputs, output, options = {}) {
  const paths = checkInputs(inputs)
  checkPath('output', output)
  const selection = checkSelection(checkOptions(options, SELECTION, 'convert()'))
  return parseResult(() => loadTools().cpuProfConvert(paths, output, selection))
}

/** @param {string | string[]} inputs */
async function check(inputs) {
  const paths = checkInputs(inputs)
  return parseResult(() => loadTools().cpuProfCheck(paths))
}

/** @param {unknown} options */
function checkMergeOptions(options) {
  const given = checkOptions(options, [...MERGE_OPTIONS, ...SELECTION], 'merge()')
  const { onProgress, interval } = given
  if (interval !== undefined) checkInterval(interval)
  const isFunction = onProgress === undefined || typeof onProgress === 'function'
  assertArgument(isFunction, 'onProgress', 'a function', onProgress)
  return {
    ...{ exit: checkExit(given.exit), onProgress, interval },
    names: checkNames(given.names),
    categories: checkTexts('categories', given.categories),
    selection: checkSelection(given),
  }
}

/** Returns the inputs of an object of names, each after its name. @param {unknown} names */
function checkNames(names = {}) {
  const isObject = typeof names === 'object' && names !== null && !Array.isArray(names)
  assertArgument(isObject, 'names', 'an object of names with their inputs', names)
  return Object.entries(/** @type {object} */ (names)).flatMap(([name, inputs]) =>
    checkInputs(inputs, `names[${JSON.stringify(name)}]`).map((path) => [name, path]),
  )
}

/** Returns what a tool shows. @param {Record<string, unknown>} options */
function checkSelection(options) {
  const { from, to, sourceMaps = true } = options
  checkSlice(from, to)
  checkBoolean('sourceMaps', sourceMaps)
  const filters = FILTERS.map((name) => [name, checkTexts(name, options[name])])
  return { from, to, sourceMaps, ...Object.fromEntries(filters) }
}

/** Returns a list for a text, for a list of texts or for nothing. @param {string} name @param {unknown} value */
function checkTexts(name, value = []) {
  const texts = Array.isArray(value) ? value : [value]
  const isText = (/** @type {unknown} */ text) => typeof text === 'string' && text !== ''
  assertArgument(texts.every(isText), name, 'a text, or an array of texts', value)
  return texts
}

/** @param {unknown} interval */
function checkInterval(interval) {
  const allowed = 'a whole number of microseconds from 1'
  assertArgument(Number.isSafeInteger(interval), 'interval', allowed, interval)
  if (Number(interval) < 1) {
    throw new RangeError(`cpu-prof: interval must be ${allowed}, not ${interval}`)
  }
}

/** @param {unknown} inputs @param {string} [argument] @returns {string[]} */
function checkInputs(inputs, argument = 'inputs') {
  const paths = Array.isArray(inputs) ? inputs : [inputs]
  const allowed = 'a path, or an array of at least one path'
  assertArgument(paths.length > 0 && paths.every(isPath), argument, allowed, inputs)
  return paths
}

/** @param {unknown} from @param {unknown} to */
function checkSlice(from, to) {
  for (const [name, time] of Object.entries({ from, to })) {
    if (time !== undefined) checkNumber(name, 'a number of milliseconds', time)
  }
  // Where one counts from the start and the other from the end, the recordings decide.
  const isFromEnd = (/** @type {unknown} */ time) => Number(time) < 0
  if (isFromEnd(from) === isFromEnd(to) && Number(from) >= Number(to)) {
    throw new RangeError(`cpu-prof: from (${from}) must be less than to (${to})`)
  }
}

/** Returns how a process ended, without null, which the addon refuses. @param {unknown} exit */
function checkExit(exit) {
  if (exit === undefined) return undefined
  const { pid, code, signal } = ownValues('exit', exit)
  const isExit =
    Number.isInteger(pid) &&
    (code == null || Number.isInteger(code)) &&
    (signal == null || typeof signal === 'string')
  assertArgument(isExit, 'exit', 'an object with a pid, and a code or a signal', exit)
  return { pid, code: code ?? undefined, signal: signal ?? undefined }
}

/** Calls the addon, and parses its result. @param {() => Promise<string>} work */
async function parseResult(work) {
  return JSON.parse(await callAddon(work))
}

/** Calls the addon, and puts the package's name before its error. @param {() => Promise<string>} work */
async function callAddon(work) {
  try {
    return await work()
  } catch (error) {
    throw new Error(`cpu-prof: ${/** @type {Error} */ (error).message}`)
  }
}

module.exports = {
  SELECTION,
  merge,
  report,
  pageData,
  convert,
  check,
  checkInputs,
  checkSelection,
  parseResult,
  callAddon,
}
