'use strict'

// The command `cpu-prof start`: its options and its help.

const {
  addLength,
  addSettings,
  addTargets,
  examples,
  inspectorOption,
  LONGEST_RECORDING,
  STARTS,
} = require('../../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('start')
    .summary('record running processes until cpu-prof stop')
    .description(
      'Starts to record all threads of running processes. What no option sets, the environment of ' +
        'each process sets. cpu-prof record does all in one: start, stop, merge, report.',
    )
  const bounds = { most: LONGEST_RECORDING }
  addLength(
    addTargets(command),
    '--for <length>',
    'end the recording after this long: 30s, 5m',
    bounds,
  ).addOption(inspectorOption())
  const settings = addSettings(program, command, { without: STARTS, hasDefaults: false })
  command
    .action((words, options) =>
      require('../../remote/start.js').start(words, { ...options, settings }),
    )
    .addHelpText(
      'after',
      examples([
        'cpu-prof start 4711',
        'cpu-prof start api --tree --for 5m --dir /tmp/profiles',
        'cpu-prof start --all --interval 200',
      ]),
    )
}

module.exports = { define }
