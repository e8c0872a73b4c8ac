'use strict'

// For whom work was done: rules of ESLint, plugins, test files, packages, own code.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const ALL = { top: Number.POSITIVE_INFINITY }

/** Writes a recording into a folder. @param {Span[]} spans @param {string} [cwd] */
function write(spans, cwd = temporaryDirectory()) {
  return { cwd, file: writeTrace(path.join(cwd, 'a.trace.json'), { cwd, spans }) }
}

/** @param {import('../../index.js').Report} report */
const ownersOf = ({ owners }) =>
  owners.map(({ kind, name, selfMs, totalMs }) => [kind, name, selfMs, totalMs])

/**
 * Asserts that the work of all owners is that of all functions, but for what Node did for itself.
 * @param {import('../../index.js').Report} report @param {number} nodeMs
 */
function assertSum({ owners, functions, totals }, nodeMs) {
  const sum = (/** @type {{ selfMs: number }[]} */ list) =>
    list.reduce((ms, { selfMs }) => ms + selfMs, 0)
  const workMs = totals.javascriptMs + totals.nativeMs
  assert.equal(sum(functions), workMs)
  assert.equal(sum(owners), workMs - nodeMs)
}

// In a program that is itself in node_modules, recordings have this name for the folder.
const ESLINT = 'node_modules\\eslint/lib'
/** The functions of ESLint that call a rule. */
const LINT = [
  `readAndVerifyFile ${ESLINT}/eslint/eslint-helpers.js:1304:34`,
  `verifyAndFix ${ESLINT}/linter/linter.js:2529:14`,
  `runRules ${ESLINT}/linter/linter.js:1046:18`,
  `traverseSync ${ESLINT}/linter/source-code-traverser.js:269:14`,
  `callSync ${ESLINT}/linter/source-code-visitor.js:74:10`,
  `ruleErrorHandler ${ESLINT}/linter/linter.js:1171:36`,
].join(' > ')

test('the most expensive rule of ESLint is named, with the work that others did for it', async () => {
  const slow = `${LINT} > Literal rules/slow-rule.js:3:50 > slow node_modules\\slow/index.js:1:29`
  const undef = `${LINT} > Program:exit ${ESLINT}/rules/no-undef.js:65:18`
  const { file } = write([
    ['(anonymous) node:internal/main/run_main_module:1', 4],
    [LINT, 15],
    [slow, 200],
    [`${slow} > cpuUsage node:internal/process/per_thread:116:20 > cpuUsage`, 20],
    [`${LINT} > Literal rules/fast-rule.js:1:48`, 5],
    [`${undef} > getScope ${ESLINT}/languages/js/source-code/source-code.js:861:10`, 2],
    [`${undef} > acquire node_modules\\eslint-scope/dist/eslint-scope.cjs:1222:12`, 6],
    [`${LINT} > parse node_modules\\espree/dist/espree.cjs:9:1`, 12],
    // Not called by ESLint, a file beside others in such a folder is no rule.
    ['main tools.js:1 > create rules/slow-rule.js:3:22', 3],
  ])
  const result = await report(file, ALL)
  assert.deepEqual(ownersOf(result), [
    ['rule', 'slow-rule', 220, 220],
    ['package', 'eslint', 15, 260],
    ['package', 'espree', 12, 12],
    ['rule', 'no-undef', 8, 8],
    ['rule', 'fast-rule', 5, 5],
    ['own code', '(own code)', 3, 3],
  ])
  assertSum(result, 4)
})

test('work counts for the test file or the plugin that called it, else for the package', async () => {
  const main = '(anonymous) main.js:1'
  const mill = 'mill src/mill.js:1:29'
  const slow = 'slow node_modules/slow/index.js:1:29'
  const a = `${main} > exports.a a.test.js:3:19`
  const { cwd, file } = write([
    [`${a} > ${mill}`, 150],
    [`${a} > ${ROLLUP} > transform node_modules/own-plugin/index.js:3:27 > ${slow}`, 60],
    [`${main} > exports.b b.test.js:1:13 > ${slow}`, 200],
    [`${main} > ${slow}`, 100],
    [`${main} > ${mill}`, 70],
  ])
  const result = await report(file, ALL)
  assert.deepEqual(ownersOf(result), [
    ['test file', path.join(cwd, 'b.test.js'), 200, 200],
    // The plugin is below the test file.
    ['test file', path.join(cwd, 'a.test.js'), 150, 210],
    ['package', 'slow', 100, 100],
    ['own code', '(own code)', 70, 580],
    ['plugin', 'own-plugin', 60, 60],
  ])
  assertSum(result, 0)
})

