'use strict'

// The command `cpu-prof convert`: its options and its help.

const { loadTools } = require('../../lib/addon.js')
const { INPUTS, addFilters, examples, quietOption } = require('../options.js')

/** Column of the descriptions of formats. */
const COLUMN = 26

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('convert')
    .summary("convert recordings to another tool's format")
    .description(
      'Converts traces and .cpuprofile files, plain or gzipped, and prints the paths of the files ' +
        `written. The output's ending selects the format:\n${describeFormats()}`,
    )
    .argument('<input...>', INPUTS)
    .requiredOption('-o, --output <file>', 'the file to write; .gz compresses it')
  addFilters(command)
    .addOption(quietOption())
    .action((inputs, options) => require('../convert/convert.js').convert(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof convert trace.json -o stacks.collapsed',
        'cpu-prof convert CPU.cpuprofile -o trace.json.gz',
      ]),
    )
}

/** Returns a line for each format that the addon writes. */
function describeFormats() {
  /** @type {{ endings: string[], about: string }[]} */
  const formats = JSON.parse(loadTools().cpuProfFormats())
  const line = (/** @type {typeof formats[number]} */ { endings, about }) =>
    `  ${endings.join(' ').padEnd(COLUMN)}${about}`
  return formats.map(line).join('\n')
}

module.exports = { define }
