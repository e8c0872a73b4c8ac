'use strict'

// The command `cpu-prof lake compact`: its options and its help.

const { InvalidArgumentError, Option } = require('commander')
const { examples, quietOption } = require('../../options.js')

/** Milliseconds of the units of an age. @type {Record<string, number>} */
const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** @param {import('commander').Command} lake */
function define(lake) {
  lake
    .command('compact')
    .summary('make one file of the runs of a day')
    .description(
      'Makes one file of the runs of each repository and day, so that questions to many runs are answered ' +
        'faster. No run is lost or counted twice meanwhile, and also not if the command is killed. Needs ' +
        'the package @duckdb/node-api.',
    )
    .argument('[lake]', 'a folder, or s3://<bucket>/<folder> (default: CPU_PROF_LAKE)')
    .addOption(
      new Option('--older-than <age>', 'only days that began longer ago, such as 12h or 7d')
        .argParser(parseAge)
        .default(UNITS.d, '1d: all but today'),
    )
    .option('--repo <name>', 'only this repository')
    .addOption(
      new Option('--grace <age>', 'keep what was replaced as long, for those who still read it')
        .argParser(parseAge)
        .default(UNITS.h, '1h'),
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

/** Returns milliseconds. @param {string} text */
function parseAge(text) {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (unit === undefined) throw new InvalidArgumentError('Use an age such as 30m, 12h or 7d.')
  return Number(number) * UNITS[unit]
}

module.exports = { define }