/** The function of Rollup that calls a hook. */
const ROLLUP = '(anonymous) node_modules/rollup/dist/shared/rollup.js:3771:19'

/** Call sites of tools, by the names of the tools; a hook is called right below. */
const TOOLS = {
  rollup: ROLLUP,
  rolldown: 'plugin node_modules/rolldown/dist/shared/bindingify-input-options-Bj.mjs:1733:11',
  vite: 'handler node_modules/vite/dist/node/chunks/node.js:35028:27',
  'vite server': 'transform node_modules/vite/dist/node/chunks/dep-x.js:8604:17',
  esbuild: 'requestCallbacks.on-load node_modules/esbuild/lib/main.js:1547:41',
  'webpack loader': 'LOADER_EXECUTION node_modules/webpack/lib/loaders/LoaderRunner.js:426:29',
  'loader-runner': 'LOADER_EXECUTION node_modules/loader-runner/lib/LoaderRunner.js:126:40',
  'webpack plugin': 'createCompiler node_modules/webpack/lib/webpack.js:159:24',
  babel: 'newFn node_modules/@babel/traverse/lib/visitors.js:298:25',
  'babel pre': 'async node_modules/@babel/core/src/gensync-utils/async.ts:35:10',
  postcss: 'visitTick node_modules/postcss/lib/lazy-result.js:480:12',
  codegen: '(anonymous) node_modules/@graphql-codegen/core/esm/execute-plugin.js:33:25',
  prettier: 'parse7 node_modules/prettier/index.mjs:18832:22',
  jest: 'transformSource node_modules/@jest/transform/build/index.js:401:18',
}

/** What these tools call a part that they call; the others call it a plugin. @type {Map<string, unknown>} */
const KINDS = new Map([
  ['webpack loader', 'loader'],
  ['loader-runner', 'loader'],
  ['jest', 'transform'],
])

test('a plugin, loader or transform is what a tool calls as one, in a package and in own code', async () => {
  for (const [tool, site] of Object.entries(TOOLS)) {
    const hook = (/** @type {string} */ file) => `main main.js:1 > ${site} > hook ${file}:3:9`
    const { cwd, file } = write([
      [`${hook('node_modules/@s/any-name/index.js')} > help node_modules/slow/index.js:1:29`, 60],
      [`${hook('tools/slow.js')} > help src/help.js:1:29`, 50],
    ])
    const result = await report(file, ALL)
    const plugins = ownersOf(result).filter(([kind]) => kind === (KINDS.get(tool) ?? 'plugin'))
    const own = path.join(cwd, 'tools/slow.js')
    assert.deepEqual(
      plugins.map(([, name, selfMs]) => [name, selfMs]),
      [
        ['@s/any-name', 60],
        [own, 50],
      ],
      tool,
    )
    assertSum(result, 0)
  }
})

test('a word in the name of a package proves nothing, and own code keeps its time', async () => {
  const main = '(anonymous) main.js:1'
  const helper = 'run node_modules/@graphql-codegen/plugin-helpers/esm/profiler.js:5:9'
  const { cwd, file } = write([
    [`${main} > ${helper} > work src/work.js:1:9`, 50],
    [`${main} > ${helper}`, 10],
    [`${main} > load node_modules/url-loader/index.js:2:9`, 20],
    // A tool calls the function of a package, which passes the call on to own code.
    [`${main} > ${ROLLUP} > hook node_modules/passes/index.js:1:9 > option src/option.js:1:9`, 30],
    [`${main} > ${ROLLUP} > hook node_modules/passes/index.js:1:9`, 5],
    // The helpers of the tool, and Node's loader, which a tool calls too.
    [`${main} > ${TOOLS.jest} > tryRealpath node_modules/jest-util/build/index.js:9:9`, 4],
    [`${main} > ${ROLLUP} > require node:internal/modules/helpers:180:18 > top src/x.js:1:1`, 3],
  ])
  const result = await report(file, ALL)
  assert.deepEqual(
    ownersOf(result).map(([kind, name, selfMs]) => [kind, name, selfMs]),
    [
      ['own code', '(own code)', 83],
      ['package', 'url-loader', 20],
      ['package', '@graphql-codegen/plugin-helpers', 10],
      ['plugin', 'passes', 5],
      ['package', 'jest-util', 4],
    ],
  )
  assert.ok(cwd)
})

