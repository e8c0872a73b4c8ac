'use strict'

// The test of docs/got-slower.md, as a reader would copy it.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

// CPU time of a run. The table has a sixth of it before the change, and three quarters after: a core
// that stands still for 400 ms in some of the seven runs does not hide that.
const REST_MS = 250
const BEFORE_MS = 50
const AFTER_MS = 750

/** Writes a project with the test of the page. */
function project() {
  const cwd = temporaryDirectory()
  const docs = fs.readFileSync(path.join(PACKAGE, 'docs', 'got-slower.md'), 'utf8')
  const recipe = /```js\n([\s\S]*?)\n```/.exec(docs)?.[1] ?? ''
  fs.mkdirSync(path.join(cwd, 'node_modules', '@org'), { recursive: true })
  fs.symlinkSync(PACKAGE, path.join(cwd, 'node_modules', '@org', 'cpu-prof'))
  fs.writeFileSync(path.join(cwd, 'share.test.js'), recipe)
  fs.writeFileSync(
    path.join(cwd, 'render.js'),
    `const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
    function renderTable() { spin(Number(process.env.MS)) }
    function renderRest() { spin(${REST_MS}) }
    exports.renderAll = () => { renderTable(); renderRest() }`,
  )
  return cwd
}

/** Runs a program in which the table takes so long. @param {string} cwd @param {string[]} args @param {number} ms */
function runWith(cwd, args, ms) {
  return run(args, { cwd, env: { MS: `${ms}`, NODE_TEST_CONTEXT: undefined }, preload: null })
}

test('the test of docs/got-slower.md fails when the share of a function grows', async () => {
  const cwd = project()
  const record = `
    const { profile } = require('@org/cpu-prof')
    const { renderAll } = require('./render.js')
    ;(async () => {
      for (let i = 0; i < 7; i++) await profile(renderAll, { dir: 'profiles/base' })
    })()`
  const recorded = await runWith(cwd, ['-e', record], BEFORE_MS)
  assert.equal(recorded.code, 0, recorded.stderr)
  const same = await runWith(cwd, ['--test', 'share.test.js'], BEFORE_MS)
  assert.equal(same.code, 0, same.stdout)
  const grown = await runWith(cwd, ['--test', 'share.test.js'], AFTER_MS)
  assert.equal(grown.code, 1, grown.stdout)
  assert.match(grown.stdout, /renderTable/)
})
