'use strict'

// Stacks of real tools are known by their owners: rules of ESLint, tests of node:test, test files, plugins.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { SEEN_MS, SHARE_MS } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const ALL = { top: Number.POSITIVE_INFINITY }

/** Creates a project with a package `slow`, whose function works in its own code. @param {Record<string, string>} files */
function project(files) {
  const cwd = temporaryDirectory()
  const all = { 'node_modules/slow/index.js': fs.readFileSync(JSON.parse(SPIN), 'utf8'), ...files }
  for (const [name, text] of Object.entries(all)) {
    fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true })
    fs.writeFileSync(path.join(cwd, name), text)
  }
  return cwd
}

/** Returns the name of each owner with its kind. @param {import('../../index.js').Report} report */
const kindsOf = ({ owners }) => Object.fromEntries(owners.map(({ name, kind }) => [name, kind]))

test('a rule of ESLint leads the rules if it works most, with what it calls', async () => {
  const literals = 20
  const cwd = project({
    // The package is loaded below the rule: its own code at the top level can be sampled, too.
    'rules/slow-rule.js': `
      const work = () => require('slow').spin(${SHARE_MS / literals})
      module.exports = { create: () => ({ Literal() { work() } }) }`,
    'rules/fast-rule.js': `module.exports = { create: () => ({ Literal() {} }) }`,
    'eslint.config.js': `
      const rules = { slow: require('./rules/slow-rule.js'), fast: require('./rules/fast-rule.js') }
      module.exports = [{ plugins: { own: { rules } }, rules: { 'own/slow': 2, 'own/fast': 2, 'no-undef': 2 } }]`,
    'src/a.js': 'f(1)\n'.repeat(literals),
  })
  const eslint = path.join(PACKAGE, 'node_modules', 'eslint', 'bin', 'eslint.js')
  const { files, stderr } = await run([eslint, 'src'], { cwd })
  assert.equal(stderr, '')
  const result = await report(files, ALL)
  const rules = result.owners.filter(({ kind }) => kind === 'rule')
  assert.equal(rules[0]?.name, 'slow-rule')
  assert.equal(kindsOf(result).slow, undefined, 'the work of the package is that of the rule')
})

test('a program has its test files, its plugins, its packages and its own code as owners', async () => {
  const cwd = project({
    'node_modules/vite-plugin-own/index.js': `
      const { spin } = require('slow')
      exports.transform = () => spin(${SEEN_MS})`,
    'a.test.js': `exports.a = () => require('vite-plugin-own').transform()`,
    'b.test.js': `exports.b = () => require('slow').spin(${SEEN_MS})`,
    'own.js': `exports.own = () => require(${SPIN}).spin(${SEEN_MS})`,
    'main.js': `
      require('./a.test.js').a()
      require('./b.test.js').b()
      require('slow').spin(${SEEN_MS})
      require('./own.js').own()`,
  })
  const { files } = await run(['./main.js'], { cwd })
  const result = await report(files, ALL)
  const kinds = kindsOf(result)
  assert.equal(kinds[path.join(cwd, 'b.test.js')], 'test file')
  assert.equal(kinds['vite-plugin-own'], 'plugin')
  assert.equal(kinds.slow, 'package')
  assert.equal(kinds['(own code)'], 'own code')
})

test('each test of node:test that works is an owner, by its title', async () => {
  const cwd = project({
    'a.test.js': `
      const { test, before } = require('node:test')
      const { spin } = require('slow')
      function help() { spin(${SEEN_MS}) }
      before(() => help())
      test('a short one', () => spin(${SEEN_MS}))
      test('a long one', async () => { help() })
      test('many', async (t) => {
        await t.test("it's inner", function () { spin(${SEEN_MS}) })
      })
      ;[1].map(() => help())`,
  })
  const { files, code } = await run(['./a.test.js'], { cwd })
  assert.equal(code, 0)
  const result = await report(files, ALL)
  const file = path.join(cwd, 'a.test.js')
  const kinds = kindsOf(result)
  for (const title of ['a long one', 'a short one', "it's inner"]) {
    assert.equal(kinds[`${file} › ${title}`], 'test', title)
  }
  assert.equal(kinds[file], 'test file', 'the hook and the top level')
  assert.equal(kinds.slow, undefined, 'the work of the package is that of the tests')
  const functions = result.functions.filter((each) => each.file === file).map(({ name }) => name)
  for (const name of ['callback of before', 'callback of map', "callback of test('a long one')"]) {
    assert.ok(functions.includes(name), `${name} in ${functions.join()}`)
  }
})