test('hooks of webpack run in code that tapable compiles', async () => {
  const seal = 'seal node_modules/webpack/lib/Compilation.js:3768:7'
  /** Code that was compiled of a text has no file. @param {string} name @returns {any} */
  const compiled = (name) => ({ name, file: '', line: 1 })
  const at = (/** @type {string} */ text) => {
    const [, name, file, line, column] = /** @type {RegExpExecArray} */ (
      /^(\S+) (\S+):(\d+):(\d+)$/.exec(text)
    )
    return { name, file, line: Number(line), column: Number(column) }
  }
  const cwd = temporaryDirectory()
  const own = at('tap tools/slow.js:2:9')
  const other = at('tap node_modules/other/index.js:2:9')
  const text = writeTrace(path.join(cwd, 'a.trace.json'), {
    cwd,
    spans: [[[at(seal), compiled('(anonymous)'), own], 30]],
  })
  // The frames of compiled code have lines, which the helper gives to files alone.
  const inLine = (/** @type {string} */ json) =>
    json.replace(
      /("functionName":"(?:_next0)?","scriptId":")0(","url":"","lineNumber":)-1/g,
      '$19$20',
    )
  fs.writeFileSync(text, inLine(fs.readFileSync(text, 'utf8')))
  const next = writeTrace(path.join(cwd, 'b.trace.json'), {
    cwd,
    pid: 8,
    spans: [
      // The callback of a plugin continues the hook, and then webpack.
      [[own, compiled('_next0'), other], 20],
      [[own, compiled('_next0'), at(seal)], 10],
      // A part of webpack is no plugin.
      [[at(seal), compiled('(anonymous)'), at('tap node_modules/webpack/lib/X.js:3:3')], 7],
    ],
  })
  fs.writeFileSync(next, inLine(fs.readFileSync(next, 'utf8')))
  assert.deepEqual(
    ownersOf(await report([text, next], ALL)).map(([kind, name, selfMs]) => [kind, name, selfMs]),
    [
      ['plugin', path.join(cwd, 'tools/slow.js'), 30],
      ['plugin', 'other', 20],
      ['package', 'webpack', 17],
    ],
  )
})

test('without webpack, code that continues a hook is of the framework with its own tapable', async () => {
  const own = 'run node_modules/next/dist/compiled/webpack/bundle5.js:29:9'
  const { file } = write([[`${own} > _next0 > ${own}`, 10]])
  const next = fs
    .readFileSync(file, 'utf8')
    .replace(/("functionName":"_next0".*?"lineNumber":)-1/g, '$10')
  fs.writeFileSync(file, next)
  assert.deepEqual(
    ownersOf(await report(file, ALL)).map(([kind, name, selfMs]) => [kind, name, selfMs]),
    [['package', 'next', 10]],
  )
})

test('code that goes on after an await still belongs to its plugin', async () => {
  const build = 'build build.js:9:9'
  const { cwd, file } = write([
    [`${ROLLUP} > transform node_modules/own-plugin/index.js:3:27`, 10],
    // Another function of the file, and the function itself, without a caller.
    ['later node_modules/own-plugin/index.js:30:9 > f node_modules/slow/index.js:1:29', 20],
    ['transform node_modules/own-plugin/index.js:3:27', 5],
    // A file with a plugin starts the tool, too: only what the tool has called is the plugin's.
    [`${build} > rollup node_modules/rollup/dist/shared/rollup.js:20:9`, 8],
    [`${ROLLUP} > load build.js:20:9`, 30],
    ['load build.js:20:9', 3],
    ['main build.js:40:9', 40],
  ])
  assert.deepEqual(
    ownersOf(await report(file, ALL)).map(([kind, name, selfMs]) => [kind, name, selfMs]),
    [
      ['own code', '(own code)', 40],
      ['plugin', 'own-plugin', 35],
      ['plugin', path.join(cwd, 'build.js'), 33],
      ['package', 'rollup', 8],
    ],
  )
})

