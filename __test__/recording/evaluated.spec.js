'use strict'

// Code that a program compiles from texts.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, report } = require('../../index.js')
const { FIXTURES, run, temporaryDirectory } = require('../helpers/run.js')
const { isInspector } = require('../helpers/source.js')

const PROGRAM = path.join(FIXTURES, 'evaluated.js')

test('functions of texts are JavaScript of the file that compiled them, a row for each text', async () => {
  const { cwd, code, stderr, traces } = await run([PROGRAM])
  assert.equal(stderr, '')
  assert.equal(code, 0)
  const result = await report(traces.map(({ file }) => file))
  const { javascriptMs, nativeMs } = result.totals
  assert.ok(javascriptMs > 3 * nativeMs, `${javascriptMs} and ${nativeMs} ms`)
  const texts = result.functions.filter(({ scriptId }) => scriptId !== undefined)
  const file = `${PROGRAM.replaceAll('\\', '/')} (eval)`
  assert.deepEqual([...new Set(texts.map((each) => each.file))], [file])
  assert.deepEqual([...new Set(texts.map((each) => each.package))], ['(own code)'])
  const main = texts.filter(({ selfMs }) => selfMs > 0.05 * javascriptMs)
  assert.deepEqual(main.map(({ name }) => name).sort(), [
    '(anonymous)',
    '(anonymous)',
    '(anonymous)',
    'direct',
    'inVm',
  ])
  assert.equal(new Set(main.map(({ scriptId }) => scriptId)).size, 5)
  // The lines of the calls, by the names of the functions.
  const lines = main.map(({ name, compiledAt }) => `${name} ${compiledAt}`).sort()
  const anonymous = ['(anonymous)', '(anonymous)', '(anonymous)']
  const isKnown = !isInspector && process.platform !== 'win32'
  assert.deepEqual(
    lines,
    isKnown
      ? anonymous.map((name, at) => `${name} ${[12, 13, 16][at]}`).concat('direct 9', 'inVm 15')
      : [...anonymous, 'direct', 'inVm'].map((name) => `${name} undefined`),
  )
  // Nothing of this is written: DevTools would open the file at a line of the text.
  const output = path.join(cwd, 'out.cpuprofile')
  await convert(traces[0].file, output)
  const { nodes } = JSON.parse(fs.readFileSync(output, 'utf8'))
  const direct = nodes.find(
    (/** @type {any} */ { callFrame }) => callFrame.functionName === 'direct',
  )
  assert.equal(direct.callFrame.url, '')
})

test('a text is of the module that compiled it, and not of the one that runs it', {
  skip: isInspector && 'the inspector source has no such place',
}, async () => {
  const cwd = temporaryDirectory()
  const engine = path.join(cwd, 'engine.js')
  fs.writeFileSync(
    engine,
    `
      const vm = require('node:vm')
      // Each line compiles one text.
      exports.compile = [
        (text) => new Function('n', text),
        (text) => eval('(function (n) {' + text + '})'),
        (text) => (0, eval)('(function (n) {' + text + '})'),
        (text) => vm.runInThisContext('(function (n) {' + text + '})'),
        // What a text compiles is of the file, too.
        (text) => new Function('n', 'return new Function("n", ' + JSON.stringify(text) + ')')(),
      ]`,
  )
  const source = `
      const { compile } = require('./engine.js')
      const text = 'let x = 0; for (let i = 0; i < n; i++) x += i * i % 7; return x'
      const functions = compile.map((each, at) => each('/*' + at + '*/' + text))
      const end = Date.now() + 500
      function render() { while (Date.now() < end) for (const each of functions) each(2e5) }
      render()`
  fs.writeFileSync(path.join(cwd, 'main.js'), source)
  const { stderr, code, traces } = await run([path.join(cwd, 'main.js')], { cwd })
  assert.equal(stderr, '')
  assert.equal(code, 0)
  const { functions, totals } = await report(traces.map(({ file }) => file))
  const texts = functions.filter(
    ({ scriptId, selfMs }) => scriptId !== undefined && selfMs > 0.05 * totals.javascriptMs,
  )
  const places = texts.map(({ file, compiledAt }) => `${path.basename(file)} ${compiledAt}`)
  const known = [5, 6, 7, 8, 10].map((line) => `engine.js (eval) ${line}`)
  const unknown = known.map(() => 'main.js (eval) undefined')
  assert.deepEqual(places.sort(), (process.platform === 'win32' ? unknown : known).sort())
})
