'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

/** The traces that runs have left under a folder. @param {string} cwd */
function runTraces(cwd) {
  const profiles = path.join(cwd, 'profiles')
  return fs.readdirSync(profiles).map((run) => path.join(profiles, run, 'trace.json'))
}

/**
 * What DevTools' parser finds in a trace of many threads: their labels and functions.
 * @param {string} file
 */
async function readMerged(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'latin1'))
  // @ts-expect-error the engine uses it, and Nodes before 22 lack it
  URL.parse ??= (/** @type {string} */ url) => (URL.canParse?.(url) ? new URL(url) : null)
  // @ts-expect-error it has no types
  const { analyzeEvents } = await import('@paulirish/trace_engine/analyze-trace.mjs')
  const { parsedTrace } = await analyzeEvents(traceEvents)
  assert.equal(parsedTrace.data.Meta.traceIsGeneric, false)
  const threads = []
  for (const [pid, { url, threads: all }] of parsedTrace.data.Renderer.processes) {
    for (const [tid, { name, entries }] of all) {
      const functions = new Set(entries.map((/** @type {any} */ e) => e.callFrame?.functionName))
      threads.push({ pid, tid, url: String(url), name, functions })
    }
  }
  return threads
}

module.exports = { runTraces, readMerged }
