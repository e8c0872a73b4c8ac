'use strict'

// The one table of settings, in src/core/base/settings/config.rs, and what else tells of settings: the
// types in index.d.ts, and the rows of docs/settings.md.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const ts = require('typescript')
const { PACKAGE } = require('../helpers/files.js')
const { repositoryPages } = require('../helpers/pages.js')
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

/**
 * Returns the cells of the first table of a page. From 1, a row has the variable, what it sets, its default
 * and what is allowed.
 * @param {string} page
 */
function rowsOf(page) {
  const [table] = /^\|.*?(?=\n\n)/ms.exec(page) ?? ['']
  const rows = table.split('\n').slice(2)
  return rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
}

/** Returns a text without links, and without the marks of code and of texts in code. @param {string} text */
const plain = (text) => text.replace(/\[(.*?)\]\([^)]*\)/g, '$1').replace(/[`']/g, '')

/** Returns what the comment of an option says of its default. @param {string} option with its comment */
function defaultIn(option) {
  const [comment] = option.split('*/')
  const words = comment
    .replace(/\n\s*\*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const [, text = ''] = /Default: (.+?)\.?$/.exec(words) ?? []
  return text.replace(/^`CPU_PROF_\w+`, or else /, '').replace(/, whatever .*$/, '')
}

/** Returns the text of a section of a page. @param {string} page @param {string} anchor */
function sectionOf(page, anchor) {
  const sections = page.split(/^## /m)
  const title = (/** @type {string} */ text) => text.split('\n', 1)[0].toLowerCase()
  return sections.find((text) => title(text).replaceAll(' ', '-') === anchor) ?? ''
}

/** Returns whether a cell has a default, or leads to the section that has it. @param {string} cell @param {string} value @param {string} page */
function hasDefault(cell, value, page) {
  const [, anchor] = /^\[folder\]\(#(.*)\)$/.exec(cell) ?? []
  if (anchor === undefined) return plain(cell) === plain(value)
  return plain(sectionOf(page, anchor)).includes(plain(value))
}

/** @param {string} declarations @param {string} page @param {typeof SETTINGS} [settings] */
function problemsOf(declarations, page, settings = SETTINGS) {
  const options = declaredOptions(declarations)
  const rows = rowsOf(page)
  const problems = []
  for (const { name, type, variable, default: value } of settings) {
    const option = options.get(name)
    if (option?.type !== type) problems.push(`index.d.ts: ${name} is a ${type}`)
    else if (variable && !option.text.includes(variable)) problems.push(`index.d.ts: ${variable}`)
    else if (plain(defaultIn(option.text)) !== plain(value)) {
      problems.push(`index.d.ts: the default of ${name} is ${value}`)
    }
    if (variable === null) {
      if (!page.includes(`[\`${name}\`]`)) problems.push(`docs/settings.md: ${name}`)
      continue
    }
    const row = rows.find((row) => row[1] === variable)
    if (row === undefined) problems.push(`docs/settings.md: ${variable}`)
    else if (!hasDefault(row[3], value, page)) {
      problems.push(`docs/settings.md: the default of ${name} is ${value}`)
    }
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
    [types, page.replace('`30s` ', '`31s` ')],
    [types, page.replace('`auto` ', '`show` ')],
    [types, page.replace('`500`, or `2000`', '`500`, or `1000`')],
    [types, page.replace('cpu,gc,memory,loop', 'cpu,gc,loop')],
    [types, page.replace('| no limit ', '| `1G` ')],
    [types, page.replace("Node's `--diagnostic-dir`, or else", 'Node, or else')],
    [types.replace("or else `'30s'`", "or else `'30m'`"), page],
    [types.replace('or else 500,', 'or else 50,'), page],
    [types.replace('or else\n   * 200000', 'or else\n   * 20000'), page],
    [types.replace('Default: true', 'Default: false'), page],
    [types.replace("Default: `'on'`", "Default: `'off'`"), page],
  ]
  for (const [declarations, text] of changed) {
    assert.ok(declarations !== types || text !== page)
    assert.equal(problemsOf(declarations, text).length, 1, text.slice(0, 1500))
  }
})

test('a default that is changed in the table alone is found in each other place', () => {
  const [types, page] = [read('index.d.ts'), read('docs/settings.md')]
  for (const setting of SETTINGS) {
    const value = `${setting.default}0`
    const settings = SETTINGS.map((each) => (each === setting ? { ...each, default: value } : each))
    const places = ['index.d.ts', ...(setting.variable === null ? [] : ['docs/settings.md'])]
    assert.deepEqual(
      problemsOf(types, page, settings),
      places.map((place) => `${place}: the default of ${setting.name} is ${value}`),
    )
  }
})

/** Returns the places after a variable's name that repeat its default. @param {string} text */
const repeatedIn = (text) => text.match(/`CPU_PROF_\w+`(\]\([^)]*\))? \(`?\d[^)]*\)/g) ?? []

test('no other page repeats a default', () => {
  const others = Object.entries(repositoryPages()).filter(([file]) => file !== 'docs/settings.md')
  for (const folder of ['docs/', 'packages/fleet/docs/', 'packages/mcp/docs/'])
    assert.ok(others.some(([file]) => file.startsWith(folder)))
  for (const [file, text] of others) assert.deepEqual(repeatedIn(text), [], file)
  const repeats = 'recorded for `CPU_PROF_FOR` (30 s), or [`CPU_PROF_EVERY`](settings.md) (`10m`)'
  assert.equal(repeatedIn(repeats).length, 2)
})

test('both addons know the same settings, whose variables follow from their names', () => {
  assert.deepEqual(settingsOf(load()), SETTINGS)
  for (const { name, variable } of SETTINGS) {
    if (variable !== null) assert.equal(variable, variableOf(name))
  }
})
