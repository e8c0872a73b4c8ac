'use strict'

// Merges, reports on, compares, converts and checks recordings.

const path = require('node:path')
const { loadTools } = require('./addon.js')
const { check: checkArgument, checkOptions, isObject } = require('./check.js')
const { parseRule, evaluate } = require('./compare-rules.js')
const { OutOfRange } = require('./errors/wrong-usage.js')
const { callAddon, parsed, resultOf } = require('./json-result.js')

/** @typedef {import('./check.js').Kind} Kind */

/** Each function of `details` takes a walk over all call trees. */
const MAX_DETAILS = 100
/** Milliseconds between two calls of `onProgress`. */
const PROGRESS_INTERVAL = 100

const isText = (/** @type {unknown} */ value) => typeof value === 'string' && value !== ''
/** Returns a list for a text or a list of texts. @param {any} value */
const listOf = (value = []) => [value].flat()
const isList = (/** @type {unknown} */ value) => listOf(value).every(isText)
/** The start of `by`, before the key of a label. */
const BY_LABEL = 'label'
/** Returns whether a text is a label with a key: `key=value`, or `key=` for samples without. @param {string} text */
const isLabel = (text) => text.indexOf('=') > 0
/** @type {Kind} */
const BOOLEAN = ['a boolean', (value) => typeof value === 'boolean']
/** @type {Kind} */
const TEXTS = ['a text, or an array of texts', isList]
/** @type {Kind} */
const FOLDER = ['the path of a folder', isText]
/** @type {Kind} */
const FOLDERS = ['the path of a folder, or an array of such paths', isList]
/** @type {Kind} */
const TIME = [
  'a number of milliseconds',
  (value) => typeof value === 'number' && !Number.isNaN(value),
]
const isNotNegative = (/** @type {unknown} */ value) => typeof value === 'number' && value >= 0

/** @type {Kind} */
const LABELS = [
  'a text such as route=/users, or an array of such texts',
  (value) => isList(value) && listOf(value).every((text) => isLabel(text)),
]
/** What chooses processes, threads, stacks and samples. */
const FILTERS = {
  process: TEXTS,
  thread: TEXTS,
  package: TEXTS,
  focus: TEXTS,
  ignore: TEXTS,
  label: LABELS,
}
/** Options that all tools share. @type {Record<keyof import('../index.js').Selection, Kind>} */
const SELECTION = { from: TIME, to: TIME, sourceMaps: BOOLEAN, symbols: FOLDERS, ...FILTERS }
/** @type {Record<keyof import('../index.js').MergeOptions, Kind>} */
const MERGE_OPTIONS = {
  names: ['an object of names with their inputs', isObject],
  exit: ['an object with a pid, and a code or a signal', isExit],
  onProgress: ['a function', (value) => typeof value === 'function'],
  categories: TEXTS,
  interval: [
    'a whole number of microseconds from 1',
    (value) => Number.isSafeInteger(value) && value >= 1,
  ],
  ...SELECTION,
}
/** @type {Record<keyof import('../index.js').ReportOptions, Kind>} */
const REPORT_OPTIONS = {
  top: ['a number, 0 or more', isNotNegative],
  function: ['a text', isText],
  details: [
    `a whole number, 0 to ${MAX_DETAILS}`,
    (value) => Number.isInteger(value) && value >= 0 && value <= MAX_DETAILS,
  ],
  tree: BOOLEAN,
  imports: BOOLEAN,
  projects: BOOLEAN,
  by: [`'${BY_LABEL}', or '${BY_LABEL}:' with a key`, (value) => labelKeyOf(value) !== undefined],
  stalls: ['a number of milliseconds, 0 or more', isNotNegative],
  sourcesIn: FOLDER,
  ...SELECTION,
}

/** @type {Record<keyof import('../index.js').CompareOptions, Kind>} */
const COMPARE_OPTIONS = {
  failOn: [
    'a rule, or an array of rules',
    (value) => listOf(value).every((rule) => typeof rule === 'string'),
  ],
  shares: BOOLEAN,
  sourcesIn: FOLDER,
  ...SELECTION,
}

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('../index.js').MergeOptions} [options]
 * @returns {Promise<import('../index.js').MergeResult>}
 */
