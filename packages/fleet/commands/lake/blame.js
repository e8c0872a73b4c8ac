'use strict'

// The command `cpu-prof lake blame`: its options and its help.

const { examples } = require('@org/cpu-prof/own-packages').options
const { LAKE, NAMED, addItem, addOutput, addScope, addTop } = require('./questions.js')

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('blame')
    .summary('find the commits at which something got slower or faster')
    .description(
      'Looks for commits at which functions, packages or the whole work changed by more than the runs ' +
        'do by chance. Runs without a commit are taken in the order of their starts. Shares of the ' +
        'work are compared, in which slow machines cancel.',
    )
    .argument('[lake]', LAKE)
  addItem(command, NAMED, 'find only changes of this')
  command.option('--absolute', 'compare times instead of shares of the work')
  addOutput(addTop(addScope(command)))
    .action((place, options) => require('../../lake/blame.js').blame(place, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof lake blame lake --branch main --since 30d',
        'cpu-prof lake blame lake --function renderTable',
      ]),
    )
}

module.exports = { define }
