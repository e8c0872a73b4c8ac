'use strict'

// The command `cpu-prof ps`: its options and its help.

const { examples } = require('../../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  program
    .command('ps')
    .summary('list the running processes that can be recorded')
    .description(
      "Lists this user's processes that were started with CPU_PROF_START=off, or that --inspector has " +
        'armed: cpu-prof record or cpu-prof start records them. Root sees all users (Linux).',
    )
    .option('--json', 'print the list as JSON')
    .action(async (options) => {
      await require('../../remote/ps.js').ps(options)
      require('../../record/remains.js').printRemains()
    })
    .addHelpText('after', examples(['cpu-prof ps']))
}

module.exports = { define }
