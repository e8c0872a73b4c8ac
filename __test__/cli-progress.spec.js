'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { progress } = require('../cli/terminal/progress.js')

/**
 * What is written to stderr, at these moments of a bar's life.
 * @param {import('node:test').TestContext} t @param {boolean} isTTY @param {number[]} moments ms
 */
function told(t, isTTY, moments) {
  let now = 5000
  let written = ''
  t.mock.method(Date, 'now', () => now)
  const write = (/** @type {string} */ text) => {
    written += text
    return true
  }
  const stderr = { isTTY, write, listenerCount: () => 1 }
  const real = Object.getOwnPropertyDescriptor(process, 'stderr')
  Object.defineProperty(process, 'stderr', { configurable: true, value: stderr })
  try {
    const bar = progress('merging')
    for (const moment of moments) {
      now = 5000 + moment
      bar.update(moment, 4000)
    }
    bar.end()
  } finally {
    if (real) Object.defineProperty(process, 'stderr', real)
    t.mock.restoreAll()
  }
  return written
}

test('what takes less than a second is not worth a word', (t) => {
  assert.equal(told(t, true, [0, 500, 999]), '')
  assert.equal(told(t, false, [0, 500, 999]), '')
})

test('what takes longer has a line that renews itself, and goes', (t) => {
  assert.equal(
    told(t, true, [500, 1000, 1050, 2000]),
    '\r\x1b[Kcpu-prof: merging: 25 %\r\x1b[Kcpu-prof: merging: 50 %\r\x1b[K',
  )
})

test('where there is no terminal it is said once', (t) => {
  assert.equal(told(t, false, [500, 1000, 2000, 3000]), 'cpu-prof: merging …\n')
})
