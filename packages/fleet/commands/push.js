'use strict'

// The command `cpu-prof push`: its options and its help.

const { InvalidArgumentError, Option } = require('@org/cpu-prof/own-packages').commander
const { INPUTS, addFilters, addLength, examples, quietOption } =
  require('@org/cpu-prof/own-packages').options

/** The longest slice: a timer of Node takes no more than 24 days. */
const LONGEST = '24d'

/** @param {import('commander').Command} program */
function define(program) {
  const command = program
    .command('push')
    .summary('send profiles to Pyroscope or to OpenTelemetry')
    .description(
      'Sends recordings to a server of profiles, in slices of time: to Pyroscope as pprof, or to a ' +
        'collector of OpenTelemetry as profiles (experimental), if the address ends in /profiles. With ' +
        '--follow, recordings are sent while they are written. Merged traces, .cpuprofile and pprof files ' +
        'are sent as one slice each.\n\n' +
        'CPU_PROF_PUSH_HEADERS names headers of each request, which can be secrets: ' +
        '"Authorization=Bearer …,X-Scope-OrgID=team". CPU_PROF_PUSH_CA names a file (PEM) with the ' +
        'certificates of your own authority.',
    )
    .argument('<input...>', INPUTS)
    .option('--to <url>', 'send to this address (default: CPU_PROF_PUSH)')
    .addOption(
      new Option('--as <format>', 'send to this kind of server (default: by the address)').choices([
        'pyroscope',
        'otlp',
      ]),
    )
    .option(
      '--service <name>',
      'send under this name of a service (default: CPU_PROF_PUSH_SERVICE, or the process)',
    )
    .option(
      '--tag <key=value>',
      'add this label to all profiles; can be given several times',
      collectTag,
    )
  addLength(command, '--every <length>', 'send a slice of this length at a time', {
    usual: '10s',
    most: LONGEST,
  })
  command.option('--follow', 'send what is recorded from now on, until all recordings have ended')
  addFilters(command, { hasSlice: false })
    .option('--json', 'print JSON: what was sent')
    .addOption(quietOption())
    .action((inputs, options) => require('../push/push.js').push(inputs, options))
    .addHelpText(
      'after',
      examples([
        'cpu-prof push profiles/run --to http://localhost:4040 --service shop',
        'cpu-prof push profiles --follow --to https://pyroscope.example.org --tag region=eu',
        'cpu-prof push trace.json --to http://localhost:4318/v1development/profiles',
      ]),
    )
}

/** @param {string} text @param {Record<string, string>} [before] */
function collectTag(text, before = {}) {
  const [, key, value] = /^([a-zA-Z_][a-zA-Z0-9_.]*)=(.+)$/s.exec(text) ?? []
  if (key === undefined) throw new InvalidArgumentError('Use a key and a value: region=eu.')
  return { ...before, [key]: value }
}

module.exports = { define }
