'use strict'

// The command `cpu-prof lake trend`: its options and its help.

const { Option } = require('commander')
const { examples } = require('../../options.js')
const { KINDS, LAKE, addOutput, addScope } = require('./questions.js')

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
  for (const kind of KINDS) {
    const name = kind === 'label' ? '<key=value>' : '<name>'
    const help = kind === 'function' ? 'its name, or file:name' : 'its name'
    const others = KINDS.filter((other) => other !== kind)
    command.addOption(new Option(`--${kind} ${name}`, `of this ${kind}: ${help}`).conflicts(others))
  }
  command
    .addOption(
      new Option(
        '--by <what>',
        'points of the chart (default: commit, where runs have one)',
      ).choices(['day', 'commit']),
    )
    .option('--absolute', 'times instead of shares of the work')
    .option('--total', 'with all that it calls, instead of its self time')
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
