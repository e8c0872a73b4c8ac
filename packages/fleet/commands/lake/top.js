'use strict'

// The command `cpu-prof lake top`: its options and its help.

const { examples, kindOption } = require('@org/cpu-prof/own-packages').options
const { LAKE, NAMED, addOutput, addScope, addTop } = require('./questions.js')

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('top')
    .summary('show what costs most over many runs')
    .description(
      'Sums the times of functions, files, packages, owners or the values of a label over all runs that ' +
        'are chosen, with mean, median and 95th percentile over runs. A run without a sample counts as 0.',
    )
    .argument('[lake]', LAKE)
    .addOption(kindOption('show rows of this kind (default: function)', NAMED))
  addOutput(addTop(addScope(command)))
    .action((place, options) => require('../../lake/top.js').top(place, options))
    .addHelpText(
      'after',
      examples(['cpu-prof lake top lake --since 30d', 'cpu-prof lake top lake --by label:route']),
    )
}

module.exports = { define }
