'use strict'

// Code that a program compiles from texts.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, report } = require('../../index.js')
const { FIXTURES, run } = require('../helpers/run.js')

const PROGRAM = path.join(FIXTURES, 'evaluated.js')

test('functions of texts are JavaScript of the file that runs them, a row for each text', async () => {
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
    ...['(anonymous)', '(anonymous)', '(anonymous)'],
    ...['direct', 'inVm'],
  ])
  assert.equal(new Set(main.map(({ scriptId }) => scriptId)).size, 5)
  // Nothing of this is written: DevTools would open the file at a line of the text.
  const output = path.join(cwd, 'out.cpuprofile')
  await convert(traces[0].file, output)
  const { nodes } = JSON.parse(fs.readFileSync(output, 'utf8'))
  const direct = nodes.find(
    (/** @type {any} */ { callFrame }) => callFrame.functionName === 'direct',
  )
  assert.equal(direct.callFrame.url, '')
})
