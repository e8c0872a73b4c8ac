'use strict'

// For whom work was done: rules of ESLint, plugins, test files, packages, own code.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')

// CPU time: a machine that stands still takes nothing from it.
const SPIN = `const enough = process.cpuUsage().user + ms * 1000
  for (let sum = 0; process.cpuUsage().user < enough; ) for (let i = 0; i < 1e5; i++) sum = (sum + i) & 1023`

/** Creates a project whose packages are links. @param {Record<string, string>} files */
function project(files) {
  const cwd = temporaryDirectory()
  fs.mkdirSync(path.join(cwd, 'node_modules', 'slow'), { recursive: true })
  const slow = `exports.slow = function slow(ms) { ${SPIN} }`
  for (const [name, text] of Object.entries({ 'node_modules/slow/index.js': slow, ...files })) {
    fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true })
    fs.writeFileSync(path.join(cwd, name), text)
  }
  return cwd
}

/** @param {import('../../index.js').Report} result @param {string} name */
const ownerOf = (result, name) => result.owners.find((owner) => owner.name === name)

/** Asserts that the work of all owners is that of all functions. @param {import('../../index.js').Report} result */
function assertSum({ owners, functions }) {
  const sum = (/** @type {{ selfMs: number }[]} */ list) =>
    list.reduce((ms, { selfMs }) => ms + selfMs, 0)
  const ofNode = functions.filter(({ package: name }) => ['node:', '(native)'].includes(name))
  assert.ok(sum(owners) <= sum(functions) + 0.1)
  assert.ok(sum(owners) >= sum(functions) - sum(ofNode) - 0.1)
}

const ALL = { top: Number.POSITIVE_INFINITY }

test('the most expensive rule of ESLint is named, with the work that others did for it', async () => {
  const cwd = project({
    'rules/slow-rule.js': `
      const { slow } = require('slow')
      module.exports = { create: () => ({ Literal() { slow(20) } }) }`,
    'rules/fast-rule.js': `module.exports = { create: () => ({ Literal() {} }) }`,
    'eslint.config.js': `
      const rules = { slow: require('./rules/slow-rule.js'), fast: require('./rules/fast-rule.js') }
      module.exports = [{ plugins: { own: { rules } }, rules: { 'own/slow': 2, 'own/fast': 2, 'no-undef': 2 } }]`,
    'src/a.js': `${'f(1)\n'.repeat(20)}`,
  })
  const eslint = path.join(PACKAGE, 'node_modules', 'eslint', 'bin', 'eslint.js')
  const { files, stderr } = await run([eslint, 'src'], { cwd })
  assert.equal(stderr, '')
  const result = await report(files, ALL)
  const rules = result.owners.filter(({ kind }) => kind === 'rule')
  assert.equal(rules[0].name, 'slow-rule')
  assert.ok(rules[0].selfMs > 200, `${rules[0].selfMs} ms`)
  assert.equal(ownerOf(result, 'slow'), undefined)
  assertSum(result)
})

test('work counts for the test file or the plugin that called it, else for the package', async () => {
  const cwd = project({
    'src/mill.js': `exports.mill = function mill(ms) { ${SPIN} }`,
    'node_modules/vite-plugin-own/index.js': `
      const { slow } = require('slow')
      exports.transform = () => slow(60)`,
    'a.test.js': `
      const { mill } = require('./src/mill.js')
      exports.a = () => { mill(150); require('vite-plugin-own').transform() }`,
    'b.test.js': `exports.b = () => require('slow').slow(200)`,
    'main.js': `
      require('./a.test.js').a()
      require('./b.test.js').b()
      require('slow').slow(100)
      require('./src/mill.js').mill(60)`,
  })
  const { files } = await run(['./main.js'], { cwd })
  const result = await report(files, ALL)
  const a = ownerOf(result, path.join(cwd, 'a.test.js'))
  const b = ownerOf(result, path.join(cwd, 'b.test.js'))
  const plugin = ownerOf(result, 'vite-plugin-own')
  assert.deepEqual([a?.kind, b?.kind, plugin?.kind], ['test file', 'test file', 'plugin'])
  assert.ok(Number(a?.selfMs) > Number(plugin?.selfMs), 'the own work of a test file')
  // The plugin is below the test file.
  assert.ok(Number(a?.totalMs) >= Number(a?.selfMs) + Number(plugin?.selfMs) - 0.1)
  assert.ok(Number(b?.selfMs) > 30 && Number(plugin?.selfMs) > 30)
  assert.ok(Number(ownerOf(result, 'slow')?.selfMs) > 50)
  assert.ok(Number(ownerOf(result, '(own code)')?.selfMs) > 30)
  assertSum(result)
})

test('work counts for the single test that called it, with what it calls in its file', async () => {
  const cwd = project({
    'a.test.js': `
      const { test, before } = require('node:test')
      const { slow } = require('slow')
      function help(ms) { ${SPIN} }
      before(() => help(40))
      test('a short one', () => slow(60))
      test('a long one', async () => { help(150) })
      test('many', async (t) => {
        await t.test("it's inner", function () { slow(100) })
      })
      ;[1, 2].map((ms) => help(30))`,
  })
  const { files, code } = await run(['./a.test.js'], { cwd })
  assert.equal(code, 0)
  const result = await report(files, ALL)
  const file = path.join(cwd, 'a.test.js')
  const tests = result.owners.filter(({ kind }) => kind === 'test')
  const names = tests.filter(({ selfMs }) => selfMs > 30).map(({ name }) => name)
  const titles = ['a long one', 'a short one', "it's inner"]
  assert.deepEqual(
    names.sort(),
    titles.map((title) => `${file} › ${title}`),
    result.owners.map(({ name, selfMs }) => `${name} ${selfMs} ms`).join('\n'),
  )
  const rest = ownerOf(result, file)
  assert.equal(rest?.kind, 'test file')
  assert.ok(Number(rest?.selfMs) > 70, `${rest?.selfMs} ms of the hook and of the top level`)
  assert.equal(ownerOf(result, 'slow'), undefined)
  assertSum(result)

  // A function without a name is named by the call that it is passed to.
  const functions = result.functions.filter((each) => each.file === file).map(({ name }) => name)
  for (const name of ['callback of before', 'callback of map', "callback of test('a long one')"]) {
    assert.ok(functions.includes(name), `${name} in ${functions.join()}`)
  }
  const executed = await report(files, { ...ALL, sourceMaps: false })
  assert.ok(executed.functions.every(({ name }) => !name.startsWith('callback of')))
  const sum = (/** @type {import('../../index.js').Report} */ { functions }) =>
    functions.reduce((ms, { selfMs }) => ms + selfMs, 0)
  assert.ok(Math.abs(sum(executed) - sum(result)) < 0.1)
})
