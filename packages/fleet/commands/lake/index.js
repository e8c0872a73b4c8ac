'use strict'

// The command `cpu-prof lake`: its commands, and the help that they share.

const { examples } = require('@org/cpu-prof/own-packages').options

/** The commands in the order of the help. @type {{ define: (lake: import('commander').Command) => void }[]} */
const COMMANDS = [
  require('./add.js'),
  require('./top.js'),
  require('./trend.js'),
  require('./blame.js'),
  require('./compare.js'),
  require('./sql.js'),
  require('./compact.js'),
]

/** @param {import('commander').Command} program */
function define(program) {
  const lake = program
    .command('lake')
    .summary('keep many runs, and ask when and where something got slower')
    .description(
      'Keeps the runs of a fleet in a folder or an object store, as Parquet files that DuckDB, Spark and ' +
        'ClickHouse read, and answers questions about all of them.',
    )
    .usage('<command> [options]')
    .addHelpText('after', examples(['cpu-prof lake add profiles/run --to lake']))
  for (const command of COMMANDS) command.define(lake)
}

module.exports = { define }
