'use strict'

// `cpu-prof report`: shows where the time went.

const path = require('node:path')
const index = require('../../index.js')
const { labelKeyOf } = require('../../lib/offline.js')
const { withInputs } = require('../terminal/input.js')
const { chooseInputs } = require('./inputs.js')
const { hasLabels } = require('./labels.js')
const { MAX_ROWS } = require('./tables.js')
const { jsonText, printable, workingDirectory } = require('../terminal/format.js')
const {
  isStdout,
  printPaths,
  printResult,
  printProblems,
  fail,
  failWith,
} = require('../terminal/output.js')
const { screen } = require('../terminal/width.js')

/** Lines of a report that is not printed to a terminal. */
const LINES = 50
/** Functions whose code is shown. */
const EXCERPTS = 5
/** Functions of a sized report that have callers and callees. */
const DETAILS = 5

/** The list of a report that each table shows. @type {Record<import('./tables.js').By, string>} */
const LISTS = {
  function: 'functions',
  line: 'lines',
  file: 'files',
  package: 'packages',
  module: 'modules',
  owner: 'owners',
  label: 'labels',
  script: 'scripts',
  project: 'projects',
  import: 'imports',
  thread: 'processes',
}

/**
 * @typedef {object} Output
 * @property {boolean} [all] whether to sum all runs of a folder
 * @property {import('./tables.js').By | `label:${string}`} [by]
 * @property {boolean} [json]
 * @property {boolean} [markdown]
 * @property {string} [html]
 * @property {number} [budget]
 * @property {boolean} [code]
 *
 * @typedef {Output & Omit<import('../../index.js').ReportOptions, 'by'>} Options
 */

/** @param {string[]} inputs the last run of the working directory if empty @param {Options} options */
async function report(inputs, options) {
  const { all, top, by, json, markdown: _, html, budget, code, ...rest } = options
  const isSized = budget === undefined ? {} : { tree: true, details: DETAILS }
  const lists = { imports: by === 'import', projects: by === 'project' }
  const selection = { ...rest, ...isSized, ...lists, ...(isLabel(by) && { by }) }
  const chosen = chooseInputs(inputs, all)
  if (chosen.length === 0) return
  if (html !== undefined) return reportHtml(chosen, html, rest, code)
  /** @type {import('../../index.js').Report} */
  let result
  try {
    // Text and Markdown do not show every function that they get.
    const rows = json ? top : Math.max(top ?? 0, MAX_ROWS)
    result = await withInputs(chosen, (files) => index.report(files, { ...selection, top: rows }))
  } catch (error) {
    return failWith(error)
  }
  printProblems(result)
  if (result.details?.length === 0) return fail(noFunction(options))
  if (isLabel(by) && !json && !hasLabels(result)) return fail(noLabels(by, result))
  if (by === 'module' && !json && result.modules === undefined) return fail(NO_MODULES)
  printResult(render(result, options))
}

/**
 * @param {string[]} inputs @param {string} file @param {import('../../index.js').Selection} selection
 * @param {boolean} [hasCode] whether the page also has the code of the hottest lines
 */
async function reportHtml(inputs, file, selection, hasCode) {
  const { pageData } = require('../../lib/offline.js')
  const { writeHtml } = require('./html.js')
  /** @param {string[]} files */
  const data = async (files) => {
    const page = await pageData(files, selection)
    if (!hasCode) return page
    const found = await index.report(files, { ...selection, top: MAX_ROWS })
    return require('./code.js').withCode(page, found, workingDirectory())
  }
  try {
    await withInputs(inputs, (files) => writeHtml(file, () => data(files)))
  } catch (error) {
    return failWith(error)
  }
  if (!isStdout(file)) printPaths([path.resolve(file)])
}

/** Why there is no table of modules. */
const NO_MODULES = 'no native functions were recorded, or none of them was running'

/** @param {Options} options */
const noFunction = ({ function: wanted }) =>
  `no recorded function has '${wanted}' in its name or in its path:line; the functions are in ` +
  'cpu-prof report --by function'

/** @param {`label${string}`} by @param {import('../../index.js').Report} report */
function noLabels(by, { labelKeys }) {
  if (labelKeys.length === 0) {
    return 'no sample has labels: the program has to label its work while it is recorded'
  }
  const key = printable(String(labelKeyOf(by)))
  return `no sample has a label '${key}'; the keys are ${printable(labelKeys.join(', '))}`
}

/** @param {import('../../index.js').Report} result @param {Options} options */
function render(result, { top, by: what, json, markdown, budget, code }) {
  const by = kindOf(what)
  if (json) return jsonText(by === undefined ? result : only(result, LISTS[by]))
  const cwd = workingDirectory()
  if (budget !== undefined) {
    return require('./budget.js').renderBudget(result, { cwd, budget, code })
  }
  const tail = code ? renderCode(result, { top, markdown, cwd }) : ''
  if (result.details || result.tree || result.imports || result.stalls) {
    return `${renderPaths(result, { top, markdown, cwd })}${tail}`
  }
  if (markdown) {
    return `${require('./markdown.js').renderMarkdown(result, { cwd, by, top })}${tail}`
  }
  const { columns, rows, colours } = screen(process.stdout)
  // The prompt needs a line too.
  const lines = rows === undefined ? LINES : rows - 1
  const view = { columns, lines, colours, cwd, by, top }
  return `${require('./text.js').renderText(result, view)}${tail}`
}

/** @param {Options['by']} by @returns {by is 'label' | `label:${string}`} */
function isLabel(by) {
  return labelKeyOf(by) !== undefined
}

/** Returns the kind of a table, without the key of labels. @param {Options['by']} by @returns {import('./tables.js').By | undefined} */
const kindOf = (by) => (isLabel(by) ? 'label' : by)

/** Returns a report without its other lists. @param {import('../../index.js').Report} report @param {string} list */
function only(report, list) {
  const others = Object.values(LISTS).filter((name) => name !== list)
  const lists = { ...(list === 'modules' && { modules: [] }), ...report }
  return Object.fromEntries(Object.entries(lists).filter(([name]) => !others.includes(name)))
}

/** Renders the code of the hottest lines. @param {import('../../index.js').Report} result @param {{ top?: number, markdown?: boolean, cwd: string }} view */
function renderCode(result, { top = EXCERPTS, markdown, cwd }) {
  const { excerptsOf, renderExcerpts } = require('./code.js')
  const lines = result.details?.flatMap((detail) => detail.lines) ?? result.lines
  const text = renderExcerpts(excerptsOf({ ...result, lines }, top, cwd))
  return markdown ? `\n${require('../terminal/markdown-text.js').fence(text.trim())}\n` : text
}

/**
 * @param {import('../../index.js').Report} result
 * @param {{ top?: number, markdown?: boolean, cwd: string }} view
 */
function renderPaths(result, { top, markdown, cwd }) {
  const { renderDetails, renderImports, renderStalls, renderTree } = require('./paths.js')
  const { columns, rows = LINES } = screen(process.stdout)
  const width = markdown ? Number.POSITIVE_INFINITY : columns
  const view = { columns: width, rows: top ?? Math.max(rows - 4, 8), cwd }
  let text = ''
  if (result.imports) text = renderImports(result, view)
  else if (result.stalls) text = renderStalls(result, view)
  else if (result.tree) text = renderTree(result, view)
  else text = renderDetails(result, { ...view, rows: top ?? 8 })
  return markdown ? `${require('../terminal/markdown-text.js').fence(text.trimEnd())}\n` : text
}

module.exports = { report }
