'use strict'

// The command `cpu-prof ps`: its options and its help.

const { examples } = require('../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  program
    .command('ps')
    .summary('list the running processes that can be recorded')
    .description(
      "Lists this user's processes that were started with CPU_PROF_START=off: they are not recorded " +
        'until cpu-prof record or cpu-prof start says so.',
    )
    .option('--json', 'print the list as JSON')
    .action((options) => require('../remote/ps.js').ps(options))
    .addHelpText('after', examples(['cpu-prof ps']))
}

module.exports = { define }
