'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { progress } = require('../../cli/terminal/progress.js')

/**
 * Returns what a progress line writes to stderr when updated at these moments.
 * @param {import('node:test').TestContext} t @param {boolean} isTTY @param {number[]} moments ms
 */
function written(t, isTTY, moments) {
  let now = 5000
  let text = ''
  t.mock.method(Date, 'now', () => now)
  const write = (/** @type {string} */ chunk) => {
    text += chunk
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
  return text
}

test('no progress is shown for less than a second', (t) => {
  assert.equal(written(t, true, [0, 500, 999]), '')
  assert.equal(written(t, false, [0, 500, 999]), '')
})

test('a terminal shows a line that is updated and then cleared', (t) => {
  assert.equal(
    written(t, true, [500, 1000, 1050, 2000]),
    '\r\x1b[Kcpu-prof: merging: 25 %\r\x1b[Kcpu-prof: merging: 50 %\r\x1b[K',
  )
})

test('without a terminal one line is written', (t) => {
  assert.equal(written(t, false, [500, 1000, 2000, 3000]), 'cpu-prof: merging …\n')
})