async function merge(inputs, output, options = {}) {
  const given = checkOptions(options, MERGE_OPTIONS, 'merge()')
  const { onProgress, interval } = given
  const named = Object.entries(given.names ?? {}).flatMap(([name, inputs]) =>
    checkInputs(inputs, `names[${JSON.stringify(name)}]`).map((path) => ({ name, path })),
  )
  const hasNone = named.length > 0 && Array.isArray(inputs) && inputs.length === 0
  const paths = hasNone ? [] : checkInputs(inputs)
  checkOutput(output)
  const settings = {
    named,
    interval,
    exit: given.exit && withoutNull(given.exit),
    categories: listOf(given.categories),
    selection: selectionOf(given),
  }
  const addon = loadTools()
  const progress = addon.cpuProfMergeProgress()
  const reportProgress = () => {
    const { done, total } = addon.cpuProfMergeProgressNow(progress)
    if (total > 0) onProgress?.(Math.min(done, total), total)
  }
  const timer = onProgress && setInterval(reportProgress, PROGRESS_INTERVAL)
  try {
    return await resultOf(() => addon.cpuProfMerge(paths, output, settings, progress))
  } finally {
    clearInterval(timer)
  }
}

/**
 * @param {string | string[]} inputs @param {import('../index.js').ReportOptions} [options]
 * @returns {Promise<import('../index.js').Report>}
 */
async function report(inputs, options = {}) {
  const paths = checkInputs(inputs)
  const given = checkOptions(options, REPORT_OPTIONS, 'report()')
  // The addon takes all properties, also those of Object.prototype.
  const defaults = { top: 20, details: 0, tree: false, imports: false, projects: false }
  const settings = { __proto__: null, ...defaults, ...given, label: labelKeyOf(given.by) }
  const selection = selectionOf(given)
  return resultOf(() => loadTools().cpuProfReport(paths, settings, selection))
}

/**
 * Returns the data of the HTML report as JSON.
 * @param {string[]} inputs @param {import('../index.js').Selection} options
 * @returns {Promise<string>}
 */
function pageData(inputs, options) {
  const selection = selectionOf(checkOptions(options, SELECTION, 'report()'))
  return callAddon(() => loadTools().cpuProfPage(inputs, selection))
}

/**
 * @param {string | string[]} inputs @param {string} output
 * @param {import('../index.js').ConvertOptions} [options]
 * @returns {Promise<import('../index.js').ConvertResult>}
 */
async function convert(inputs, output, options = {}) {
  const paths = checkInputs(inputs)
  checkOutput(output)
  const selection = selectionOf(checkOptions(options, SELECTION, 'convert()'))
  return resultOf(() => loadTools().cpuProfConvert(paths, output, selection))
}

/** @param {string | string[]} inputs @returns {Promise<import('../index.js').Check>} */
async function check(inputs) {
  const paths = checkInputs(inputs)
  return resultOf(() => loadTools().cpuProfCheck(paths))
}

/**
 * @param {string | string[]} base @param {string | string[]} head
 * @param {import('../index.js').CompareOptions} [options] @returns {Promise<import('../index.js').Comparison>}
 */
async function compare(base, head, options = {}) {
  const sides = [checkInputs(base, 'base'), checkInputs(head, 'head')]
  const given = checkOptions(options, COMPARE_OPTIONS, 'compare()')
  const { shares = false } = given
  const rules = listOf(given.failOn).map((text) => parseRule(text, shares))
  const wanted = rules.flatMap(({ kind, name }) => (name === undefined ? [] : [{ kind, name }]))
  const selection = selectionOf(given)
  const [baseRuns, headRuns] = sides.map(runsOf)
  /** @type {Omit<import('../index.js').Comparison, 'rules'>} */
  const found = await resultOf(() =>
    loadTools().cpuProfCompare(baseRuns, headRuns, wanted, shares, selection),
  )
  return { ...found, rules: rules.map((rule) => evaluate(rule, found.rows)) }
}

/**
 * Returns the data of a page that compares two inputs, as JSON.
 * @param {[string, string]} sides @param {import('../index.js').Selection} selection
 */
function comparePageData(sides, selection) {
  const checked = selectionOf(checkOptions(selection, SELECTION, 'compare()'))
  const [base, head] = sides.map((side) => runsOf([side]))
  const names = sides.map((side) => path.basename(path.resolve(side)))
  const isClear = names[0] !== names[1]
  const [baseName, headName] = [base, head].map(
    (runs, side) =>
      `${isClear ? names[side] : sides[side]} (${runs.length} ${runs.length === 1 ? 'run' : 'runs'})`,
  )
  return callAddon(() => loadTools().cpuProfComparePage(base, head, baseName, headName, checked))
}

/** Returns the runs of a side, each a list of inputs. @param {string[]} inputs */
function runsOf(inputs) {
  return inputs.flatMap(allRunsOf).map((run) => [run])
}

/** Returns the runs of an input, the oldest first: those in a folder of runs, or the input itself. @param {string} input a path */
function allRunsOf(input) {
  const { runs } = runsIn(input)
  return runs.length > 0 ? runs : [input]
}

