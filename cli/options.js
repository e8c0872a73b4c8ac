'use strict'

// The options that several commands have, and the checks of their values.

const { InvalidArgumentError, Option } = require('commander')
const { loadTools } = require('../lib/addon.js')
const { FAILED } = require('./exit-codes.js')
const { messageOf } = require('./terminal/output.js')

/** @typedef {import('commander').Command} Command */

/** The help of the argument. */
const INPUTS = 'files and folders; - is stdin'

/** Adds the options that choose what is read. @param {Command} command */
function addFilters(command) {
  const start =
    "start of the slice after the first recording's start: 1500, 1500ms or 1.5s; -10s counts " +
    'from the end'
  const place = 'a function with this text in its name or its path:line'
  const options = [
    new Option('--from <time>', start).argParser(parseTime),
    new Option('--to <time>', 'end of the slice, likewise').argParser(parseTime),
    listOption(
      '--process <text>',
      'only processes with this text in their command, or with this pid',
    ),
    listOption(
      '--thread <text>',
      'only threads with this text in their name, or with this thread id',
    ),
    listOption('--package <name>', 'only stacks with a function of this package'),
    listOption('--focus <text>', `only stacks with ${place}`),
    listOption('--ignore <text>', `no stacks with ${place}`),
    listOption(
      '--label <key=value>',
      'only samples with this label; key= for those without',
      checkLabel,
    ),
    sourceMapsOption(),
  ]
  for (const option of options) command.addOption(option)
  return command
}

/**
 * Returns an option that can come several times, or with a list.
 * @param {string} flag @param {string} help @param {(text: string) => void} [check] throws if a text
 *   is invalid
 */
function listOption(flag, help, check = () => {}) {
  /** @param {string} text @param {string[]} [before] */
  const collect = (text, before = []) => {
    check(text)
    const texts = flag.endsWith('<list>') ? text.split(',') : [text]
    return [...before, ...texts.filter((each) => each !== '')]
  }
  return new Option(flag, help).argParser(collect)
}

function quietOption(help = 'print problems only') {
  return new Option('-q, --quiet', help)
}

function sourceMapsOption() {
  return new Option('--no-source-maps', 'places in the code that ran, not in its sources')
}

/** Returns the end of a help. @param {string[]} lines */
function examples(lines) {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** @param {string} text */
function checkLabel(text) {
  const { isLabel } = require('../lib/offline.js')
  if (!isLabel(text)) throw new InvalidArgumentError('Use a key and a value: route=/users.')
}

/** Returns milliseconds; negative ones count from the end. @param {string} text */
function parseTime(text) {
  const match = /^(-?\d+(?:\.\d+)?)(ms|s)?$/.exec(text)
  if (match === null) {
    throw new InvalidArgumentError('Use a time such as 1500, 1500ms, 1.5s, or -10s from the end.')
  }
  return Number(match[1]) * (match[2] === 's' ? 1000 : 1)
}

/** @param {string} text */
function parseCount(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.')
  return Number(text)
}

/**
 * Completes a command by what only the addon knows, when the command is called: the help of the program
 * and the other commands need no addon.
 * @param {Command} program @param {Command} command @param {(addon: any) => void} complete
 */
function completeWhenCalled(program, command, complete) {
  program.hook('preSubcommand', (_, called) => {
    if (called !== command) return
    try {
      complete(loadTools())
    } catch (error) {
      // Not wrong usage.
      process.exitCode = FAILED
      command.error(`error: ${messageOf(error).split('\n', 1)[0]}`)
    }
  })
}

module.exports = {
  INPUTS,
  addFilters,
  completeWhenCalled,
  examples,
  listOption,
  parseCount,
  quietOption,
  sourceMapsOption,
}