test('rules of Stylelint and of ESLint are known in own code, too', async () => {
  const rule = 'runRule node_modules/stylelint/lib/lintPostcssResult.mjs:135:26'
  const lint = 'callSync node_modules/eslint/lib/linter/source-code-visitor.js:143:10'
  const { cwd, file } = write([
    [
      `${rule} > (anonymous) tools/slow.js:3:9 > walkDecls node_modules/postcss/lib/container.js:9:9`,
      50,
    ],
    [`${rule} > (anonymous) node_modules/stylelint/lib/rules/color-hex-length/index.mjs:26:9`, 40],
    [`${rule} > body node_modules/stylelint-order/rules/properties-order/index.js:15:9`, 30],
    [`${lint} > Program eslint.config.js:2:9`, 20],
  ])
  assert.deepEqual(
    ownersOf(await report(file, ALL)).map(([kind, name, selfMs]) => [kind, name, selfMs]),
    [
      ['rule', path.join(cwd, 'tools/slow.js'), 50],
      ['rule', 'color-hex-length', 40],
      ['rule', 'order/properties-order', 30],
      ['rule', path.join(cwd, 'eslint.config.js'), 20],
    ],
  )
})

/** A file of tests; the functions of {@link writeTests} have V8's places in this text. */
const TESTS = `
      const { test, before } = require('node:test')
      const { slow } = require('slow')
      function help(ms) { spin(ms) }
      before(() => help(40))
      test('a short one', () => slow(60))
      test('a long one', async () => { help(150) })
      test('many', async (t) => {
        await t.test("it's inner", function () { slow(100) })
      })
      ;[1, 2].map((ms) => help(30))`

/** Writes tests for node:test, and their recording. */
function writeTests() {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'a.test.js'), TESTS)
  const own = (/** @type {string} */ place) => `(anonymous) a.test.js:${place}`
  const [help, slow] = ['help a.test.js:4:20', 'slow node_modules/slow/index.js:1:29']
  const run = 'run node:internal/test_runner/test:735:12 > runInAsyncScope node:async_hooks:200:18'
  const hook =
    '(anonymous) node:internal/test_runner/harness:295:10 > createHook node:internal/test_runner/test:630:13'
  const inner =
    'test node:internal/test_runner/test:276:7 > start node:internal/test_runner/test:688:8'
  return write(
    [
      [`${own('1:1')} > ${hook} > ${run} > ${own('5:14')} > ${help}`, 40],
      [`${own('1:1')} > ${own('11:19')} > ${help}`, 65],
      [`${run} > ${own('6:27')} > ${slow}`, 60],
      [`${run} > ${own('7:26')} > ${help}`, 150],
      [`${run} > ${own('8:20')}`, 5],
      [`${run} > ${own('8:20')} > ${inner} > ${run} > ${own('9:45')} > ${slow}`, 100],
      ['tapReporter node:internal/test_runner/reporter/tap:31:29', 7],
    ],
    cwd,
  )
}

test('work counts for the single test that called it, with what it calls in its file', async () => {
  const { cwd, file } = writeTests()
  const result = await report(file, ALL)
  const tests = path.join(cwd, 'a.test.js')
  assert.deepEqual(ownersOf(result), [
    ['test', `${tests} › a long one`, 150, 150],
    // The hook and the top level.
    ['test file', tests, 105, 105],
    ['test', `${tests} › it's inner`, 100, 100],
    ['test', `${tests} › a short one`, 60, 60],
    ['test', `${tests} › many`, 5, 105],
  ])
  assertSum(result, 7)
})

test('a function without a name is named by the call that it is passed to', async () => {
  const { cwd, file } = writeTests()
  const tests = path.join(cwd, 'a.test.js')
  const timesOf = (/** @type {import('../../index.js').Report} */ { functions }) =>
    functions
      .filter((each) => each.file === tests)
      .map(({ name, line, totalMs }) => `${line}: ${name} ${totalMs} ms`)
      .sort()
  const result = await report(file, ALL)
  assert.deepEqual(timesOf(result), [
    '11: callback of map 65 ms',
    '1: (anonymous) 105 ms',
    '4: help 255 ms',
    '5: callback of before 40 ms',
    "6: callback of test('a short one') 60 ms",
    "7: callback of test('a long one') 150 ms",
    "8: callback of test('many') 105 ms",
    `9: callback of test('it's inner') 100 ms`,
  ])
  const executed = await report(file, { ...ALL, sourceMaps: false })
  assert.deepEqual(
    timesOf(executed),
    timesOf(result).map((text) => text.replace(/callback of .*(?= \d+ ms)/, '(anonymous)')),
  )
  assert.deepEqual(executed.totals, result.totals)
  assert.deepEqual(ownersOf(executed), [['test file', tests, 420, 420]])
})
