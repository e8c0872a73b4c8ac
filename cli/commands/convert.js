'use strict'

// The command `cpu-prof convert`: its options and its help.

const { INPUTS, addFilters, completeWhenCalled, examples, quietOption } = require('../options.js')

/** Column of the descriptions of formats. */
const COLUMN = 26

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('convert')
    .summary("convert recordings to another tool's format")
    .argument('<input...>', INPUTS)
    .requiredOption('-o, --output <file>', 'write this file; .gz compresses it')
  completeWhenCalled(program, command, (addon) =>
    command.description(
      'Converts traces, .cpuprofile and pprof files, plain or gzipped, and prints the paths of the files ' +
        `written. The output's ending selects the format:\n${describeFormats(addon)}`,
    ),
  )
  addFilters(command)
    .addOption(quietOption())
    .action((inputs, options) => require('../convert/convert.js').convert(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof convert trace.json -o stacks.collapsed',
        'cpu-prof convert CPU.cpuprofile -o trace.json.gz',
        'cpu-prof convert trace.json -o run.pb.gz',
      ]),
    )
}

/** Returns a line for each format that the addon writes. @param {import('../../lib/addon.js').Tools} addon */
function describeFormats(addon) {
  const { parsed } = require('../../lib/json-result.js')
  /** @type {{ endings: string[], about: string }[]} */
  const formats = parsed(addon.cpuProfFormats())
  const line = (/** @type {typeof formats[number]} */ { endings, about }) =>
    `  ${endings.join(' ').padEnd(COLUMN)}${about}`
  return formats.map(line).join('\n')
}

module.exports = { define }
