'use strict'

// Defines the commands, their options and their help.

// Each command's code is loaded when the command is called: `run` delays other commands' start.

const { Command, Option } = require('commander')
const { SETTINGS } = require('../lib/options.js')
const { WRONG_USAGE } = require('./exit-codes.js')
const {
  addFilters,
  checkNamed,
  examples,
  list,
  noSourceMaps,
  parseCount,
  parseStall,
  quiet,
} = require('./options.js')
const { printResult, writeStderr } = require('./terminal/output.js')
const { quoteAll } = require('./terminal/shell.js')

const INPUTS = 'files and folders; - is stdin'

/** @param {string[]} argv as in `process.argv` */
async function main(argv) {
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!isCommanderError(error)) throw error
    // Commander has printed its message. The exit code is 0 for help and version.
    if (error.exitCode !== 0) process.exitCode = WRONG_USAGE
  }
}

/** @param {unknown} error @returns {error is import('commander').CommanderError} */
function isCommanderError(error) {
  return error instanceof Error && error.constructor.name === 'CommanderError'
}

/** @returns {Command} */
function createProgram() {
  /** @type {Command} */
  const program = new Command('cpu-prof')
    .description('Profile any Node.js program, with all its workers and child processes.')
    .version(require('../package.json').version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help; after a command, its help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: printResult,
      writeErr: writeStderr,
      outputError: (text, write) => write(text.replace(/^error: /, 'cpu-prof: ')),
    })
    .argument('[command]')
    .usage('<command> [options] …')
    .action(() => withoutCommand(program))
    .addHelpText('after', examples(['cpu-prof run npm test', 'cpu-prof report profiles']))

  addRun(program)
  addMerge(program)
  addReport(program)
  addCompare(program)
  addConvert(program)
  addCheck(program)
  // Set last, because commands inherit the settings when they are added.
  return program.allowExcessArguments().allowUnknownOption()
}

/** Answers words that do not begin with a command. @param {Command} program */
function withoutCommand(program) {
  const [first] = program.args
  if (first === undefined) return program.help({ error: true })
  if (first.startsWith('-')) program.error(`error: unknown option '${first}'; see cpu-prof --help`)
  const npx = isPackageCommand(first) ? 'npx ' : ''
  program.error(
    `error: ${first} is not a command of cpu-prof (run, merge, report, compare, convert, check); ` +
      `to profile a program: cpu-prof run ${npx}${quoteAll(program.args)}`,
  )
}

/** Returns whether a package of the working directory has a command of this name. @param {string} name */
function isPackageCommand(name) {
  return require('node:fs').existsSync(`node_modules/.bin/${name}`)
}

/** @param {Command} program */
function addRun(program) {
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
    .option('-o, --output <file>', 'the trace; .gz compresses it (default: trace.json in --dir)')
    .option('--no-merge', 'keep only the recordings: no trace, no report')
    .option('--keep-recordings', 'keep the recordings beside the trace')
    .option('--html <file>', 'also write a page for a browser, as report --html does')
    .addOption(
      new Option('--repeat <n>', 'run the command n times, for compare: each in a folder in --dir')
        .argParser(parseCount)
        .conflicts(['output', 'html']),
    )
    .option('--warmup <n>', 'with --repeat, runs before that do not count', parseCount)
    .addOption(noSourceMaps())
    .addOption(quiet())
  for (const { flag, value, help } of Object.values(SETTINGS)) {
    if (flag !== undefined) command.option(`${flag} ${value}`, help)
  }
  command
    .action((words, options) => require('./commands/run.js').run(words, options))
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

/** @param {Command} program */
function addMerge(program) {
  const command = program
    .command('merge')
    .summary('merge recordings into one trace for Chrome DevTools')
    .description(
      'Merges recordings into one trace for Chrome DevTools, and prints its path. Reads traces ' +
        '(torn ones and those of other programs too) and .cpuprofile files, plain or gzipped, and ' +
        'folders of them.',
    )
    .argument('[input...]', INPUTS)
    .requiredOption('-o, --output <file>', 'the trace; .gz compresses it, - is stdout')
  addFilters(command)
  command
    .addOption(list('--name <label=input>', 'an input whose processes have this label', checkNamed))
    .addOption(
      new Option('--align <where>', 'move all inputs to the start of the first').choices(['start']),
    )
    .option('--interval <µs>', 'fewer samples with the same totals: microseconds', parseCount)
    .option('--drop-idle', 'leave out threads that hardly worked (1 % of the CPU time together)')
    .addOption(list('--categories <list>', "only these categories of other tools' events: a,b"))
    .option('--split', 'write several files that DevTools can open: name.1.json, name.2.json, …')
    .option('--json', 'print the result as JSON')
    .addOption(quiet('print the result and problems only'))
    .action((inputs, options) => require('./commands/merge.js').merge(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof merge profiles -o trace.json',
        'cpu-prof merge a.trace.json b.cpuprofile.gz -o both.json.gz',
        'cpu-prof merge profiles -o start.json --to 10s',
        'cpu-prof merge profiles -o end.json --from -10s',
        'cpu-prof merge trace.json -o small.json --process eslint --interval 5000',
        'cpu-prof merge --name base=profiles/a --name head=profiles/b --align start -o both.json',
      ]),
    )
}

