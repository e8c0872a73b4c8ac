'use strict'

// Commands, options and help. What a command does is loaded when it is called: `run` stands before
// other people's commands, and shall not keep them waiting.

const { Command, InvalidArgumentError, Option } = require('commander')
const { print, write } = require('./terminal/output.js')

const WRONG_USAGE = 2

/** @param {string[]} argv as in `process.argv` */
async function main(argv) {
  try {
    await program().parseAsync(argv)
  } catch (error) {
    if (!isCommanderError(error)) throw error
    // Help and version that were asked for are no errors; Commander has printed whatever it was.
    if (error.exitCode !== 0) process.exitCode = WRONG_USAGE
  }
}

/** @param {unknown} error @returns {error is import('commander').CommanderError} */
function isCommanderError(error) {
  return error instanceof Error && error.constructor.name === 'CommanderError'
}

/** @returns {Command} */
function program() {
  /** @type {Command} */
  const program = new Command('cpu-prof')
    .description('Profile any Node.js program, with all its workers and child processes.')
    .version(require('../package.json').version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help; after a command, its help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: write,
      outputError: (text, write) => write(text.replace(/^error: /, 'cpu-prof: ')),
    })
    .argument('[command]')
    .usage('<command> [options] …')
    .action((command) => {
      if (command === undefined) return program.help({ error: true })
      program.error(
        `error: '${command}' is none of its commands, which are run, merge, report and convert ` +
          `(to profile a program: cpu-prof run ${command} …)`,
      )
    })
    .addHelpText('after', examples(['cpu-prof run npm test', 'cpu-prof report profiles']))

  addRun(program)
  addMerge(program)
  addReport(program)
  addConvert(program)
  // After them, who would take it over.
  return program.allowExcessArguments()
}

/** @param {Command} program */
function addRun(program) {
  program
    .command('run')
    .summary('run a command, and record every Node process and thread under it')
    .description(
      'Runs a command, and records every Node process and thread under it. When it ends, the ' +
        'recordings become one trace for Chrome DevTools. The command keeps its input and output, ' +
        'its exit code and its signals; all that is said here goes to stderr.',
    )
    .usage('[options] [--] <command…>')
    .argument('<command...>', 'the command and its own options')
    .passThroughOptions()
    .option('-o, --output <file>', 'the trace; .gz compresses it (default: trace.json in --dir)')
    .option('--dir <dir>', "the recordings' folder (default: profiles/<date.time.pid>)")
    .option('--no-merge', 'leave it at the recordings: no trace, no report')
    .option('-q, --quiet', 'say nothing unless something is wrong')
    .option('--interval <µs>', 'microseconds between two samples (default: 1000)')
    .option('--format <format>', 'trace, cpuprofile or trace,cpuprofile (default: trace)')
    .option('--flush-interval <ms>', 'milliseconds between two writes (default: 500)')
    .option('--source <source>', 'where samples come from (default: auto)')
    .option('--name <pattern>', "the recordings' names (default: CPU.%D.%H.%P.%T.%N)")
    .option('--ignore-list <how>', 'auto, keep or show node_modules in DevTools (default: auto)')
    .option('--max-nodes <n>', 'call-tree nodes that are remembered (default: 200000)')
    .action((command, options) => require('./commands/run.js').run(command, options))
    .addHelpText(
      'after',
      `
Without an option, its CPU_PROF_ variable counts (CPU_PROF_INTERVAL, …).
Exit code: the command's own; 127 if there is no such program, 126 if it cannot be run.
${examples([
  'cpu-prof run node main.js --port 80',
  'cpu-prof run npx nx run-many -t lint',
  'cpu-prof run --interval 200 --output build.json.gz -- npm run build',
])}`,
    )
}

/** @param {Command} program */
function addMerge(program) {
  program
    .command('merge')
    .summary('merge recordings into one trace for Chrome DevTools')
    .description(
      'Merges recordings into one trace for Chrome DevTools: traces (also torn ones, and those of ' +
        'other programs) and .cpuprofile files, plain or gzipped, and folders of them. Prints the ' +
        "trace's path.",
    )
    .argument('<input...>', 'files and folders')
    .requiredOption('-o, --output <file>', 'the trace; .gz compresses it')
    .option('--from <time>', 'leave out what was before: 1500, 1500ms or 1.5s from the start', time)
    .option('--to <time>', 'leave out what came after', time)
    .option('--split', 'several files of a size that DevTools takes: name.1.json, name.2.json, …')
    .option('--json', 'print what was done as JSON')
    .option('-q, --quiet', 'say nothing unless something is wrong')
    .action((inputs, options) => require('./commands/merge.js').merge(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof merge profiles -o trace.json',
        'cpu-prof merge a.trace.json b.cpuprofile.gz -o both.json.gz',
        'cpu-prof merge profiles -o start.json --to 10s',
      ]),
    )
}

/** @param {Command} program */
function addReport(program) {
  const by = new Option('--by <what>', 'only this: function, file, package or thread')
  const json = new Option('--json', 'all of it as JSON (its shape is Report in index.d.ts)')
  program
    .command('report')
    .summary('say where the time went')
    .description(
      'Says where the time of recordings went: by process and thread, function and package. Takes ' +
        'what merge takes.',
    )
    .argument('<input...>', 'files and folders')
    .option('--top <n>', 'lines of a table (default: what fits the screen)', count)
    .addOption(by.choices(['function', 'file', 'package', 'thread']))
    .option('--from <time>', 'leave out what was before: 1500, 1500ms or 1.5s from the start', time)
    .option('--to <time>', 'leave out what came after', time)
    .addOption(json.conflicts(['markdown', 'by']))
    .option('--markdown', 'as Markdown tables')
    .action((inputs, options) => require('./commands/report.js').report(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof report profiles',
        'cpu-prof report profiles --by package --top 40',
        'cpu-prof report trace.json --markdown > report.md',
      ]),
    )
}

/** @param {Command} program */
function addConvert(program) {
  program
    .command('convert')
    .summary("convert a recording into another tool's format")
    .description(
      "Converts a trace or a .cpuprofile, plain or gzipped, by the output's ending:\n" +
        '  .json              a trace for Chrome DevTools\n' +
        '  .cpuprofile        a file a thread\n' +
        '  .collapsed .folded .txt   stacks for FlameGraph or inferno\n' +
        '  .speedscope.json   for speedscope\n' +
        'Prints the paths of what it wrote.',
    )
    .argument('<input>', 'a file')
    .requiredOption('-o, --output <file>', 'the file to be written; .gz compresses it')
    .option('-q, --quiet', 'say nothing unless something is wrong')
    .action((input, options) => require('./commands/convert.js').convert(input, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof convert trace.json -o stacks.collapsed',
        'cpu-prof convert CPU.cpuprofile -o trace.json.gz',
      ]),
    )
}

/** @param {string[]} lines */
function examples(lines) {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** Milliseconds. @param {string} text */
function time(text) {
  const match = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text)
  if (match === null) throw new InvalidArgumentError('A time is like 1500, 1500ms or 1.5s.')
  return Number(match[1]) * (match[2] === 's' ? 1000 : 1)
}

/** @param {string} text */
function count(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.')
  return Number(text)
}

module.exports = { main, WRONG_USAGE }
