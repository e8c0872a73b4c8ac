'use strict'

// Stacks of real tools are known by their owners: rules, plugins, tests, test files, packages; and processes
// by their roles.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
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

/** @param {import('../../index.js').Report} report @param {string} kind */
const namesOf = ({ owners }, kind) =>
  owners.filter((owner) => owner.kind === kind).map(({ name }) => name)

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

test('a program has its test files, its packages and its own code as owners', async () => {
  const cwd = project({
    'node_modules/own-plugin/index.js': `
      const { spin } = require('slow')
      exports.transform = () => spin(${SEEN_MS})`,
    'a.test.js': `exports.a = () => require('slow').spin(${SEEN_MS})`,
    'own.js': `exports.own = () => require(${SPIN}).spin(${SEEN_MS})`,
    'main.js': `
      require('./a.test.js').a()
      require('own-plugin').transform()
      require('./own.js').own()`,
  })
  const { files } = await run(['./main.js'], { cwd })
  const result = await report(files, ALL)
  const kinds = kindsOf(result)
  assert.equal(kinds[path.join(cwd, 'a.test.js')], 'test file')
  assert.equal(kinds['(own code)'], 'own code')
  assert.equal(kinds.slow, 'package', 'a word in the name of a package makes no plugin')
})

/** @param {string} name */
const installed = (name) => JSON.stringify(path.join(PACKAGE, 'node_modules', name))
/**
 * Functions that work as the hook of a plugin, in a package and in a file of one's own. The package is
 * loaded below the hook: its own code at the top level can be sampled, too.
 */
const HOOKS = `
  const spin = (ms) => require('slow').spin(ms)
  exports.transform = function transform() { spin(${SEEN_MS}) }
  exports.load = function load() { spin(${SEEN_MS}) }
  exports.process = (code) => { spin(${SEEN_MS}); return { code } }`

/** Programs that call plugins by real tools: the plugins in `hooks` and in `own-plugin`. */
const TOOLS = {
  vite: {
    'main.mjs': `
      import { build } from ${installed('vite/dist/node/index.js')}
      import own from './hooks.js'
      import other from 'own-plugin'
      const plugins = [own, other].map(({ transform }, at) => ({ name: 'p' + at, transform }))
      const lib = { entry: 'src/a.js', formats: ['es'] }
      await build({ root: process.cwd(), configFile: false, logLevel: 'silent',
        plugins, build: { write: false, lib } })`,
  },
  rollup: {
    'main.mjs': `
      import { rollup } from ${installed('rollup/dist/es/rollup.js')}
      import own from './hooks.js'
      import other from 'own-plugin'
      const plugins = [own, other].map(({ transform }, at) => ({ name: 'p' + at, transform }))
      await rollup({ input: 'src/a.js', plugins })`,
  },
  esbuild: {
    'main.mjs': `
      import { build } from ${installed('esbuild/lib/main.js')}
      import own from './hooks.js'
      import other from 'own-plugin'
      const plugins = [own, other].map(({ load }, at) => ({
        name: 'p' + at,
        setup: (build) => build.onLoad({ filter: /a.js$/ }, load),
      }))
      await build({ entryPoints: ['src/a.js'], write: false, plugins })`,
  },
}

for (const [tool, files] of Object.entries(TOOLS)) {
  test(`plugins of ${tool} are owners, by their packages and their own files`, async () => {
    const cwd = project({
      'hooks.js': HOOKS,
      'node_modules/own-plugin/index.js': HOOKS,
      'src/a.js': 'export const a = 1',
      ...files,
    })
    const { files: traces, code, stderr } = await run(['./main.mjs'], { cwd })
    assert.equal(code, 0, stderr)
    const result = await report(traces, ALL)
    // The set-up of the plugins is short, and seldom sampled.
    const isSetUp = (/** @type {string} */ name) => name === path.join(cwd, 'main.mjs')
    const plugins = namesOf(result, 'plugin').filter((name) => !isSetUp(name))
    assert.deepEqual(plugins.sort(), [path.join(cwd, 'hooks.js'), 'own-plugin'])
    assert.equal(kindsOf(result).slow, undefined, 'the work of the package is that of the plugins')
  })
}

test('transforms of jest are owners', async () => {
  const cwd = project({
    'hooks.js': HOOKS,
    'node_modules/own-plugin/index.js': HOOKS,
    'a.js': '',
    'b.js': '',
    'x.test.js': `require('./a.js'); require('./b.js'); test('x', () => {})`,
    'jest.config.js': `module.exports = { transform: { 'a.js$': './hooks.js', 'b.js$': 'own-plugin' } }`,
  })
  const jest = path.join(PACKAGE, 'node_modules', 'jest', 'bin', 'jest.js')
  const { files, code, stderr } = await run([jest, '--no-cache', '--runInBand'], { cwd })
  assert.equal(code, 0, stderr)
  const transforms = namesOf(await report(files, ALL), 'transform')
  assert.ok(transforms.includes(path.join(cwd, 'hooks.js')), transforms.join())
  assert.ok(transforms.includes('own-plugin'), transforms.join())
})

/** A module with a function `f` that counts to its argument. */
const WASM = [
  '0061736d01000000010601',
  '60017f017f03020100070501',
  '0166',
  '00000a1b01190101',
  '7f0340200141016a2101200041016b22000d000b20010b',
].join('')

test('WebAssembly is of the package that has started it', async () => {
  const cwd = project({
    'node_modules/wasm-lib/index.js': `
      const bytes = Buffer.from('${WASM}', 'hex')
      const { f } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports
      exports.count = (ms) => {
        const end = process.cpuUsage().user + ms * 1000
        while (process.cpuUsage().user < end) f(10_000_000)
      }`,
    'main.js': `require('wasm-lib').count(${SEEN_MS})`,
  })
  const { files } = await run(['./main.js'], { cwd })
  const { functions } = await report(files, ALL)
  const wasm = functions.filter(({ file }) => file.startsWith('wasm://'))
  assert.ok(wasm.length > 0)
  for (const { package: of } of wasm) assert.equal(of, 'wasm-lib')
})

test('a module that is loaded several times is one file', async () => {
  const cwd = project({
    'a.mjs': `
      import { createRequire } from 'node:module'
      createRequire(import.meta.url)('slow').spin(${SEEN_MS})`,
    'main.mjs': `for (const t of [1795556421468, 1795556421999]) await import('./a.mjs?t=' + t)`,
  })
  const { files } = await run(['./main.mjs'], { cwd })
  const result = await report(files, ALL)
  const own = result.files.map(({ file }) => file).filter((file) => file.includes('a.mjs'))
  assert.deepEqual(own, [path.join(cwd, 'a.mjs')])
})

test('processes of node:cluster have their roles, in single traces and in a merged one', async () => {
  const cwd = project({
    'web.js': `
      const cluster = require('node:cluster')
      if (cluster.isPrimary) for (const _ of [1, 2]) cluster.fork()
      else {
        require('slow').spin(${SEEN_MS})
        process.disconnect()
      }`,
  })
  const { files, code } = await run(['./web.js', '--port=1'], { cwd })
  assert.equal(code, 0)
  const merged = path.join(cwd, 'merged.trace.json')
  await merge(files, merged)
  for (const input of [files, merged]) {
    const { processes } = await report(input, ALL)
    assert.deepEqual(processes.map(({ command }) => command).sort(), [
      'web.js primary --port=1',
      'web.js worker 1 --port=1',
      'web.js worker 2 --port=1',
    ])
  }
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
