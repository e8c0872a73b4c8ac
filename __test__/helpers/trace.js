'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')

/**
 * Reads a trace of one thread and checks all that every trace must hold.
 * @param {string} file
 */
async function readTrace(file) {
  const text = fs.readFileSync(file, 'latin1')
  assert.match(text, /^[\x20-\x7e\n]*$/, `${file} is not plain ASCII`)
  const json = JSON.parse(text)
  const events = json.traceEvents
  const lines = text.split('\n')
  assert.equal(lines.length, events.length + 2, `${file} has not one event a line`)

  const { pid, threadId: tid } = json.metadata['cpu-prof']
  for (const event of events) {
    assert.equal(event.pid, pid)
    if (event.name !== 'process_name') assert.equal(event.tid, tid)
  }
  /** @param {string} name */
  const named = (name) => events.filter((/** @type {any} */ event) => event.name === name)
  const started = named('TracingStartedInBrowser')
  assert.equal(started.length, 1)
  assert.match(started[0].args.data.frames[0].url, /^[A-Za-z][A-Za-z0-9+.-]*: .*\(pid \d+\)$/)
  assert.equal(named('thread.start').length, 1)
  assert.equal(named('process_name').length, 1)

  const profiles = named('Profile')
  assert.equal(profiles.length, 1)
  const tree = readProfile(profiles[0], named('ProfileChunk'))
  const ended = events.at(-1).name === 'trace.end'
  const label = named('thread_name').at(-1).args.name
  const thread = await parseAsDevTools(events, pid, tid)
  assert.equal(thread.name, label)
  return {
    file,
    metadata: json.metadata['cpu-prof'],
    events,
    pid,
    tid,
    label,
    /** What DevTools' parser calls an entry: a function's every call. @type {any[]} */
    entries: thread.entries,
    processLabel: started[0].args.data.frames[0].url,
    ended,
    startUs: profiles[0].ts,
    ...tree,
  }
}

/** What DevTools' own parser makes of the one thread. @param {any[]} events @param {number} pid @param {number} tid */
async function parseAsDevTools(events, pid, tid) {
  const data = await analyze(events)
  assert.equal(data.Meta.traceIsGeneric, false)
  return data.Renderer.processes.get(pid).threads.get(tid)
}

/** What DevTools' own parser makes of a trace. @param {any[]} events */
async function analyze(events) {
  // @ts-expect-error the engine uses it, and Nodes before 22 lack it
  URL.parse ??= (/** @type {string} */ url) => (URL.canParse?.(url) ? new URL(url) : null)
  // @ts-expect-error it has no types
  const { analyzeEvents } = await import('@paulirish/trace_engine/analyze-trace.mjs')
  const { parsedTrace } = await analyzeEvents(structuredClone(events))
  return parsedTrace.data
}

/** @param {any} profile @param {any[]} chunks */
function readProfile(profile, chunks) {
  assert.match(profile.id, /^0x[0-9a-f]+$/)
  /** @type {Map<number, any>} */
  const nodes = new Map()
  let time = profile.args.data.startTime
  let previousTs = profile.ts
  /** @type {{node: any, us: number}[]} */
  const samples = []
  for (const { id, ts, args } of chunks) {
    assert.equal(id, profile.id)
    assert.ok(ts >= previousTs, 'chunks run back in time')
    previousTs = ts
    const { cpuProfile, timeDeltas } = args.data
    for (const node of cpuProfile.nodes ?? []) {
      assert.ok(!nodes.has(node.id), `node ${node.id} is announced twice`)
      assert.ok(!('children' in node))
      if (nodes.size === 0) assert.equal(node.callFrame.functionName, '(root)')
      else assert.ok(nodes.has(node.parent), `node ${node.id} comes before its parent`)
      nodes.set(node.id, node)
    }
    assert.ok(cpuProfile.samples.length > 0 && cpuProfile.samples.length <= 1000)
    assert.equal(cpuProfile.samples.length, timeDeltas.length)
    for (const [i, sample] of cpuProfile.samples.entries()) {
      assert.ok(nodes.has(sample), `sample of unknown node ${sample}`)
      assert.ok(timeDeltas[i] >= 0, 'time runs back')
      time += timeDeltas[i]
      samples.push({ node: nodes.get(sample), us: timeDeltas[i] })
    }
    assert.equal(ts, time, 'a chunk is not stamped with its last sample')
  }

  const durationUs = time - profile.args.data.startTime
  /** The samples whose stack satisfies `test`. @param {(frame: any) => boolean} test */
  const under = (test) =>
    samples.filter(({ node }) => {
      for (let at = node; at !== undefined; at = nodes.get(at.parent)) {
        if (test(at.callFrame)) return true
      }
      return false
    })
  /** Their share of all samples. @param {(frame: any) => boolean} test */
  const totalShare = (test) => under(test).length / samples.length
  /** Their time. A loaded machine makes it longer, never shorter. @param {(frame: any) => boolean} test */
  const totalMs = (test) => under(test).reduce((sum, { us }) => sum + us, 0) / 1000
  /** @param {string} name */
  const selfShare = (name) =>
    samples.filter(({ node }) => node.callFrame.functionName === name).length / samples.length
  return { nodes, samples, durationUs, endUs: time, totalShare, totalMs, selfShare }
}

module.exports = { readTrace, readProfile, analyze }
