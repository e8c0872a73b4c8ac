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
    const process = data.Renderer.processes.get(pid)
    const thread = process?.threads.get(tid)
    assert.ok(thread, `DevTools' parser does not find thread ${tid} of ${pid}`)
    const { name, entries } = thread
    const names = named('thread_name').filter(
      (/** @type {any} */ event) => event.pid === pid && event.tid === tid,
    )
    assert.equal(names.at(-1)?.args.name, name)
    const functions = new Set(entries.map((/** @type {any} */ e) => e.callFrame?.functionName))
    const end = events.findLast(
      (/** @type {any} */ event) =>
        event.pid === pid && event.tid === tid && /^(thread.flush|trace.end)$/.test(event.name),
    )
    const tree = readProfile(profile, chunks, end?.ts)
    const url = String(process.url)
    return { pid, tid, id, url, name, entries, functions, startUs: profile.ts, ...tree }
  })
  const keys = threads.map((/** @type {any} */ { pid, tid }) => `${pid} ${tid}`)
  assert.equal(new Set(keys).size, keys.length, 'a thread has two profiles')
  return { json, events, frames, threads, processes: json.metadata['cpu-prof'].processes, data }
}

/**
 * @typedef {object} Thread of a trace, as readMerged() and threadOf() return it
 * @property {number} startUs
 * @property {{ node: any, us: number }[]} samples each with the time before it
 * @property {Map<number, any>} nodes with their parents
 */

/** Returns the samples as a time and a stack, ms after written.js's usual start. @param {Thread} thread */
function moments({ startUs, samples, nodes }) {
  let time = startUs
  return samples.map(({ us, node }) => {
    time += us
    return `${(time - 1e9) / 1000} ${stackText(nodes, node.id)}`
  })
}

/**
 * Returns a stack as written.js takes it: `main main.js:1:1 > work work.js:3:1`. Files under `/project`
 * are relative.
 * @param {Map<number, any>} nodes @param {number} id
 */
function stackText(nodes, id) {
  const frames = []
  for (let node = nodes.get(id); node?.parent !== undefined; node = nodes.get(node.parent)) {
    const { functionName, url, lineNumber, columnNumber } = node.callFrame
    const file = url.replace('file:///project/', '')
    const place = url === '' ? '' : ` ${file}:${lineNumber + 1}:${columnNumber + 1}`
    frames.unshift(`${functionName || '(anonymous)'}${place}`)
  }
  return frames.join(' > ')
}

/** Returns the thread of a `.cpuprofile`. @param {any} profile @returns {Thread} */
function threadOf({ startTime, nodes: list, samples, timeDeltas }) {
  const nodes = new Map(list.map((/** @type {any} */ node) => [node.id, { ...node }]))
  for (const { id, children = [] } of list) {
    for (const child of children) nodes.get(child).parent = id
  }
  const nodeOf = (/** @type {number} */ id, /** @type {number} */ i) => ({
    node: nodes.get(id),
    us: timeDeltas[i],
  })
  return { startUs: startTime, samples: samples.map(nodeOf), nodes }
}

module.exports = { readMerged, moments, threadOf }
