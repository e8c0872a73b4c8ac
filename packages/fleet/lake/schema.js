'use strict'

// The tables of a lake and their columns, in DuckDB's types.

/** @typedef {'functions' | 'groups' | 'threads' | 'stacks' | 'stack_times'} TableName */
/** @typedef {[name: string, type: string]} Column */

/** What each row of some tables tells about its run. @type {Column[]} */
const FACTS = [
  ['run_id', 'VARCHAR'],
  ['started_at', 'TIMESTAMP'],
  ['commit', 'VARCHAR'],
  ['commit_seq', 'INTEGER'],
  ['branch', 'VARCHAR'],
  ['job', 'VARCHAR'],
  ['host', 'VARCHAR'],
  ['node', 'VARCHAR'],
  ['tool', 'VARCHAR'],
  ['busy_us', 'BIGINT'],
  ['duration_us', 'BIGINT'],
  ['samples_run', 'BIGINT'],
  ['interval_us', 'INTEGER'],
]

/** @type {Record<TableName, Column[]>} */
const COLUMNS = {
  functions: [
    ...FACTS,
    ['function_id', 'INTEGER'],
    ['package', 'VARCHAR'],
    ['file', 'VARCHAR'],
    ['function', 'VARCHAR'],
    ['line', 'INTEGER'],
    ['col', 'INTEGER'],
    ['self_us', 'BIGINT'],
    ['total_us', 'BIGINT'],
    ['samples', 'BIGINT'],
  ],
  groups: [
    ...FACTS,
    ['kind', 'VARCHAR'],
    ['sort', 'VARCHAR'],
    ['name', 'VARCHAR'],
    ['self_us', 'BIGINT'],
    ['total_us', 'BIGINT'],
  ],
  threads: [
    ['run_id', 'VARCHAR'],
    ['thread', 'INTEGER'],
    ['pid', 'BIGINT'],
    ['tid', 'BIGINT'],
    ['process', 'VARCHAR'],
    ['thread_name', 'VARCHAR'],
    ['start_us', 'BIGINT'],
    ['end_us', 'BIGINT'],
    ['busy_us', 'BIGINT'],
    ['gc_us', 'BIGINT'],
    ['program_us', 'BIGINT'],
    ['blocked_us', 'BIGINT'],
    ['idle_us', 'BIGINT'],
    ['cpu_us', 'BIGINT'],
  ],
  stacks: [
    ['run_id', 'VARCHAR'],
    ['stack_id', 'INTEGER'],
    ['frames', 'INTEGER[]'],
  ],
  stack_times: [
    ['run_id', 'VARCHAR'],
    ['thread', 'INTEGER'],
    ['bucket_us', 'BIGINT'],
    ['stack_id', 'INTEGER'],
    ['line', 'INTEGER'],
    ['self_us', 'BIGINT'],
    ['samples', 'INTEGER'],
  ],
}

const TABLES = /** @type {TableName[]} */ (Object.keys(COLUMNS))

/** The columns that only the path has. @type {Column[]} */
const OF_PATH = [
  ['repo', 'VARCHAR'],
  ['date', 'DATE'],
]

/** Returns the columns of a view. @param {TableName} table @returns {Column[]} */
const columnsOf = (table) => [...COLUMNS[table], ...OF_PATH]

module.exports = { TABLES, COLUMNS, columnsOf }
