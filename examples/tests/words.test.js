'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')

/** @param {string[]} words */
function countWords(words) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

test('counts a million words', () => {
  const words = Array.from({ length: 1_000_000 }, (_, i) => ((i * 7919) % 4093).toString(36))
  assert.equal(countWords(words).size, 4093)
})
