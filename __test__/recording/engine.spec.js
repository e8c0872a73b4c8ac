'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run } = require('../helpers/run.js')
const { assertSeen } = require('../helpers/work.js')

// run() also checks for every trace of every spec that DevTools' parser accepts the trace.

/** @param {{ callFrame?: { functionName: string } }} entry */
const isSpin = ({ callFrame }) => callFrame?.functionName === 'spin'

test("DevTools' parser finds every thread's functions, with the times that their samples have", async () => {
  const { traces } = await run(['ending.js', 'worker-returns', '200'])
  assert.equal(traces.length, 2)
  for (const trace of traces) {
    const { tid, entries, events, durationUs } = trace
    const names = new Set(entries.map((entry) => entry.callFrame?.functionName))
    for (const name of [tid > 0 ? 'worker' : 'main', 'spin']) {
      assert.ok(names.has(name), `${name} is not in ${[...names]}`)
    }
    const last = entries.at(-1)
    assert.ok(last.ts + (last.dur ?? 0) <= events.at(-1).ts)

    assertSeen(trace, 'spin')
    const spinUs = entries.filter(isSpin).reduce((sum, entry) => sum + entry.dur, 0)
    assert.ok(spinUs < durationUs, `${spinUs} of ${durationUs} µs`)
    // The parser adds collections to the function that they interrupt.
    const sampledUs = 1000 * trace.totalMs((frame) => frame.functionName === 'spin')
    const ratio = spinUs / sampledUs
    assert.ok(ratio > 0.5 && ratio < 2, `${spinUs} µs, with samples of ${sampledUs} µs`)
  }
})
