'use strict'

// The one table of settings, in src/core/base/settings/config.rs, and what else tells of settings: the
// types in index.d.ts, and the rows of docs/settings.md.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const ts = require('typescript')
const { PACKAGE } = require('../helpers/files.js')
const { load, loadTools } = require('../../lib/addon.js')
const { settingsOf, variableOf } = require('../../lib/settings.js')

const SETTINGS = settingsOf(loadTools())

/** @param {string} file */
const read = (file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8')

/** Returns the options of `start()` in a declaration file: types and comments by name. @param {string} source */
function declaredOptions(source) {
  const file = ts.createSourceFile('index.d.ts', source, ts.ScriptTarget.ES2022, true)
  const options = file.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === 'Options',
  )
  assert.ok(options && ts.isInterfaceDeclaration(options))
  return new Map(
    options.members.filter(ts.isPropertySignature).map((member) => {
      const type = member.type?.getText() ?? ''
      const isText = type === 'string' || type.startsWith("'")
      return [member.name.getText(), { type: isText ? 'string' : type, text: member.getFullText() }]
    }),
  )
}

/** Returns the cells of the first table of a page. @param {string} page */
function rowsOf(page) {
  const [table] = /^\|.*?(?=\n\n)/ms.exec(page) ?? ['']
  const rows = table.split('\n').slice(2)
  return rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
}

/** @param {string} declarations @param {string} page */
function problemsOf(declarations, page) {
  const options = declaredOptions(declarations)
  const rows = rowsOf(page)
  const problems = []
  for (const { name, type, variable, default: value } of SETTINGS) {
    const option = options.get(name)
    if (option?.type !== type) problems.push(`index.d.ts: ${name} is a ${type}`)
    else if (variable && !option.text.includes(variable)) problems.push(`index.d.ts: ${variable}`)
    if (variable === null) {
      if (!page.includes(`[\`${name}\`]`)) problems.push(`docs/settings.md: ${name}`)
      continue
    }
    const row = rows.find((row) => row[1] === variable)
    if (row === undefined) problems.push(`docs/settings.md: ${variable}`)
    const isTold = type !== 'number' || row?.[2] === String(Number.parseInt(value, 10))
    if (row && !isTold) problems.push(`docs/settings.md: the default of ${name} is ${value}`)
  }
  const names = SETTINGS.flatMap(({ name, variable }) => [name, variable])
  const unknown = [...options.keys(), ...rows.map((row) => row[1])].filter(
    (name) => !names.includes(name),
  )
  return [...problems, ...unknown.map((name) => `${name} is no setting`)]
}

test('types and documentation tell the settings of the table', () => {
  assert.deepEqual(problemsOf(read('index.d.ts'), read('docs/settings.md')), [])
})

test('what they tell wrongly is found', () => {
  const [types, page] = [read('index.d.ts'), read('docs/settings.md')]
  const changed = [
    [types.replace('  interval?: number', '  interval?: string'), page],
    [types.replace('  interval?: number', '  interval?: number\n  made?: number'), page],
    [types.replaceAll('CPU_PROF_INTERVAL', 'CPU_PROF_TIME'), page],
    [types, page.replace('[`workers`]', '[workers]')],
    [types, page.replace(/^\| `CPU_PROF_INTERVAL`.*\n/m, '')],
    [types, page.replace(/^\| `CPU_PROF_KEEP`.*\n/m, '$&| `CPU_PROF_MADE` | `1` | any |\n')],
    [types, page.replace('`1000` ', '`2000` ')],
  ]
  for (const [declarations, text] of changed) {
    assert.equal(problemsOf(declarations, text).length, 1, text.slice(0, 1500))
  }
})

test('both addons know the same settings, whose variables follow from their names', () => {
  assert.deepEqual(settingsOf(load()), SETTINGS)
  for (const { name, variable } of SETTINGS) {
    if (variable !== null) assert.equal(variable, variableOf(name))
  }
})
