'use strict'

// The command `cpu-prof status`: its options and its help.

const { addTargets, examples } = require('../../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('status')
    .summary('show the state of running processes')
    .description(
      'Shows whether running processes are recorded, since when, by whom and into which files.',
    )
  addTargets(command)
    .option('--json', 'print the states as JSON')
    .action((words, options) => require('../../remote/status.js').status(words, options))
    .addHelpText('after', examples(['cpu-prof status 4711', 'cpu-prof status api --tree']))
}

module.exports = { define }
