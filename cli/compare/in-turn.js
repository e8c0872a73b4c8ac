'use strict'

// Runs two commands in turn, so that a machine that becomes slower meanwhile slows down both.

const path = require('node:path')
const { RUNS } = require('../../lib/settings.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { endAs } = require('../run/watch/child.js')
const { newDirName } = require('../run/prepare/output-dir.js')
const { problemOfFolder, recordRun } = require('../run/repeat.js')
const { printStatus, fail } = require('../terminal/output.js')
const { formatPath, workingDirectory } = require('../terminal/format.js')

const SIDES = /** @type {const} */ (['base', 'head'])

/**
 * Runs both commands. Returns the folders of their runs; undefined if there are none, which sets the
 * exit code.
 * @param {string[]} words both commands, with `--` in between if they are more than a word each
 * @param {{ runs: number, warmup?: number, dir?: string }} options
 * @returns {Promise<[string, string] | undefined>}
 */
async function runInTurn(words, { runs, warmup = 0, dir = path.join(RUNS, newDirName()) }) {
  const commands = commandsOf(words)
  if (commands.length !== 2) {
    const example = "cpu-prof compare --runs 7 -- 'node old.js' -- 'node new.js'"
    fail(`--runs needs two commands, not ${commands.length}: ${example}`, WRONG_USAGE)
    return undefined
  }
  const folders = SIDES.map((side) => path.resolve(dir, side))
  const problem = folders.map(problemOfFolder).find((text) => text !== undefined)
  if (problem !== undefined) {
    fail(problem, WRONG_USAGE)
    return undefined
  }
  for (let number = 1 - warmup; number <= runs; number++) {
    // A B B A: a steady drift of the machine is the same for both.
    const order = number % 2 === 0 ? [1, 0] : [0, 1]
    for (const side of order) {
      const place = { folder: folders[side], number, of: runs, side: SIDES[side] }
      const ending = await recordRun(commands[side], { merge: true, sourceMaps: true }, place)
      if (ending === undefined) return undefined
      if (ending.signal !== null) {
        endAs(ending)
        return undefined
      }
      if (ending.code !== 0) printStatus(`${SIDES[side]}: the command ended with ${ending.code}`)
    }
  }
  const cwd = workingDirectory()
  const [base, head] = folders.map((folder) => formatPath(folder, cwd))
  return [base, head]
}

/** Returns the commands, each as words: a single word is for the shell. @param {string[]} words */
function commandsOf(words) {
  const middle = words.indexOf('--')
  const sides =
    middle < 0 ? words.map((word) => [word]) : [words.slice(0, middle), words.slice(middle + 1)]
  return sides.map((side) => (side.length === 1 ? ['sh', '-c', side[0]] : side))
}

module.exports = { runInTurn }
