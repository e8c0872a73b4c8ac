'use strict'

// `cpu-prof report`: shows where the time went.

const index = require('../../index.js')
const { MAX_ROWS } = require('../report/tables.js')
const { workingDirectory } = require('../terminal/format.js')
const { printResult, printProblems, fail, messageOf } = require('../terminal/output.js')
const { screen } = require('../terminal/screen.js')

/** Lines of a report that is not printed to a terminal. */
const LINES = 50

/**
 * @typedef {object} Options
 * @property {number} [top]
 * @property {import('../report/tables.js').By} [by]
 * @property {number} [from]
 * @property {number} [to]
 * @property {boolean} [json]
 * @property {boolean} [markdown]
 */

/** @param {string[]} inputs @param {Options} options */
async function report(inputs, options) {
  const { top, from, to, json } = options
  /** @type {import('../../index.js').Report} */
  let result
  try {
    // Text and Markdown do not show every function that they get.
    const rows = json ? top : Math.max(top ?? 0, MAX_ROWS)
    result = await index.report(inputs, { top: rows, from, to })
  } catch (error) {
    return fail(messageOf(error))
  }
  printProblems(result)
  printResult(render(result, options))
}

/** @param {import('../../index.js').Report} result @param {Options} options */
function render(result, { top, by, json, markdown }) {
  if (json) return `${JSON.stringify(result, null, 2)}\n`
  const cwd = workingDirectory()
  if (markdown) return require('../report/markdown.js').renderMarkdown(result, { cwd, by, top })
  const { columns, rows, colours } = screen(process.stdout)
  // The prompt needs a line too.
  const lines = rows === undefined ? LINES : rows - 1
  const view = { columns, lines, colours, cwd, by, top }
  return require('../report/text.js').renderText(result, view)
}

module.exports = { report }
