'use strict'

// Runs two commands in turn, so that a machine that becomes slower meanwhile slows down both.

const path = require('node:path')
const { RUNS } = require('../../lib/settings.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { newDirName } = require('../run/prepare/output-dir.js')
const { recordRuns } = require('../run/repeat.js')
const { fail } = require('../terminal/output.js')
const { formatPath, workingDirectory } = require('../terminal/format.js')

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
  const sides = ['base', 'head'].map((name, index) => ({
    ...{ name, command: commands[index], folder: path.resolve(dir, name) },
  }))
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
  return sides.map((side) => (side.length === 1 ? ['sh', '-c', side[0]] : side))
}

module.exports = { runInTurn }
