'use strict'

// The paths of requests as labels: ids in them become `:id`, so that there are few.

const assert = require('node:assert/strict')
const test = require('node:test')
const { patternOf } = require('../../lib/labels/paths.js')

test('segments that are ids have one name', () => {
  const patterns = {
    '/': '/',
    '*': '*',
    '/users/17': '/users/:id',
    '/users/17/posts/': '/users/:id/posts/',
    '/v2/users/me': '/v2/users/me',
    '/o/3f2b8a54-9c1d-4e0f-8a77-0123456789ab': '/o/:id',
    '/commits/da39a3ee5e6b4b0d3255bfef95601890afd80709': '/commits/:id',
    '/files/QWxhZGRpbjpvcGVuIHNlc2FtZTE': '/files/:id',
    '/files/QWxhZGRpbjpvcGVuIHNlc2FtZTEx==': '/files/:id',
    '/accountSettingsOverview': '/accountSettingsOverview',
    '/assets/feedface.js': '/assets/feedface.js',
  }
  for (const [path, pattern] of Object.entries(patterns)) assert.equal(patternOf(path), pattern)
})

test('any number of paths makes few patterns', () => {
  const names = Array.from({ length: 20_000 }, (_, n) => patternOf(`/name${n}`))
  assert.ok(new Set(names).size <= 1001)
  assert.equal(names[0], '/name0')
  assert.equal(names.at(-1), '(other)')
  assert.equal(patternOf('/name0'), '/name0')
})