/** Returns the runs of a folder, the oldest first, and whether it also has other recordings. @param {string} folder @returns {{ runs: string[], hasOthers: boolean }} */
function runsIn(folder) {
  /** @type {{ runs: string[], hasOthers: boolean }} */
  const { runs, hasOthers } = parsed(loadTools().cpuProfRunsIn(folder))
  return { runs: runs.map((name) => path.join(folder, name)), hasOthers }
}

/**
 * What `findChanges` takes: values of rows over runs in the order of commits.
 * @typedef {object} ChangeInput
 * @property {number[]} commits index of the commit of each run; never falls
 * @property {(number | null)[]} [hosts] number of the machine of each run; null where it is unknown
 * @property {number[]} samples of each run
 * @property {{ values: number[], sampled?: number, share?: boolean, part?: boolean }[]} rows
 *
 * @typedef {{ commit: number, chance: number }} Candidate
 *
 * @typedef {object} ChangePoint a change of one row
 * @property {number} row index
 * @property {number} commit index of the likeliest commit
 * @property {Candidate[]} candidates
 * @property {number} before mean before the change
 * @property {number} after
 * @property {number} low limit of the difference (95 %)
 * @property {number} high
 * @property {number} runsBefore
 * @property {number} runsAfter
 * @property {number} chance that runs of one program have such a change in any row
 * @property {number} distance in standard errors
 *
 * @typedef {{ commit: number, candidates: Candidate[], changes: ChangePoint[] }} ChangedCommit
 *
 * @typedef {object} FoundChanges indices are those of the rows and the commits of the input
 * @property {ChangedCommit[]} commits the clearest first
 * @property {{ row: number, from: number, to: number, before: number, after: number }[]} drifts rows that change slowly
 * @property {number[]} unclear rows
 * @property {(number | null)[]} detectable smallest step of each row that would be found, as a part of the mean
 * @property {number} leastRuns that each side of a change needs
 * @property {boolean} enough whether the runs are enough to tell any change
 */

/** Finds the commits at which rows have changed. @param {ChangeInput} input @returns {Promise<FoundChanges>} */
function findChanges(input) {
  return resultOf(() => loadTools().cpuProfBlame(JSON.stringify(input)))
}

/**
 * Returns the key of labels that a list is by, empty for whole sets; undefined for another text.
 * @param {unknown} by
 */
function labelKeyOf(by) {
  if (by === BY_LABEL) return ''
  const start = `${BY_LABEL}:`
  const key = typeof by === 'string' && by.startsWith(start) ? by.slice(start.length) : ''
  return key === '' ? undefined : key
}

/** @param {unknown} output */
function checkOutput(output) {
  checkArgument('output', output, ["a file's path", isText])
}

/** @param {unknown} inputs @param {string} [argument] @returns {string[]} */
function checkInputs(inputs, argument = 'inputs') {
  const isInputs = () => isList(inputs) && listOf(inputs).length > 0
  checkArgument(argument, inputs, ['a path, or an array of at least one path', isInputs])
  return listOf(inputs)
}

/** Returns what a tool shows. @param {Record<string, any>} given checked options */
function selectionOf(given) {
  const { from, to, sourceMaps = true, sourcesIn } = given
  // Where one counts from the start and the other from the end, the recordings decide.
  const isFromEnd = (/** @type {unknown} */ time) => Number(time) < 0
  if (isFromEnd(from) === isFromEnd(to) && Number(from) >= Number(to)) {
    throw new OutOfRange(`cpu-prof: from (${from}) must be less than to (${to})`)
  }
  const filters = Object.keys(FILTERS).map((name) => [name, listOf(given[name])])
  const symbols = listOf(given.symbols)
  return { from, to, sourceMaps, sourcesIn, symbols, ...Object.fromEntries(filters) }
}

/** @param {unknown} value */
function isExit(value) {
  if (!isObject(value)) return false
  const { pid, code, signal } = withoutNull(/** @type {object} */ (value))
  const isCode = code === undefined || Number.isInteger(code)
  return Number.isInteger(pid) && isCode && ['undefined', 'string'].includes(typeof signal)
}

/** Returns how a process ended, without null, which the addon refuses. @param {object} exit */
function withoutNull(exit) {
  const { pid, code, signal } = /** @type {any} */ ({ __proto__: null, ...exit })
  return { pid, code: code ?? undefined, signal: signal ?? undefined }
}

module.exports = {
  merge,
  report,
  pageData,
  convert,
  check,
  compare,
  comparePageData,
  findChanges,
  runsIn,
  allRunsOf,
  selectionOf,
  isLabel,
  labelKeyOf,
}
