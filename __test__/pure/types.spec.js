'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const index = require('../../index.js')
const { load, loadTools } = require('../../lib/addon.js')
const { loadFleet } = require('../../packages/fleet/addon.js')
const { FIXTURES, PACKAGE } = require('../helpers/files.js')
const { repositoryPages } = require('../helpers/pages.js')

test('the types accept valid calls and reject invalid calls', () => {
  const tsc = path.join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc')
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    'node',
  ]
  const { stdout, status } = spawnSync(
    process.execPath,
    [tsc, ...flags, path.join(FIXTURES, 'types.mts')],
    { encoding: 'utf8', cwd: PACKAGE },
  )
  assert.equal(stdout, '')
  assert.equal(status, 0)
})

test('the package has the functions that the types declare, and the documentation names them', () => {
  const types = fs.readFileSync(path.join(PACKAGE, 'index.d.ts'), 'utf8')
  const declared = [...types.matchAll(/^export function (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(Object.keys(index).sort(), declared.sort())
  const pages = Object.entries(repositoryPages()).filter(([page]) => page.startsWith('docs/'))
  const text = pages.map(([, page]) => page).join('\n')
  for (const name of declared) assert.match(text, new RegExp(`\\b${name}\\(`))
})

test('JavaScript calls the functions that the addons have', () => {
  const { stdout } = spawnSync('git', ['ls-files', 'lib', 'cli', 'packages', 'bench'], {
    cwd: PACKAGE,
    encoding: 'utf8',
  })
  const files = stdout.split('\n').filter((file) => file.endsWith('.js'))
  const texts = files.map((file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8'))
  const called = new Set(texts.flatMap((text) => text.match(/\bcpuProf[A-Z]\w*/g) ?? []))
  // A worker finds this one otherwise, before it has the addon.
  called.delete('cpuProfRecordCovered')
  const exported = new Set(
    [load(), loadTools(), loadFleet()].flatMap((addon) => Object.keys(addon)),
  )
  assert.deepEqual([...called].sort(), [...exported].sort())
})
