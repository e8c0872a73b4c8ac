'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run } = require('./helpers/run.js')

/** What DevTools' own parser makes of a trace. @param {any} trace */
async function parse(trace) {
  // @ts-expect-error the engine uses it, and Nodes before 22 lack it
  URL.parse ??= (/** @type {string} */ url) => (URL.canParse?.(url) ? new URL(url) : null)
  // @ts-expect-error it has no types
  const { analyzeEvents } = await import('@paulirish/trace_engine/analyze-trace.mjs')
  const { parsedTrace } = await analyzeEvents(structuredClone(trace.events))
  const { Meta, Renderer } = parsedTrace.data
  const thread = Renderer.processes.get(trace.pid).threads.get(trace.tid)
  return { generic: Meta.traceIsGeneric, thread }
}

test("DevTools' parser finds every thread and its functions", async () => {
  const { traces } = await run(['workers.js', 'terminate'])
  assert.equal(traces.length, 3)
  for (const trace of traces) {
    const { generic, thread } = await parse(trace)
    assert.equal(generic, false)
    assert.equal(thread.name, trace.label)
    const names = new Set(
      thread.entries.map((/** @type {any} */ entry) => entry.callFrame?.functionName),
    )
    if (trace.tid > 0) assert.ok(names.has('crunch') && names.has('spin'), [...names].join())
    const last = thread.entries.at(-1)
    assert.ok(last.ts + (last.dur ?? 0) <= trace.events.at(-1).ts)
  }
})

test("a function's time is right in DevTools' parser", async () => {
  const { traces } = await run(['ending.js', 'natural', '500'])
  const { thread } = await parse(traces[0])
  const spinUs = thread.entries
    .filter((/** @type {any} */ entry) => entry.callFrame?.functionName === 'spin')
    .reduce((/** @type {number} */ sum, /** @type {any} */ entry) => sum + entry.dur, 0)
  assert.ok(spinUs > 400_000 && spinUs < traces[0].durationUs, `${spinUs}`)
})
