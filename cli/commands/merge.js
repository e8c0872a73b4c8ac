'use strict'

// The command `cpu-prof merge`: its options and its help.

const { InvalidArgumentError } = require('commander')
const {
  INPUTS,
  addFilters,
  examples,
  listOption,
  parseCount,
  quietOption,
} = require('../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('merge')
    .summary('merge recordings into one trace for Chrome DevTools')
    .description(
      'Merges recordings into one trace for Chrome DevTools, and prints its path. Reads traces ' +
        '(also cut off, and of other programs) and .cpuprofile and pprof files, plain or gzipped, and ' +
        'folders of them.',
    )
    .argument('[input...]', INPUTS)
    .requiredOption(
      '-o, --output <file>',
      'write the trace into this file; .gz compresses it, - is stdout',
    )
  addFilters(command)
  command
    .addOption(
      listOption(
        '--name <label=input>',
        'add an input, and mark its processes with this label',
        checkNamed,
      ),
    )
    .option(
      '--interval <µs>',
      'keep one sample of each interval of this many microseconds',
      parseCount,
    )
    .addOption(
      listOption('--categories <list>', "keep only these categories of other tools' events: a,b"),
    )
    .option('--json', 'print the result as JSON')
    .addOption(quietOption('print the result and problems only'))
    .action((inputs, options) => require('../merge/merge.js').merge(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof merge profiles -o trace.json',
        'cpu-prof merge a.trace.json b.cpuprofile.gz -o both.json.gz',
        'cpu-prof merge profiles -o start.json --to 10s',
        'cpu-prof merge profiles -o end.json --from -10s',
        'cpu-prof merge trace.json -o small.json --process eslint --interval 5000',
        'cpu-prof merge --name client=profiles/a --name server=profiles/b -o both.json',
      ]),
    )
}

/** Throws unless a text is a label with an input. @param {string} text */
function checkNamed(text) {
  if (!/^[^=]+=./.test(text)) {
    throw new InvalidArgumentError('Use a label and an input, such as base=profiles/a.')
  }
}

module.exports = { define }
