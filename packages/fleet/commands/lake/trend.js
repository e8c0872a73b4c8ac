'use strict'

// The command `cpu-prof lake trend`: its options and its help.

const { Option } = require('@org/cpu-prof/own-packages').commander
const { examples } = require('@org/cpu-prof/own-packages').options
const { KINDS, LAKE, addItem, addOutput, addScope } = require('./questions.js')

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('trend')
    .summary('show how the cost of something changed by day or by commit')
    .description(
      'Shows the median and the spread over runs (not over calls) of something, by day or by commit: ' +
        'its share of the work, in which slow machines cancel, or its time. Without a name: the whole work.',
    )
    .argument('[lake]', LAKE)
  addItem(command, KINDS, 'show this')
    .addOption(
      new Option(
        '--by <what>',
        'show a point for each day or commit (default: commit, where runs have one)',
      ).choices(['day', 'commit']),
    )
    .option('--absolute', 'show times instead of shares of the work')
    .option('--total', 'count all that it calls, instead of its self time')
  addOutput(addScope(command))
    .action((place, options) => require('../../lake/trend.js').trend(place, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof lake trend lake --function renderTable',
        'cpu-prof lake trend lake --package lodash --by day --since 30d',
        'cpu-prof lake trend lake --label route=/users --absolute --html trend.html',
      ]),
    )
}

module.exports = { define }
