'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run } = require('../helpers/run.js')

// run() also checks for every trace of every spec that DevTools' parser accepts the trace.

test("DevTools' parser finds every thread's functions", async () => {
  const { traces } = await run(['workers.js', 'natural'])
  assert.equal(traces.length, 3)
  for (const { tid, entries, events } of traces) {
    const names = new Set(entries.map((entry) => entry.callFrame?.functionName))
    if (tid > 0) assert.ok(names.has('crunch') && names.has('spin'), [...names].join())
    const last = entries.at(-1)
    assert.ok(last.ts + (last.dur ?? 0) <= events.at(-1).ts)
  }
})

test("DevTools' parser finds the right time of a function", async () => {
  const { traces } = await run(['ending.js', 'natural', '500'])
  const spinUs = traces[0].entries
    .filter((entry) => entry.callFrame?.functionName === 'spin')
    .reduce((sum, entry) => sum + entry.dur, 0)
  assert.ok(spinUs > 400_000 && spinUs < traces[0].durationUs, `${spinUs}`)
})