/** @param {Command} program */
function addReport(program) {
  const by = new Option('--by <what>', 'only the table of this')
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
    .option('--top <n>', 'rows of each table (default: as many as fit the screen)', parseCount)
    .addOption(
      by.choices(['function', 'line', 'file', 'package', 'owner', 'script', 'import', 'thread']),
    )
    .addOption(
      new Option(
        '--function <text>',
        'callers, callees and lines of a function: its name or path:line',
      ).conflicts(['by', 'tree']),
    )
    .addOption(new Option('--tree', 'the heaviest paths of the call tree').conflicts('by'))
    .addOption(
      new Option(
        '--stalls [ms]',
        'the longest times without a turn of the event loop (50 ms and more)',
      )
        .argParser(parseStall)
        .preset('50')
        .conflicts(['by', 'function', 'tree']),
    )
  addFilters(command)
    .addOption(json.conflicts('markdown'))
    .option('--markdown', 'print Markdown tables')
    .option('--code', 'also the code of the hottest lines')
    .addOption(
      new Option('--budget <tokens>', 'Markdown of this size: tables, paths, callers')
        .argParser(parseCount)
        .conflicts(['json', 'by', 'top', 'function', 'tree', 'stalls']),
    )
    .addOption(
      new Option(
        '--html <file>',
        'write a page for a browser: time line, flame graph, tables; - is stdout',
      ).conflicts([
        'json',
        'markdown',
        'by',
        'top',
        'function',
        'tree',
        'stalls',
        'budget',
        'code',
      ]),
    )
    .action((inputs, options) => require('./commands/report.js').report(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof report',
        'cpu-prof report profiles --by package --top 40',
        'cpu-prof report profiles --function renderTable',
        'cpu-prof report trace.json --markdown > report.md',
        'cpu-prof report profiles --html report.html',
      ]),
    )
}

/** @param {Command} program */
function addCompare(program) {
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
      list('--fail-on <rule>', 'exit with 3 if this is exceeded: total>5%, function:name>20ms, …'),
    )
    .option('--shares', 'compare shares of the work, for machines that are not equally fast')
    .option('--top <n>', 'rows of each table (default: 10)', parseCount)
    .option('--runs <n>', 'run both commands this often, in turn (A B B A …)', parseCount)
    .option('--warmup <n>', 'runs of each command before, which do not count', parseCount)
    .option('--dir <folder>', 'folder of the runs of --runs (default: profiles/<date>)')
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
    .action((words, options) => require('./commands/compare.js').compare(words, options))
    .addHelpText(
      'after',
      `\nExit code: 3 if a rule of --fail-on is broken.\n${examples([
        'cpu-prof compare base head',
        'cpu-prof compare base head --fail-on "total>5%" --markdown > comment.md',
        "cpu-prof compare --runs 7 -- 'node old.js' -- 'node new.js'",
      ])}`,
    )
}

/** @param {Command} program */
function addConvert(program) {
  const command = program
    .command('convert')
    .summary("convert recordings to another tool's format")
    .description(
      'Converts traces and .cpuprofile files, plain or gzipped, and prints the paths of the files ' +
        "written. The output's ending selects the format:\n" +
        '  .json                     a trace for Chrome DevTools\n' +
        '  .cpuprofile               one file for each thread\n' +
        '  .collapsed .folded .txt   stacks for FlameGraph or inferno\n' +
        '  .speedscope.json          for speedscope',
    )
    .argument('<input...>', INPUTS)
    .requiredOption('-o, --output <file>', 'the file to write; .gz compresses it')
  addFilters(command)
    .addOption(quiet())
    .action((inputs, options) => require('./commands/convert.js').convert(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof convert trace.json -o stacks.collapsed',
        'cpu-prof convert CPU.cpuprofile -o trace.json.gz',
      ]),
    )
}

/** @param {Command} program */
function addCheck(program) {
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
    .action((inputs, options) => require('./commands/check.js').check(inputs, options))
    .addHelpText(
      'after',
      `\nExit code: 1 if a file cannot be loaded, or has an error.\n${examples(['cpu-prof check trace.json'])}`,
    )
}

module.exports = { main }
