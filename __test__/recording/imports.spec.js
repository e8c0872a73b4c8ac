'use strict'

// The modules of real programs are known by the stacks on which Node loads and runs them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { run, temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { SEEN_MS } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const WORK = `spin(${SEEN_MS})\n`
const REQUIRE = `const { spin } = require(${SPIN})\n`
const IMPORT = `import { spin } from ${SPIN}\n`
const MODULES = {
  'main.js': `require('./outer.js')\nrequire('./last.js')\n`,
  'outer.js': `require('./inner.js')\n`,
  'last.js': `${REQUIRE}${WORK}`,
  'inner.js': `${REQUIRE}${WORK}`,
  'main.mjs': `import './first.mjs'\nimport './inner.js'\n${IMPORT}${WORK}`,
  'first.mjs': `${IMPORT}${WORK}`,
}

/** Records a program of {@link MODULES}. Returns a function that finds modules in the report. @param {string} main */
async function record(main) {
  const cwd = temporaryDirectory()
  for (const [name, text] of Object.entries(MODULES)) fs.writeFileSync(path.join(cwd, name), text)
  const { code, stderr, files } = await run([`./${main}`], { cwd })
  assert.equal(code, 0, stderr)
  const { imports = [] } = await report(files, { imports: true })
  return (/** @type {string} */ name, list = imports) => {
    const found = list.find(({ file }) => file === path.join(cwd, name))
    assert.ok(found, `${name} is not in ${JSON.stringify(list)}`)
    return found
  }
}

test('CommonJS modules stand below those that require them', async () => {
  const find = await record('main.js')
  const main = find('main.js')
  const outer = find('outer.js', main.children)
  const inner = find('inner.js', outer.children)
  const last = find('last.js', main.children)
  for (const { runMs, file } of [inner, last]) assert.ok(runMs > 0, file)
})

test('ES modules stand side by side, as they run', async () => {
  const find = await record('main.mjs')
  for (const name of ['first.mjs', 'main.mjs', 'inner.js']) {
    const { runMs, children } = find(name)
    assert.ok(runMs > 0, name)
    assert.ok(children.every(({ file }) => !file.endsWith('.mjs')))
  }
})
