'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { check } = require('../../index.js')

/**
 * Reads a trace of one thread and checks what every trace must fulfil.
 * @param {string} file
 */
async function readTrace(file) {
  const text = fs.readFileSync(file, 'latin1')
  assert.match(text, /^[\x20-\x7e\n]*$/, `${file} is not plain ASCII`)
  const json = JSON.parse(text)
  const events = json.traceEvents
  assert.deepEqual((await check(file)).files[0].problems, [], file)
  const lines = text.split('\n')
  assert.equal(lines.length, events.length + 2, `${file} does not have one event per line`)

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
  const last = events.findLast((/** @type {any} */ { name }) =>
    /^(thread.flush|trace.end)$/.test(name),
  )
  const tree = readProfile(profiles[0], named('ProfileChunk'), last?.ts)
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
    /** The entries of DevTools' parser: one for each call of a function. @type {any[]} */
    entries: thread.entries,
    processLabel: started[0].args.data.frames[0].url,
    ended,
    startUs: profiles[0].ts,
    ...tree,
  }
}

/** Returns the only thread, as read by DevTools' parser. @param {any[]} events @param {number} pid @param {number} tid */
async function parseAsDevTools(events, pid, tid) {
  const data = await analyze(events)
  assert.equal(data.Meta.traceIsGeneric, false)
  return data.Renderer.processes.get(pid).threads.get(tid)
}

/** The last use of DevTools' parser, which keeps state in its modules. @type {Promise<unknown>} */
let parsing = Promise.resolve()

/** Returns the data that DevTools' parser reads from a trace. @param {any[]} events */
function analyze(events) {
  const data = parsing.then(() => analyzeAlone(events))
  parsing = data.catch(() => {})
  return data
}

/** @param {any[]} events */
async function analyzeAlone(events) {
  // @ts-expect-error the engine uses URL.parse, which Node has from 22 on
  URL.parse ??= (/** @type {string} */ url) => (URL.canParse?.(url) ? new URL(url) : null)
  // @ts-expect-error the package has no types
  const { analyzeEvents } = await import('@paulirish/trace_engine/analyze-trace.mjs')
  const { parsedTrace } = await analyzeEvents(structuredClone(events))
  return parsedTrace.data
}

/**
 * Checks the lines and columns of a chunk.
 * @param {number} samples @param {number[]} [lines] @param {number[]} [columns]
 */
function checkPositions(samples, lines, columns) {
  if (lines === undefined) return assert.equal(columns, undefined)
  assert.equal(lines.length, samples)
  assert.equal(columns?.length, samples)
  assert.ok(
    lines.some((line) => line > 0),
    'a chunk without lines has a list of lines',
  )
  // DevTools skips a line without a column.
  for (const [i, line] of lines.entries()) assert.equal(line > 0, columns[i] > 0)
}

/**
 * Returns whether a node's function has a script. A stack that is cut has the line of the nearest function below
 * that has one.
 * @param {any} node @param {Map<number, any>} nodes
 */
function hasScript(node, nodes) {
  if (node.callFrame.functionName !== '(truncated)') return node.callFrame.scriptId !== '0'
  let at = nodes.get(node.parent)
  while (at?.callFrame.scriptId === '0') at = nodes.get(at.parent)
  return at !== undefined
}

/**
 * Reads and checks the chunks of one profile. A sample lasts until the next, the last one until
 * `endUs`.
 * @param {any} profile @param {any[]} chunks @param {number} [endUs]
 */
function readProfile(profile, chunks, endUs) {
  assert.match(profile.id, /^0x[0-9a-f]+$/)
  /** @type {Map<number, any>} */
  const nodes = new Map()
  let time = profile.args.data.startTime
  let previousTs = profile.ts
  /** Label sets by their ids. @type {Map<number, Record<string, string>>} */
  const labelSets = new Map()
  /** Nodes, labels, the time before each sample, and the time until the next. @type {{node: any, labels: Record<string, string> | undefined, us: number, lastsUs: number}[]} */
  const samples = []
  for (const { id, ts, args } of chunks) {
    assert.equal(id, profile.id)
    assert.ok(ts >= previousTs, 'a chunk is older than the one before')
    previousTs = ts
    const { cpuProfile, timeDeltas, lines, columns, labels } = args.data
    for (const [id, set] of Object.entries(args.data.labelSets ?? {})) {
      assert.ok(!labelSets.has(Number(id)), `label set ${id} occurs twice`)
      labelSets.set(Number(id), /** @type {any} */ (set))
    }
    if (labels !== undefined) assert.equal(labels.length, cpuProfile.samples.length)
    for (const node of cpuProfile.nodes ?? []) {
      assert.ok(!nodes.has(node.id), `node ${node.id} occurs twice`)
      assert.ok(!('children' in node))
      if (nodes.size === 0) assert.equal(node.callFrame.functionName, '(root)')
      else assert.ok(nodes.has(node.parent), `node ${node.id} comes before its parent`)
      nodes.set(node.id, node)
    }
    assert.ok(cpuProfile.samples.length > 0 && cpuProfile.samples.length <= 1000)
    assert.equal(cpuProfile.samples.length, timeDeltas.length)
    for (const [i, sample] of cpuProfile.samples.entries()) {
      assert.ok(nodes.has(sample), `sample of unknown node ${sample}`)
      assert.ok(timeDeltas[i] >= 0, 'a time delta is negative')
      time += timeDeltas[i]
      const node = nodes.get(sample)
      if (!hasScript(node, nodes))
        assert.ok(!lines?.[i], `${node.callFrame.functionName}, which has no script, has a line`)
      const id = labels?.[i] ?? 0
      assert.ok(id === 0 || labelSets.has(id), `sample of unknown label set ${id}`)
      samples.push({ node, labels: labelSets.get(id), us: timeDeltas[i], lastsUs: 0 })
    }
    checkPositions(cpuProfile.samples.length, lines, columns)
    assert.equal(ts, time, 'the time of a chunk is not the time of its last sample')
  }

  for (const [i, sample] of samples.entries()) {
    sample.lastsUs = samples[i + 1]?.us ?? Math.max(0, (endUs ?? 0) - time)
  }
  const durationUs = time - profile.args.data.startTime
  /** @param {typeof samples} some */
  const length = (some) => some.reduce((sum, { lastsUs }) => sum + lastsUs, 0)
  /** Returns the samples whose stack satisfies `test`. @param {(frame: any) => boolean} test */
  const under = (test) =>
    samples.filter(({ node }) => {
      for (let at = node; at !== undefined; at = nodes.get(at.parent)) {
        if (test(at.callFrame)) return true
      }
      return false
    })
  /** Returns the share of time with a stack that satisfies `test`. @param {(frame: any) => boolean} test */
  const totalShare = (test) => length(under(test)) / length(samples)
  /** Returns their milliseconds: more on a loaded machine, never less. @param {(frame: any) => boolean} test */
  const totalMs = (test) => length(under(test)) / 1000
  /** Returns the share of time with a function on top. @param {string} name */
  const selfShare = (name) =>
    length(samples.filter(({ node }) => node.callFrame.functionName === name)) / length(samples)
  return { nodes, samples, durationUs, endUs: time, totalShare, totalMs, selfShare }
}

module.exports = { readTrace, readProfile, analyze }
