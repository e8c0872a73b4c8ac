'use strict'

// The command `cpu-prof lake sql`: its options and its help.

const { Option } = require('@org/cpu-prof/own-packages').commander
const { examples, kindOption } = require('@org/cpu-prof/own-packages').options
const { DIALECTS } = require('../../lake/query/dialects.js')
const { KINDS, LAKE, NAMED, addItem, addScope, addTop } = require('./questions.js')

/** @param {import('commander').Command} lake */
function define(lake) {
  const command = lake
    .command('sql')
    .summary('ask a question of your own in SQL, or print the SQL of a question')
    .description(
      "Runs one statement of DuckDB's SQL that reads, or prints the SQL of a question (top, trend, compare) " +
        'for DuckDB, Spark or ClickHouse. The tables are functions, groups, threads, stacks and stack_times. ' +
        'No other files can be read, and none written.',
    )
    .usage('[options] [lake] <query>')
    .argument('<words...>', `the lake, ${LAKE}, and a statement or a question`)
    .addOption(new Option('--json', 'print JSON: an array of rows').conflicts('csv'))
    .option('--csv', 'print CSV')
    .addOption(
      new Option('--print', 'print the SQL of the question, with the files of the lake').conflicts([
        'json',
        'csv',
      ]),
    )
    .addOption(
      new Option('--engine <name>', 'use the SQL of this engine (default: duckdb)').choices(
        Object.keys(DIALECTS),
      ),
    )
    .addOption(
      kindOption('top, compare: rows of this kind; trend: points of this kind', [
        ...NAMED,
        'day',
        'commit',
      ]),
    )
  addItem(command, KINDS, 'trend: this')
    .option('--base <selector>', 'compare: these runs as base')
    .option('--head <selector>', 'compare: these runs as head')
    .option('--absolute', 'trend, compare: times instead of shares of the work')
    .option('--total', 'trend: with all that it calls, instead of its self time')
  addTop(addScope(command))
    .action((words, options) => require('../../lake/sql.js').sql(words, options))
    .addHelpText(
      'after',
      examples([
        "cpu-prof lake sql lake 'SELECT branch, count(*) FROM groups WHERE kind = $$run$$ GROUP BY branch'",
        "cpu-prof lake sql lake 'SELECT package, sum(self_us) FROM functions GROUP BY ALL' --csv",
        'cpu-prof lake sql lake top --since 30d --engine spark --print',
      ]),
    )
}

module.exports = { define }
