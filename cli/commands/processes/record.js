'use strict'

// The command `cpu-prof record`: its options and its help.

const { RUN_FOLDER } = require('../../../lib/settings.js')
const {
  addLength,
  addSettings,
  addTargets,
  examples,
  inspectorOption,
  LONGEST_RECORDING,
  quietOption,
  sourceMapsOption,
  symbolsOption,
  STARTS,
} = require('../../options.js')

/** Settings of the files, which are merged and then removed. */
const OF_FILES = ['dir', 'name', 'format']

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('record')
    .summary('record running processes for a while, and report where the time went')
    .description(
      'Records all threads of running processes for a while, shows what is hot meanwhile, merges the ' +
        'recordings into one trace for Chrome DevTools, and prints a report to stderr. Ctrl-C ends the ' +
        'recording early and keeps the result.',
    )
  const bounds = { usual: '30s', most: LONGEST_RECORDING }
  const help = 'record for this long: 500ms, 10s, 5m'
  addLength(addTargets(command), '--for <length>', help, bounds)
    .option(
      '-o, --output <file>',
      'write the trace into this file; .gz compresses it, - is stdout (default: trace.json in --dir)',
    )
    .option(
      '--dir <dir>',
      `write the trace and the recordings into this folder (default: ${RUN_FOLDER})`,
    )
    .option('--html <file>', 'also write a page for a browser, as report --html does')
    .option('--keep-recordings', 'keep the recordings in --dir')
    .addOption(inspectorOption())
    .addOption(sourceMapsOption())
    .addOption(symbolsOption())
    .addOption(quietOption())
  const settings = addSettings(program, command, {
    without: [...STARTS, ...OF_FILES],
    hasDefaults: false,
  })
  command
    .action((words, options) =>
      require('../../record/record.js').record(words, { ...options, settings }),
    )
    .addHelpText(
      'after',
      examples([
        'cpu-prof record 4711 --for 10s',
        'cpu-prof record api --tree --for 1m --html page.html',
        'kubectl exec my-pod -- npx cpu-prof record 1 --for 10s -o - > trace.json',
      ]),
    )
}

module.exports = { OF_FILES, define }
