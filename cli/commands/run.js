'use strict'

// The command `cpu-prof run`: its options and its help.

const { Option } = require('commander')
const {
  addSettings,
  examples,
  sourceMapsOption,
  symbolsOption,
  parseCount,
  quietOption,
} = require('../options.js')

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('run')
    .summary('run a command, and record every Node process and thread under it')
    .description(
      'Runs a command, and records every Node process and thread under it. When the command ends, ' +
        'its recordings are merged into one trace for Chrome DevTools. The command keeps its stdin, ' +
        'stdout, exit code and signals; cpu-prof prints to stderr.',
    )
    .usage('[options] [--] <command…>')
    .argument('<command...>', 'the command and its own options')
    .passThroughOptions()
    .option(
      '-o, --output <file>',
      'write the trace into this file; .gz compresses it (default: trace.json in --dir)',
    )
    .option('--no-merge', 'keep only the recordings: no trace, no report')
    .option('--keep-recordings', 'keep the recordings beside the trace')
    .option('--html <file>', 'also write a page for a browser, as report --html does')
    .option('--lake <lake>', 'also add the run to a lake, a folder or s3://… (CPU_PROF_LAKE)')
    .addOption(
      new Option('--repeat <n>', 'run the command n times, for compare: each in a folder in --dir')
        .argParser(parseCount)
        .conflicts(['output', 'html']),
    )
    .option(
      '--warmup <n>',
      'with --repeat, run this often before; these runs do not count',
      parseCount,
    )
    .addOption(sourceMapsOption())
    .addOption(symbolsOption())
    .addOption(quietOption())
  const settings = addSettings(program, command)
  command
    .action((words, options) => require('../run/run.js').run(words, { ...options, settings }))
    .addHelpText(
      'after',
      `
The environment sets what no option sets: CPU_PROF_INTERVAL for --interval, and so on.
Exit code: the command's own; 127 if its program was not found, 126 if it cannot be run.
${examples([
  'cpu-prof run node main.js --port 80',
  'cpu-prof run npx nx run-many -t lint',
  'cpu-prof run --interval 200 --output build.json.gz -- npm run build',
  'cpu-prof run --repeat 7 --dir base -- npx eslint src',
])}`,
    )
}

module.exports = { define }
