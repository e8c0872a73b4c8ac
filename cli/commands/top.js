'use strict'

// The command `cpu-prof top`: its options and its help.

const { InvalidArgumentError, Option } = require('commander')
const { addFilters, examples, kindOption, parseCount } = require('../options.js')

/** What the rows can be of. */
const KINDS = /** @type {const} */ (['function', 'file', 'package', 'label', 'thread'])
const MAX_SECONDS = 60

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('top')
    .summary('watch what runs hot now')
    .description(
      'Shows the hottest functions, files, packages, labels and threads of the last seconds, again each ' +
        'second, from recordings that grow. Without an input, of the run that goes on, or else of the ' +
        'last run in profiles. Without a terminal, prints lines until the recordings end. The key ? ' +
        'shows all keys.',
    )
    .argument(
      '[input...]',
      'process ids, texts in the label of an armed process, files and folders',
    )
    .addOption(kindOption('show rows of this kind at first', KINDS).default('function'))
    .addOption(
      new Option('--sort <time>', 'sort by this time at first')
        .choices(['self', 'total'])
        .default('self'),
    )
    .option(
      '--seconds <n>',
      `show this many seconds before the last sample, 1 to ${MAX_SECONDS}`,
      parseSeconds,
      10,
    )
    .option('--count <n>', 'print this many looks as lines, then end', parseCount)
    .option('--tree', 'also show the processes below')
  addFilters(command, { hasSlice: false })
    .action((words, options) => require('../top/top.js').top(words, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof top',
        'cpu-prof top 4242 --tree',
        'cpu-prof top profiles --by label:route',
        'cpu-prof top profiles --count 1',
      ]),
    )
}

/** @param {string} text */
function parseSeconds(text) {
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || seconds < 1 || seconds > MAX_SECONDS) {
    throw new InvalidArgumentError(`Use a number from 1 to ${MAX_SECONDS}.`)
  }
  return seconds
}

module.exports = { KINDS, define }
