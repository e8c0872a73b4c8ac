'use strict'

// The program `cpu-prof`: its commands, its help, and the answer to words that are no command.

const { Command, CommanderError } = require('commander')
const { UNUSABLE } = require('../lib/addon.js')
const commands = require('./commands/index.js')
const { WRONG_USAGE } = require('./exit-codes.js')
const { examples } = require('./options.js')
const { failWith, printResult, writeStderr } = require('./terminal/output.js')
const { quoteAll } = require('./terminal/shell.js')

/** The options that print the help. */
const HELP = ['-h', '--help']

/** Runs a command. Rejects with an error that the command does not expect. @param {string[]} argv as in `process.argv` */
async function main(argv) {
  try {
    await createProgram(argv.slice(2)).parseAsync(argv)
  } catch (error) {
    if (/** @type {any} */ (error)?.code === UNUSABLE) return failWith(error)
    if (!(error instanceof CommanderError)) throw error
    // Commander has printed its message. The exit code is 0 for help and version.
    if (error.exitCode !== 0) process.exitCode ??= WRONG_USAGE
  }
}

/** @param {string[]} words @returns {Command} */
function createProgram(words) {
  /** @type {Command} */
  const program = new Command('cpu-prof')
    .description('Profile any Node.js program, with all its workers and child processes.')
    .version(require('../package.json').version, '-V, --version', 'print the version')
    .helpOption(HELP.join(', '), 'print this help; after a command, its help')
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
    .action(() => answerWithoutCommand(program))
    .addHelpText('after', examples(['cpu-prof run npm test', 'cpu-prof report profiles']))

  for (const { define } of commands) define(program, (name) => asksFor(name, words))
  // Set last, because commands inherit the settings when they are added.
  return program.allowExcessArguments().allowUnknownOption()
}

/** Returns whether words ask for a command, or for the help, which lists all. @param {string} name @param {string[]} words */
function asksFor(name, words) {
  const [first = HELP[0]] = words
  return (
    first === name ||
    (first.startsWith('-') && HELP.some((flag) => [first, ...words].includes(flag)))
  )
}

/** Answers words that do not begin with a command. @param {Command} program */
function answerWithoutCommand(program) {
  const [first] = program.args
  if (first === undefined) return program.help({ error: true })
  if (first.startsWith('-')) program.error(`error: unknown option '${first}'; see cpu-prof --help`)
  const names = program.commands.map((command) => command.name()).join(', ')
  // A package of the working directory can have a command of this name.
  const npx = require('node:fs').existsSync(`node_modules/.bin/${first}`) ? 'npx ' : ''
  program.error(
    `error: ${first} is not a command of cpu-prof (${names}); ` +
      `to profile a program: cpu-prof run ${npx}${quoteAll(program.args)}`,
  )
}

module.exports = { main }
