'use strict'

// `cpu-prof compare`: shows what has changed between two sets of runs.

const path = require('node:path')
const index = require('../../index.js')
const { RUNS } = require('../../lib/settings.js')
const exitCodes = require('../exit-codes.js')
const system = require('../system/index.js')
const { formatPath, jsonText, workingDirectory } = require('../terminal/format.js')
const {
  isStdout,
  printStatus,
  printResult,
  printProblems,
  fail,
  failWith,
} = require('../terminal/output.js')
const { screen } = require('../terminal/width.js')

/**
 * @typedef {object} Output
 * @property {boolean} [json]
 * @property {boolean} [markdown]
 * @property {string} [html]
 * @property {number} [top]
 * @property {number} [runs]
 * @property {number} [warmup]
 * @property {string} [dir]
 *
 * @typedef {Output & import('../../index.js').CompareOptions} Options
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
  const sides = await runInTurn(words, { runs, warmup, dir })
  if (sides !== undefined) await compareRuns(sides, options)
}

/** @param {[string, string]} sides @param {Options} options */
async function compareRuns(sides, { failOn, shares, json, markdown, html, top, ...selection }) {
  let result
  try {
    result = await index.compare(sides[0], sides[1], { ...selection, failOn, shares })
  } catch (error) {
    return failWith(error)
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
      return failWith(error)
    }
  }
  if (html === undefined || !isStdout(html))
    printResult(render(result, sides, { json, markdown, top }))
  const broken = result.rules.filter(({ broken }) => broken)
  if (broken.length > 0) {
    fail(`slower than allowed: ${broken.map(({ rule }) => rule).join(', ')}`, exitCodes.RULE_BROKEN)
  }
}

/** @param {import('../../index.js').Comparison} result @param {[string, string]} names @param {Output} output */
function render(result, names, { json, markdown, top }) {
  if (json) return jsonText(result)
  if (markdown) return require('./markdown.js').renderMarkdown(result, { top })
  const { columns } = screen(process.stdout)
  return require('./text.js').renderText(result, { columns, top, names })
}

/**
 * Runs both commands in turn, so that a machine that becomes slower meanwhile slows down both. Returns
 * the folders of their runs; undefined if there are none, which sets the exit code.
 * @param {string[]} words both commands, with `--` in between if they are more than a word each
 * @param {{ runs: number, warmup?: number, dir?: string }} options
 * @returns {Promise<[string, string] | undefined>}
 */
async function runInTurn(words, { runs, warmup = 0, dir }) {
  const { newDirName } = require('../run/prepare/output-dir.js')
  const { recordRuns } = require('../run/run.js')
  const commands = commandsOf(words)
  if (commands.length !== 2) {
    const example = "cpu-prof compare --runs 7 -- 'node old.js' -- 'node new.js'"
    fail(`--runs needs two commands, not ${commands.length}: ${example}`, exitCodes.WRONG_USAGE)
    return undefined
  }
  const parent = dir ?? path.join(RUNS, newDirName())
  const sides = ['base', 'head'].map((name, at) => {
    return { name, command: commands[at], folder: path.resolve(parent, name) }
  })
  const endings = await recordRuns(sides, runs, warmup, { merge: true, sourceMaps: true })
  if (endings === undefined) return undefined
  const cwd = workingDirectory()
  const [base, head] = sides.map(({ folder }) => formatPath(folder, cwd))
  return [base, head]
}

/** Returns the commands, each as words: a single word is for the shell. @param {string[]} words */
function commandsOf(words) {
  const middle = words.indexOf('--')
  const sides =
    middle < 0 ? words.map((word) => [word]) : [words.slice(0, middle), words.slice(middle + 1)]
  return sides.map((side) => (side.length === 1 ? system.shellWords(side[0]) : side))
}

module.exports = { compare }
