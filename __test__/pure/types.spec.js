'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const test = require('node:test')
const { FIXTURES, PACKAGE } = require('../helpers/files.js')

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
