'use strict'

// The command `cpu-prof lake compact`: its options and its help.

const { addLength, examples, quietOption } = require('@org/cpu-prof/own-packages').options

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('compact')
    .summary('make one file of the runs of a day')
    .description(
      'Makes one file of the runs of each repository and day, so that questions to many runs are answered ' +
        'faster. No run is lost or counted twice meanwhile, and also not if the command is killed.',
    )
    .argument('[lake]', 'a folder, or s3://<bucket>/<folder> (default: CPU_PROF_LAKE)')
  addLength(
    command,
    '--older-than <age>',
    'compact only days that began longer ago, such as 12h or 7d',
    {
      least: '0d',
      usual: '1d',
      usualHelp: '1d: all but today',
    },
  ).option('--repo <name>', 'compact only this repository')
  addLength(
    command,
    '--grace <age>',
    'keep replaced files this long, for those who still read them',
    {
      least: '0d',
      usual: '1h',
    },
  )
    .option('--json', 'print JSON')
    .addOption(quietOption())
    .action((place, options) => require('../../lake/compact.js').compact(place, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof lake compact lake',
        'cpu-prof lake compact lake --older-than 7d --grace 1d',
      ]),
    )
}

module.exports = { define }
