'use strict'

// The command `cpu-prof lake add`: its options and its help.

const { InvalidArgumentError, Option } = require('@org/cpu-prof/own-packages').commander
const { INPUTS, addFilters, examples, quietOption } = require('@org/cpu-prof/own-packages').options

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('add')
    .summary('add runs')
    .description(
      'Adds runs to a lake. Each input is a run; of a folder with several runs, each is added. A run ' +
        'that is in the lake already is not added again.',
    )
    .argument('<input...>', INPUTS)
    .option(
      '--to <lake>',
      'add to this lake: a folder, or s3://<bucket>/<folder> (default: CPU_PROF_LAKE)',
    )
    .option('--repo <name>', 'set the repository (default: owner/name of the remote origin)')
    .option('--commit <commit>', 'set the commit of the run (default: HEAD)')
    .addOption(
      new Option(
        '--commit-seq <n>',
        'set the count of commits up to it, by first parents',
      ).argParser(parsePosition),
    )
    .option('--branch <name>', 'set the branch')
    .option('--job <name>', 'set what the run is of (default: the job of the CI system)')
    .option('--host <name>', 'set the machine (default: the name of this one)')
    .option('--replace', 'write a run again that the lake has')
  addFilters(command, { hasSlice: false })
    .option('--json', 'print JSON: a list of what was added')
    .addOption(quietOption())
    .action((inputs, options) => require('../../lake/add.js').add(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof lake add profiles/run --to lake',
        'cpu-prof lake add profiles --to s3://profiles/lake --job lint',
        'cpu-prof lake add trace.json --repo org/app --commit 3f2a91c',
      ]),
    )
}

/** The largest position that a lake can have. */
const MAX_POSITION = 2 ** 31 - 1

/** @param {string} text */
function parsePosition(text) {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= MAX_POSITION)) throw new InvalidArgumentError('Use a whole number from 0.')
  return number
}

module.exports = { define }
