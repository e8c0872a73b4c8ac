'use strict'

// The command `cpu-prof convert`: its options and its help.

const { INPUTS, addFilters, examples, quietOption } = require('../options.js')

/** @param {import('commander').Command} program */
function define(program) {
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

module.exports = { define }
