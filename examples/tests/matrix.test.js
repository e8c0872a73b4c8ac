'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')

/** @param {number[][]} a @param {number[][]} b */
function multiply(a, b) {
  return a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)))
}

test('multiplying by the identity returns the same matrix', () => {
  const size = 180
  const identity = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => Number(i === j)),
  )
  const numbers = identity.map((row, i) => row.map((_, j) => i * size + j))
  assert.deepEqual(multiply(numbers, identity), numbers)
})
