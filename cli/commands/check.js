'use strict'

// The command `cpu-prof check`: its options and its help.

const { INPUTS, examples } = require('../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  program
    .command('check')
    .summary('list what is wrong with a trace or a profile')
    .description(
      'Lists the problems of traces and .cpuprofile files of any tool by line and field: broken JSON, ' +
        'events against the rules of their phases, ends without starts, samples of unknown nodes, ' +
        'and what DevTools or Perfetto would not show.',
    )
    .argument('<input...>', INPUTS)
    .option('--json', 'print the result as JSON (type Check in index.d.ts)')
    .action((inputs, options) => require('../check/check.js').check(inputs, options))
    .addHelpText(
      'after',
      `\nExit code: 1 if a file cannot be loaded, or has an error.\n${examples(['cpu-prof check trace.json'])}`,
    )
}

module.exports = { define }
