'use strict'

// The columns of a lake's tables: what the addon writes, what the command line knows, and what the
// documentation and the job for Spark have.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { openStore } = require('../../base/store.js')
const { COLUMNS, TABLES } = require('../../lake/schema.js')
const { temporaryDirectory, PACKAGE } = require('../../../../__test__/helpers/files.js')
const { tablesOf } = require('../helpers/lake-tables.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { writeTrace } = require('../../../../__test__/helpers/written.js')

/** @param {string} file */
const read = (file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8')

/** Returns the columns that the documentation does not name, each after its table. @param {string} page */
function untold(page) {
  const [, facts = ''] = /^The facts of the run come first.*?\n(.*?)^\*\*/ms.exec(page) ?? []
  return TABLES.flatMap((table) => {
    const [own = ''] =
      new RegExp(`^\\*\\*${table}\\*\\*:.*?^(?=\\*\\*|#|The )`, 'ms').exec(page) ?? []
    const isFact = own.includes('\n| ') ? facts : ''
    const words = new Set(`${isFact}${own}`.match(/\w+/g))
    return COLUMNS[table].flatMap(([name]) => (words.has(name) ? [] : `${table}.${name}`))
  })
}

test('the addon writes the columns that the command line knows', async () => {
  const file = writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), { spans: [['f', 5]] })
  const { query, close } = await tablesOf(file)
  for (const table of TABLES) {
    const found = await query(`SELECT column_name, column_type FROM (DESCRIBE ${table})`)
    assert.deepEqual(
      found.map((row) => [row.column_name, row.column_type]),
      COLUMNS[table],
    )
  }
  close()
})

test('the addon and the job for Spark know the tables', async () => {
  const store = openStore(path.join(temporaryDirectory(), 'lake'))
  const message = await store.live({ tables: ['none'] }).then(String, String)
  const [, list = ''] = pattern`${messages.hasTables} ([\w, ]+)`.exec(message) ?? []
  assert.deepEqual(list.split(/, | and /).sort(), [...TABLES].sort(), message)
  const [, ofSpark = ''] = /^TABLES = \[(.*)\]$/m.exec(read('examples/lake/spark.py')) ?? []
  assert.deepEqual(JSON.parse(`[${ofSpark}]`).sort(), [...TABLES].sort())
})

test('the documentation names each column', () => {
  const page = read('packages/fleet/docs/internals.md')
  assert.deepEqual(untold(page), [])
  const fewer = page
    .replace('| samples_run ', '| samples_all ')
    .replace('tid BIGINT', 'BIGINT')
    .replace('| line, col ', '| line ')
  assert.deepEqual(untold(fewer), [
    'functions.samples_run',
    'functions.col',
    'groups.samples_run',
    'threads.tid',
  ])
  assert.match(read('packages/fleet/docs/lake.md'), new RegExp(`tables are ${namesOf(TABLES)}`))
})

/** Returns names as a sentence has them. @param {string[]} names */
const namesOf = (names) =>
  names
    .map((name) => `\`${name}\``)
    .join(', ')
    .replace(/, (`\w+`)$/, ' and $1')
