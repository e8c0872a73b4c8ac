'use strict'

// The options that the questions to a lake have in common.

const { Option } = require('@org/cpu-prof/own-packages').commander
const { parseCount } = require('@org/cpu-prof/own-packages').options

/** What costs time, and has a row in a lake. */
const KINDS = /** @type {const} */ (['function', 'file', 'package', 'owner', 'label'])
/** Those that have one name: a label has a key, too. */
const NAMED = KINDS.filter((kind) => kind !== 'label')

/** The help of the argument. */
const LAKE = 'a folder, or s3://<bucket>/<folder> (default: CPU_PROF_LAKE)'

/** Adds the options that choose runs. @param {import('commander').Command} command */
function addScope(command) {
  return command
    .option(
      '--since <time>',
      'take runs from this day (UTC), or from this long before now: 30d, 2w, 12h',
    )
    .option('--until <time>', 'take runs until the end of this day, or until this long before now')
    .option('--repo <name>', 'take only runs of this repository')
    .option('--branch <name>', 'take only runs of this branch')
    .option('--job <name>', 'take only runs of this job')
    .option('--commit <hash>', 'take only runs of commits that begin with this hash')
    .option('--host <name>', 'take only runs on this host')
}

/**
 * Adds the options that name one item.
 * @param {import('commander').Command} command @param {readonly string[]} kinds @param {string} help
 */
function addItem(command, kinds, help) {
  for (const kind of kinds) {
    const name = kind === 'label' ? '<key=value>' : '<name>'
    const form = kind === 'function' ? ' (name, or file:name)' : ''
    const others = kinds.filter((other) => other !== kind)
    command.addOption(
      new Option(`--${kind} ${name}`, `${help} ${kind}${form}`).conflicts([...others]),
    )
  }
  return command
}

/** Adds the options of the output. @param {import('commander').Command} command */
function addOutput(command) {
  return command
    .addOption(new Option('--json', 'print JSON').conflicts('markdown'))
    .option('--markdown', 'print Markdown')
    .option('--html <file>', 'also write a page (-: print the page)')
}

/** @param {import('commander').Command} command */
function addTop(command) {
  return command.option('--top <n>', 'print this many rows of each table (default: 10)', parseCount)
}

module.exports = { KINDS, NAMED, LAKE, addItem, addOutput, addScope, addTop }
