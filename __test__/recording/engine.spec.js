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
    const { tid, entries, events, startUs } = trace
    const names = new Set(entries.map((entry) => entry.callFrame?.functionName))
    for (const name of [tid > 0 ? 'worker' : 'main', 'spin']) {
      assert.ok(names.has(name), `${name} is not in ${[...names]}`)
    }
    const endUs = events.at(-1).ts
    const last = entries.at(-1)
    assert.ok(last.ts + (last.dur ?? 0) <= endUs)

    assertSeen(trace, 'spin')
    const spinUs = entries.filter(isSpin).reduce((sum, entry) => sum + entry.dur, 0)
    // The last sample lasts until the end, which can be far where the machine stands still.
    assert.ok(spinUs <= endUs - startUs, `${spinUs} of ${endUs - startUs} µs`)
    // The parser adds collections to the function that they interrupt.
    const sampledUs = 1000 * trace.totalMs((frame) => frame.functionName === 'spin')
    const ratio = spinUs / sampledUs
    assert.ok(ratio > 0.5 && ratio < 2, `${spinUs} µs, with samples of ${sampledUs} µs`)
  }
})
