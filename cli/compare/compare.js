'use strict'

// `cpu-prof compare`: shows what has changed between two sets of runs.

const index = require('../../index.js')
const exitCodes = require('../exit-codes.js')
const { jsonText } = require('../terminal/format.js')
const {
  isStdout,
  printStatus,
  printResult,
  printProblems,
  fail,
  messageOf,
} = require('../terminal/output.js')
const { screen } = require('../terminal/screen.js')

/**
 * @typedef {object} CompareOptions
 * @property {string[]} [failOn]
 * @property {boolean} [json]
 * @property {boolean} [markdown]
 * @property {string} [html]
 * @property {boolean} [shares]
 * @property {number} [top]
 * @property {number} [runs]
 * @property {number} [warmup]
 * @property {string} [dir]
 *
 * @typedef {CompareOptions & import('../../index.js').Selection} Options
 */

/** @param {string[]} words two paths, or with `runs` two commands @param {Options} options */
async function compare(words, { runs, warmup, dir, ...options }) {
  if (runs === undefined) {
    if (words.length !== 2) {
      return fail(
        `compare needs a base and a head, not ${words.length} inputs: cpu-prof compare base head`,
        exitCodes.WRONG_USAGE,
      )
    }
    return compareRuns([words[0], words[1]], options)
  }
  const { runInTurn } = require('./in-turn.js')
  const sides = await runInTurn(words, { runs, warmup, dir })
  if (sides !== undefined) await compareRuns(sides, options)
}

/** @param {[string, string]} sides @param {Options} options */
async function compareRuns(sides, { failOn, shares, json, markdown, html, top, ...selection }) {
  let result
  try {
    result = await index.compare(sides[0], sides[1], { ...selection, failOn, shares })
  } catch (error) {
    return fail(messageOf(error), error instanceof TypeError ? exitCodes.WRONG_USAGE : undefined)
  }
  printProblems(result)
  for (const { rule, row } of result.rules) {
    if (row === undefined) printStatus(`no run has what the rule names: ${rule}`)
  }
  if (html !== undefined) {
    const { comparePageData } = require('../../lib/offline.js')
    const { writeHtml } = require('../report/html.js')
    try {
      await writeHtml(html, () => comparePageData(sides, selection))
    } catch (error) {
      return fail(messageOf(error))
    }
  }
  if (html !== undefined && isStdout(html)) return failIfBroken(result)
  if (json) printResult(jsonText(result))
  else if (markdown) printResult(require('./markdown.js').renderMarkdown(result, { top }))
  else {
    const { columns } = screen(process.stdout)
    printResult(require('./text.js').renderText(result, { columns, top, names: sides }))
  }
  failIfBroken(result)
}

/** Fails if a rule is broken. @param {import('../../index.js').Comparison} result */
function failIfBroken({ rules }) {
  const broken = rules.filter(({ broken }) => broken)
  if (broken.length > 0) {
    fail(`slower than allowed: ${broken.map(({ rule }) => rule).join(', ')}`, exitCodes.RULE_BROKEN)
  }
}

module.exports = { compare }
