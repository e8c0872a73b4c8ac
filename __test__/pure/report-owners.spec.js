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
    [`${a} > exports.transform node_modules/vite-plugin-own/index.js:3:27 > ${slow}`, 60],
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
    ['plugin', 'vite-plugin-own', 60, 60],
  ])
  assertSum(result, 0)
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
