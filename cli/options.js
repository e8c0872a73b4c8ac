'use strict'

// Options that several commands have, and the checks of their values.

const { InvalidArgumentError, Option } = require('commander')

/** @typedef {import('commander').Command} Command */

/** Adds the options that choose what is read. @param {Command} command */
function addFilters(command) {
  const place = 'a function with this text in its name or its path:line'
  const options = [
    list('--process <text>', 'only processes with this text in their command, or with this pid'),
    list('--thread <text>', 'only threads with this text in their name, or with this thread id'),
    list('--package <name>', 'only stacks with a function of this package'),
    list('--focus <text>', `only stacks with ${place}`),
    list('--ignore <text>', `no stacks with ${place}`),
  ]
  for (const option of [from(), to(), ...options, noSourceMaps()]) command.addOption(option)
  return command
}

/**
 * Returns an option that can come several times, or with a list.
 * @param {string} flag @param {string} help @param {(text: string) => void} [check] throws if a text
 *   is invalid
 */
function list(flag, help, check = () => {}) {
  /** @param {string} text @param {string[]} [before] */
  const collect = (text, before = []) => {
    check(text)
    const texts = flag.endsWith('<list>') ? text.split(',') : [text]
    return [...before, ...texts.filter((each) => each !== '')]
  }
  return new Option(flag, help).argParser(collect)
}

function quiet(help = 'print problems only') {
  return new Option('-q, --quiet', help)
}

function noSourceMaps() {
  return new Option('--no-source-maps', 'places in the code that ran, not in its sources')
}

function from() {
  const help =
    "start of the slice after the first recording's start: 1500, 1500ms or 1.5s; -10s counts " +
    'from the end'
  return new Option('--from <time>', help).argParser(parseTime)
}

function to() {
  return new Option('--to <time>', 'end of the slice, likewise').argParser(parseTime)
}

/** @param {string[]} lines */
function examples(lines) {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** Returns milliseconds; negative ones count from the end. @param {string} text */
function parseTime(text) {
  const match = /^(-?\d+(?:\.\d+)?)(ms|s)?$/.exec(text)
  if (match === null) {
    throw new InvalidArgumentError('Use a time such as 1500, 1500ms, 1.5s, or -10s from the end.')
  }
  return Number(match[1]) * (match[2] === 's' ? 1000 : 1)
}

/** Returns milliseconds. @param {string} text */
function parseStall(text) {
  if (!/^\d+$/.test(text)) {
    throw new InvalidArgumentError('Use milliseconds, or put the inputs before --stalls.')
  }
  return Number(text)
}

/** Throws unless a text is a label with an input. @param {string} text */
function checkNamed(text) {
  if (!/^[^=]+=./.test(text)) {
    throw new InvalidArgumentError('Use a label and an input, such as base=profiles/a.')
  }
}

/** @param {string} text */
function parseCount(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.')
  return Number(text)
}

module.exports = {
  addFilters,
  checkNamed,
  examples,
  list,
  noSourceMaps,
  parseCount,
  parseStall,
  quiet,
}
