'use strict'

// The command `cpu-prof compare`: its options and its help.

const { Option } = require('commander')
const { addFilters, examples, listOption, parseCount } = require('../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('compare')
    .summary('show what has become slower or faster between two sets of runs')
    .description(
      'Compares two sets of runs: functions, files, packages, rules, processes and the whole. A side ' +
        'is a recording, a run, or a folder of runs (cpu-prof run --repeat 7 --dir base -- …). Names ' +
        'only differences beyond the noise of the runs. With --runs, runs two commands in turn first.',
    )
    .usage(
      "[options] <base> <head>\n       cpu-prof compare --runs <n> [options] -- '<base command>' -- '<head command>'",
    )
    .argument('<base-and-head...>', 'two inputs, or two commands')
    .addOption(
      listOption(
        '--fail-on <rule>',
        'exit with 3 if this is exceeded: total>5%, function:name>20ms, …',
      ),
    )
    .option('--shares', 'compare shares of the work, for machines that are not equally fast')
    .option('--top <n>', 'print this many rows of each table (default: 10)', parseCount)
    .option('--runs <n>', 'run both commands this often, in turn (A B B A …)', parseCount)
    .option(
      '--warmup <n>',
      'run each command this often before; these runs do not count',
      parseCount,
    )
    .option(
      '--dir <folder>',
      'write the runs of --runs into this folder (default: profiles/<date>)',
    )
    .addOption(
      new Option('--json', 'print JSON (type Comparison in index.d.ts)').conflicts('markdown'),
    )
    .option('--markdown', 'print Markdown, for a comment on a pull request')
    .option(
      '--html <file>',
      'also write a page with a flame graph of both sides (-: print the page)',
    )
  addFilters(command)
  command
    .action((words, options) => require('../compare/compare.js').compare(words, options))
    .addHelpText(
      'after',
      `\nExit code: 3 if a rule of --fail-on is broken.\n${examples([
        'cpu-prof compare base head',
        'cpu-prof compare base head --fail-on "total>5%" --markdown > comment.md',
        "cpu-prof compare --runs 7 -- 'node old.js' -- 'node new.js'",
      ])}`,
    )
}

module.exports = { define }
