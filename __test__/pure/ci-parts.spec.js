'use strict'

// Which parts of `.ci/run` are left out.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { PARTS, systemRooms } = require('../../scripts/ci-parts.js')
const { PACKAGE } = require('../helpers/files.js')

/** @typedef {import('../../scripts/ci-parts.js').Touched} Touched */

const read = (/** @type {string} */ file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8')

test('each part that can be left out is one of .ci/run', () => {
  const parts = [...read('.ci/run').matchAll(/^part '([^']+)'/gm)].map(([, part]) => part)
  assert.deepEqual(Object.keys(PARTS).sort(), parts.sort())
  const taking = [...read('.ci/run').matchAll(/\[([a-z0-9:-]+)\]=\d+/g)].map(([, part]) => part)
  assert.deepEqual(taking.sort(), parts, 'the time of each part is known')
})

test('the folders of code of a system are there', () => {
  const rooms = systemRooms()
  assert.ok(rooms.includes('src/core/base/system/'), `${rooms}`)
  for (const room of rooms) assert.ok(fs.existsSync(path.join(PACKAGE, room)), room)
})

for (const [what, touched, expected] of /** @type {[string, Partial<Touched>, string[]][]} */ ([
  ['a page', { changed: ['README.md'], specs: ['pure/docs.spec.js'] }, []],
  ['a tool', { changed: ['src/tools/merge/merge.rs'], specs: ['pure/merge.spec.js'] }, []],
  ['a lake', { specs: ['fleet/lake-blame.spec.js', 'lake/spark.spec.js'] }, ['fleet', 'lake']],
  ['a recording', { specs: ['recording/api.spec.js'] }, ['inspector', 'matrix']],
  ['a tool and a recording', { specs: ['recording/tools.spec.js'] }, ['matrix']],
  [
    'the recorder',
    {
      changed: ['src/recorder/record/window/idle.rs'],
      specs: ['recording/api.spec.js'],
      crates: ['cpu-prof'],
    },
    ['inspector', 'matrix', 'memory'],
  ],
  ['code of a system', { changed: ['src/core/base/system/mod.rs'] }, ['linux-x64-musl']],
  ['a target', { changed: ['scripts/targets.js'] }, ['linux-x64-musl']],
  ['the choice of a target', { changed: ['lib/preload.js'] }, ['linux-x64-musl']],
])) {
  test(`a change of ${what} needs ${expected.join(', ') || 'no part'}`, () => {
    const all = { changed: [], specs: [], crates: [], ...touched }
    const needed = Object.keys(PARTS).filter((part) => PARTS[part](all))
    assert.deepEqual(needed.map((part) => part.replace('test:', '')).sort(), expected)
  })
}
