'use strict'

// The names of requests: ids in their paths become `:id`, so that there are few, and what can be secret stays out.

const assert = require('node:assert/strict')
const test = require('node:test')
const { bounded, requestName, urlName } = require('../../lib/observed/request-name.js')
const CASES = require('../../src/core/base/outside_text/request_names.json')

/** Names a request that was written as a name. @param {string} text */
function nameOf(text) {
  const at = text.indexOf(' ')
  return at === -1 ? urlName(text) : requestName(text.slice(0, at), text.slice(at + 1))
}

test('requests have the names that the addon gives them when it reads a recording', () => {
  assert.ok(CASES.length > 20)
  for (const [given, expected] of CASES) {
    assert.equal(nameOf(given), expected)
    assert.equal(nameOf(given), expected, 'the second time')
    assert.equal(nameOf(expected), expected)
  }
})

test('names are short, whatever is asked for', () => {
  for (const target of [
    `/${'x'.repeat(14_000)}`,
    `/${'abc/'.repeat(4000)}`,
    `/${'é/'.repeat(4000)}`,
    `https://${'h'.repeat(14_000)}/`,
    `/${';'.repeat(14_000)}`,
  ]) {
    assert.ok(requestName('GET', target).length <= 300)
    assert.ok(requestName('X'.repeat(9999), target).length <= 300)
    assert.ok(urlName(target).length <= 300)
  }
})

test('any number of names makes few labels', () => {
  const names = Array.from({ length: 20_000 }, (_, n) => bounded(`/name${n}`))
  assert.ok(new Set(names).size <= 1001)
  assert.equal(names[0], '/name0')
  assert.equal(names.at(-1), '(other)')
  assert.equal(bounded('/name0'), '/name0')
})
