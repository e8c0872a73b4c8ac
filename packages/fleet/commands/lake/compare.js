'use strict'

// The command `cpu-prof lake compare`: its options and its help.

const { examples, listOption } = require('@org/cpu-prof/own-packages').options
const { LAKE, addOutput, addTop } = require('./questions.js')

const SELECTOR =
  'branch=, commit=, job=, host=, repo=, date=<day>..<day>, last=<n>, joined by commas'

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('compare')
    .summary('show what became slower or faster between two sets of runs')
    .description(
      'Compares two sets of runs of a lake, as `cpu-prof compare` does. Names only differences beyond ' +
        'the noise of the runs. Runs that both selectors choose count as head.',
    )
    .argument('[lake]', LAKE)
    .requiredOption('--base <selector>', `take the runs that this chooses as base: ${SELECTOR}`)
    .requiredOption('--head <selector>', 'take the runs that this chooses as head')
    .option('--repo <name>', 'take only runs of this repository, on both sides')
    .addOption(
      listOption(
        '--fail-on <rule>',
        'exit with 3 if this is exceeded: function:name>5%, total>5%, …',
      ),
    )
    .option('--absolute', 'compare times instead of shares of the work')
  addOutput(addTop(command))
    .action((place, options) => require('../../lake/compare.js').compare(place, options))
    .addHelpText(
      'after',
      `\nExit code: 3 if a rule of --fail-on is broken.\n${examples([
        'cpu-prof lake compare lake --base branch=main,last=50 --head commit=1a2b3c',
        'cpu-prof lake compare lake --base date=2026-11-01..2026-11-07 --head last=20 --markdown',
      ])}`,
    )
}

module.exports = { define }
