'use strict'

// The command `cpu-prof stop`: its options and its help.

const { addTargets, examples } = require('../../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('stop')
    .summary('end the recordings of running processes')
    .description(
      'Ends the recordings of running processes, and prints the paths of the files, which are complete.',
    )
  addTargets(command)
    .option('--json', 'print the result as JSON')
    .action((words, options) => require('../../remote/stop.js').stop(words, options))
    .addHelpText('after', examples(['cpu-prof stop 4711', 'cpu-prof stop --all']))
}

module.exports = { define }
