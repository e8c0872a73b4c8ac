'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

/** Returns the merged traces of the runs under a folder. @param {string} cwd */
function runTraces(cwd) {
  const profiles = path.join(cwd, 'profiles')
  const runs = fs.readdirSync(profiles).filter((name) => name !== '.gitignore')
  return runs.map((run) => path.join(profiles, run, 'trace.json'))
}

/**
 * Returns the threads that DevTools' parser finds in a merged trace: their labels, functions and starts.
 * @param {string} file
 */
async function readMerged(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'latin1'))
  // @ts-expect-error the engine uses URL.parse, which Node has from 22 on
  URL.parse ??= (/** @type {string} */ url) => (URL.canParse?.(url) ? new URL(url) : null)
  // @ts-expect-error the package has no types
  const { analyzeEvents } = await import('@paulirish/trace_engine/analyze-trace.mjs')
  const { parsedTrace } = await analyzeEvents(traceEvents)
  assert.equal(parsedTrace.data.Meta.traceIsGeneric, false)
  const threads = []
  for (const [pid, { url, threads: all }] of parsedTrace.data.Renderer.processes) {
    for (const [tid, { name, entries }] of all) {
      const functions = new Set(entries.map((/** @type {any} */ e) => e.callFrame?.functionName))
      const start = traceEvents.find(
        (/** @type {any} */ event) =>
          event.name === 'Profile' && event.pid === pid && event.tid === tid,
      )
      threads.push({ pid, tid, url: String(url), name, functions, startUs: start?.ts })
    }
  }
  return threads
}

module.exports = { runTraces, readMerged }
