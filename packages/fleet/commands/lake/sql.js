'use strict'

// The command `cpu-prof lake sql`: its options and its help.

const { Option } = require('@org/cpu-prof/own-packages').commander
const { examples } = require('@org/cpu-prof/own-packages').options
const { LAKE } = require('./questions.js')

/** @param {import('commander').Command} lake */
function define(lake) {
  lake
    .command('sql')
    .summary('ask a question of your own, in SQL')
    .description(
      "Runs one statement of DuckDB's SQL that reads. The tables are functions, groups, threads, stacks and " +
        'stack_times. No other files can be read, and none written.',
    )
    .usage('[options] [lake] <query>')
    .argument('<words...>', `the lake, ${LAKE}, and the statement`)
    .addOption(new Option('--json', 'print JSON: an array of rows').conflicts('csv'))
    .option('--csv', 'print CSV')
    .action((words, options) => require('../../lake/sql.js').sql(words, options))
    .addHelpText(
      'after',
      examples([
        "cpu-prof lake sql lake 'SELECT branch, count(*) FROM groups WHERE kind = $$run$$ GROUP BY branch'",
        "cpu-prof lake sql lake 'SELECT package, sum(self_us) FROM functions GROUP BY ALL' --csv",
      ]),
    )
}

module.exports = { define }
