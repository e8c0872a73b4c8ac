'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const zlib = require('node:zlib')
const { readProfile, analyze } = require('./trace.js')

/**
 * Reads a merged trace and checks what every merged trace must fulfil.
 * @param {string} file
 */
async function readMerged(file) {
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
  const bytes = fs.readFileSync(file)
  const text = (file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes).toString('utf8')
  const json = JSON.parse(text)
  const events = json.traceEvents
  const start = text.indexOf('[\n') + 2
  const lines = text.slice(start, text.indexOf('\n]', start)).split('\n')
  assert.equal(lines.length, events.length, `${file} does not have one event per line`)

  const named = (/** @type {string} */ name) =>
    events.filter((/** @type {any} */ event) => event.name === name)
  assert.equal(named('TracingStartedInBrowser').length, 1)
  const ids = named('Profile').map((/** @type {any} */ { id }) => id)
  assert.equal(new Set(ids).size, ids.length, 'a profile id occurs twice')

  const data = await analyze(events)
  assert.equal(data.Meta.traceIsGeneric, false)
  const frames = [
    ...named('TracingStartedInBrowser').flatMap((/** @type {any} */ e) => e.args.data.frames),
    ...named('FrameCommittedInBrowser').map((/** @type {any} */ e) => e.args.data),
  ]
  const threads = named('Profile').map((/** @type {any} */ profile) => {
    const { pid, tid, id } = profile
    const chunks = named('ProfileChunk').filter((/** @type {any} */ event) => event.id === id)
    for (const chunk of chunks) assert.deepEqual([chunk.pid, chunk.tid], [pid, tid])
    const names = named('thread_name').filter(
      (/** @type {any} */ event) => event.pid === pid && event.tid === tid,
    )
    const thread = data.Renderer.processes.get(pid)?.threads.get(tid)
    assert.ok(thread, `DevTools' parser does not find thread ${tid} of ${pid}`)
    const tree = readProfile(profile, chunks)
    return {
      pid,
      tid,
      id,
      name: names.at(-1)?.args.name,
      entries: thread.entries,
      startUs: profile.ts,
      ...tree,
    }
  })
  const keys = threads.map((/** @type {any} */ { pid, tid }) => `${pid} ${tid}`)
  assert.equal(new Set(keys).size, keys.length, 'a thread has two profiles')
  return { json, events, frames, threads, processes: json.metadata['cpu-prof'].processes, data }
}

module.exports = { readMerged }
