'use strict'

// The command `cpu-prof report`: its options and its help.

const { InvalidArgumentError, Option } = require('commander')
const {
  INPUTS,
  addFilters,
  examples,
  kindOption,
  parseCount,
  parseNumberOrLength,
} = require('../options.js')

/** What the tables of `--by` are of. */
const KINDS = /** @type {const} */ ([
  'function',
  'line',
  'file',
  'package',
  'module',
  'owner',
  'label',
  'script',
  'project',
  'import',
  'thread',
])

/** @param {import('commander').Command} program */
function define(program) {
  const json = new Option('--json', 'print JSON (type Report in index.d.ts; with --by, one list)')
  const command = program
    .command('report')
    .summary('show where the time went')
    .description(
      'Shows where the time of recordings went: by process and thread, by function and by package, or ' +
        'by line. ' +
        'Reads the same files as merge. Of a folder with several runs, reports the last; without an ' +
        'input, the last run in profiles.',
    )
    .argument('[input...]', INPUTS)
    .option('--all', 'sum all runs of a folder')
    .option(
      '--top <n>',
      'print this many rows of each table (default: as many as fit the screen)',
      parseCount,
    )
    .addOption(kindOption('print only the table of this kind', KINDS))
    .addOption(
      new Option(
        '--function <text>',
        'print callers, callees and lines of a function: its name or path:line',
      ).conflicts(['by', 'tree']),
    )
    .addOption(new Option('--tree', 'print the heaviest paths of the call tree').conflicts('by'))
    .addOption(
      new Option(
        '--stalls [time]',
        'print the longest times without a turn of the event loop (50 ms and more)',
      )
        .argParser(parseStall)
        .preset('50')
        .conflicts(['by', 'function', 'tree']),
    )
  addFilters(command)
    .addOption(json.conflicts('markdown'))
    .option('--markdown', 'print Markdown tables')
    .option('--code', 'also print the code of the hottest lines')
    .addOption(
      new Option('--budget <tokens>', 'print Markdown of at most this size: tables, paths, callers')
        .argParser(parseCount)
        .conflicts(['json', 'by', 'top', 'function', 'tree', 'stalls']),
    )
    .addOption(
      new Option(
        '--html <file>',
        'write a page for a browser: time line, flame graph, tables; - is stdout',
      ).conflicts(['json', 'markdown', 'by', 'top', 'function', 'tree', 'stalls', 'budget']),
    )
    .action(async (inputs, options) => {
      await require('../report/report.js').report(inputs, options)
      require('../run/after/remains.js').printRemains()
    })
    .addHelpText(
      'after',
      examples([
        'cpu-prof report',
        'cpu-prof report profiles --by package --top 40',
        'cpu-prof report profiles --by label:route',
        'cpu-prof report profiles --label route=/users/:id --function renderTable',
        'cpu-prof report trace.json --markdown > report.md',
        'cpu-prof report profiles --html report.html',
      ]),
    )
}

/** Returns milliseconds. @param {string} text */
function parseStall(text) {
  const ms = parseNumberOrLength(text)
  if (ms !== null) return ms
  throw new InvalidArgumentError(
    'Use milliseconds, or a length such as 1.5s, or put the inputs before --stalls.',
  )
}

module.exports = { KINDS, define }
