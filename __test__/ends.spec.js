'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run } = require('./helpers/run.js')

// How a main thread can end while its code still runs, and what its parent then sees.
const ENDS = [
  { how: 'natural', code: 0 },
  { how: 'exit-code', code: 4 },
  { how: 'exit', code: 3 },
  { how: 'throw', code: 1, stderr: /thrown on purpose/ },
  { how: 'reject', code: 1, stderr: /rejected on purpose/ },
]

for (const { how, code, stderr = /^$/ } of ENDS) {
  test(`a program that ends by ${how} leaves a finished trace`, async () => {
    const result = await run(['ending.js', how])
    assert.equal(result.code, code)
    assert.match(result.stderr, stderr)
    assert.equal(result.stdout, '')
    assert.equal(result.traces.length, 1)
    const [trace] = result.traces
    assert.ok(trace.ended)
    assert.equal(trace.pid, result.pid)
    assert.ok(trace.totalShare((frame) => frame.functionName === 'spin') > 0.5)
  })
}

test('exit listeners are in the trace', async () => {
  const { traces } = await run(['ending.js', 'exit-listener'])
  assert.ok(traces[0].totalShare((frame) => frame.functionName === 'lastWords') > 0.3)
})

test('a program that ends before the first flush leaves its samples', async () => {
  const { traces } = await run(['ending.js', 'natural', '150'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '60000' },
  })
  assert.ok(traces[0].ended)
  assert.ok(traces[0].totalShare((frame) => frame.functionName === 'spin') > 0.3)
})
