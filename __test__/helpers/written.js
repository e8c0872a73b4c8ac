'use strict'

// Writes recordings with known times, as cpu-prof and as Node write them. Specs of the tools read
// these: V8 never records one program twice in the same way.

const fs = require('node:fs')
const path = require('node:path')
const { LabelIds } = require('./written-labels.js')

/**
 * A function on a stack: `name`, or `name file:line`, or `name file:line:column`, from 1 on. With
 * `@line` it is sampled on that line. A file is relative to the root of the program, absolute, a URL,
 * or V8's name for a file on Windows (`C:\\repo\\a.js`). Names with spaces need an object. A native function has
 * the path of its module, and a function of code that a program compiled from a text the id of the `text` and perhaps
 * its `compiler`.
 * @typedef {string | { name: string, file?: string, line?: number, column?: number, at?: number, module?: string, text?: number, compiler?: string }} Frame
 */

/**
 * A time in which one stack was sampled: the stack from the outermost function on,
 * as a list or as one text with ` > ` between the functions, and milliseconds. `cpuMs` is the CPU time
 * of the thread (default: none for `(idle)`, else all), `waitMs` what it waited for a core, `nativeMs`
 * the CPU time of native threads, `childrenMs` that of children that ended, and `everyMs` the time
 * between two samples (default: a millisecond; longer where the thread was not on a core). `labels` is the label set
 * of the samples.
 * @typedef {{ labels?: import('./written-labels.js').LabelSet }} Labelled
 * @typedef {Labelled & { cpuMs?: number, waitMs?: number, nativeMs?: number, childrenMs?: number, everyMs?: number }} Counters
 * @typedef {[stack: string | Frame[], ms: number, counters?: Counters]} Span
 */

const INTERVAL_US = 1000
const ROOT = { functionName: '(root)', scriptId: '0', url: '', lineNumber: -1, columnNumber: -1 }

/** @param {Frame} frame @param {string} root @returns {{ callFrame: typeof ROOT, at?: number }} */
function parseFrame(frame, root) {
  const parts = typeof frame === 'string' ? frameOfText(frame) : frame
  if ('module' in parts && parts.module !== undefined) return nativeFrame(parts)
  const { name, file = '', line = 0, column = 1, at } = parts
  const text = 'text' in parts ? parts.text : undefined
  const isWhole = file === '' || /^([a-z]+:|\\\\)/i.test(file)
  const url = isWhole ? file : urlOf(file, root)
  const place =
    url === '' && text === undefined ? { lineNumber: -1, columnNumber: -1 } : position(line, column)
  const functionName = name === '(anonymous)' ? '' : name
  const by = 'compiler' in parts ? parts.compiler : undefined
  const compiler = by === undefined ? {} : { compiler: parseFrame(by, root).callFrame }
  const scriptId = String(text ?? (url === '' ? 0 : 1))
  return {
    callFrame: { functionName, scriptId, url, ...place, ...compiler },
    at,
  }
}

/** @param {{ name: string, module?: string, at?: number }} frame */
function nativeFrame({ name, module = '', at }) {
  const place = { url: `file://${module}`, scriptId: '99001', lineNumber: -1, columnNumber: -1 }
  const ofSystem = module.endsWith('.node') ? {} : { package: '(native)' }
  return { callFrame: { functionName: name, ...place, origin: 'module', ...ofSystem }, at }
}

/** Returns the URL of a file, below a root of Windows or of another system. @param {string} file @param {string} root */
function urlOf(file, root) {
  if (!/^[a-z]:\\|^\\\\/i.test(root)) return `file://${path.resolve(root, file)}`
  const whole = path.win32.resolve(root, file).replaceAll('\\', '/')
  return encodeURI(whole.startsWith('//') ? `file:${whole}` : `file:///${whole}`)
}

/** @param {number} line @param {number} column */
const position = (line, column) => ({ lineNumber: line - 1, columnNumber: column - 1 })

/** @param {string} text */
function frameOfText(text) {
  const match = /^(\S*) (\S+?)(?::(\d+))?(?::(\d+))?(?:@(\d+))?$/.exec(text)
  if (match === null || text === '(garbage collector)') return { name: text }
  const [, name, file, ...numbers] = match
  const [line, column, at] = numbers.map((each) => (each === undefined ? undefined : Number(each)))
  return { name, file, line, column, at }
}

/** @typedef {Required<Omit<Counters, 'labels'>>} Counted */
/** @typedef {Labelled & { node: any, line: number, counters: Counted }} Sample which lasts for `everyMs` */

/** Returns the length of samples, microseconds. @param {Sample[]} samples */
const lengthUs = (samples) => samples.reduce((us, { counters }) => us + 1000 * counters.everyMs, 0)

/** Returns the time from each sample to the one before, microseconds. @param {Sample[]} samples */
const deltasUs = (samples) =>
  samples.map((_, index) => lengthUs(samples.slice(Math.max(0, index - 1), index)))

/** Makes the call tree and the samples of a thread. @param {Span[]} spans @param {string} root */
function sample(spans, root) {
  const nodes = [
    { id: 1, parent: 0, key: '', callFrame: ROOT, children: /** @type {number[]} */ ([]) },
  ]
  /** @type {Sample[]} */
  const samples = []
  for (const [stack, ms, counters = {}] of spans) {
    const frames = (typeof stack === 'string' ? stack.split(' > ') : stack).map((frame) =>
      parseFrame(frame, root),
    )
    let node = nodes[0]
    for (const { callFrame } of frames) {
      const { id } = node
      const key = `${id} ${JSON.stringify(callFrame)}`
      let child = nodes.find((each) => each.key === key)
      if (child === undefined) {
        child = { id: nodes.length + 1, parent: id, key, callFrame, children: [] }
        nodes.push(child)
        node.children.push(child.id)
      }
      node = child
    }
    const isIdle = node.callFrame.functionName === '(idle)'
    const { cpuMs = isIdle ? 0 : ms, waitMs = 0, nativeMs = 0, childrenMs = 0 } = counters
    const { everyMs = 1, labels } = counters
    const share = (/** @type {number} */ all) => (all / ms) * everyMs
    const each = {
      cpuMs: share(cpuMs),
      waitMs: share(waitMs),
      nativeMs: share(nativeMs),
      childrenMs: share(childrenMs),
      everyMs,
    }
    const line = frames.at(-1)?.at ?? 0
    for (let at = 0; at < ms; at += everyMs) samples.push({ node, line, labels, counters: each })
  }
  return { nodes, samples }
}

/**
 * Returns the text of a `.cpuprofile`.
 * @param {Span[]} spans
 * @param {{ startUs?: number, root?: string, facts?: object }} [options] `facts`: what cpu-prof tells
 *   about the process
 */
function profileText(spans, { startUs = 1000, root = '/project', facts } = {}) {
  const { nodes, samples } = sample(spans, root)
  const written = nodes.map(({ id, callFrame, children }) => {
    const own = samples.filter(({ node }) => node.id === id)
    const lines = new Set(own.map(({ line }) => line).filter((line) => line > 0))
    const positionTicks = [...lines].map((line) => ({
      line,
      ticks: own.filter((each) => each.line === line).length,
    }))
    const ticks = positionTicks.length > 0 ? { positionTicks } : {}
    return { id, callFrame, hitCount: own.length, children, ...ticks }
  })
  return JSON.stringify({
    ...(facts && { 'cpu-prof': facts }),
    nodes: written,
    startTime: startUs,
    endTime: startUs + lengthUs(samples),
    samples: samples.map(({ node }) => node.id),
    timeDeltas: deltasUs(samples),
    ...new LabelIds().arrays(samples.map(({ labels }) => labels)),
  })
}

/** Writes a `.cpuprofile`, and its folder. @param {string} file @param {Span[]} spans @param {Parameters<typeof profileText>[1]} [options] */
function writeProfile(file, spans, options) {
  return writeText(file, profileText(spans, options))
}

/**
 * @typedef {object} Recorded a thread, as cpu-prof records it
 * @property {Span[]} [spans]
 * @property {string[]} [functions] instead of `spans`: ten milliseconds in which they take turns
 * @property {number} [pid]
 * @property {number} [ppid]
 * @property {number[]} [ancestors] pids above, the parent first
 * @property {number} [tid]
 * @property {number} [osThreadId] the system's id of the thread
 * @property {string} [script] of a worker
 * @property {string} [thread] name of the thread, instead of that of a worker
 * @property {number} [start] µs
 * @property {string} [boot]
 * @property {number} [processStartMs]
 * @property {string} [processKey]
 * @property {number} [pidNamespace]
 * @property {string} [label] of the process: its command
 * @property {string} [recordingLabel]
 * @property {string} [cwd] also the root of relative files
 * @property {string[]} [argv] after the program
 * @property {number} [flushMs] samples between two flushes
 * @property {any[]} [events] beside the profile, in the order of their times
 * @property {boolean} [isKilled] whether the end is missing
 * @property {number} [startCpuMs] CPU time of the process before the recording
 * @property {number} [exitCode]
 * @property {string} [signal] that ended the process
 * @property {number} [firstLabel] id of the first label set
 * @property {boolean} [findsLeaves] whether V8 was shown missing frames
 */

/** Returns the text of a trace as cpu-prof writes it. @param {Recorded} [recorded] */
function recording(recorded = {}) {
  const { pid = 7, ppid = 1, tid = 0, start = 1e9, boot = 'b', processStartMs = 5 } = recorded
  const { label = 'app', functions = ['work'], cwd, argv = [], flushMs = 500 } = recorded
  const { recordingLabel, script, events = [], isKilled = false, startCpuMs = 0 } = recorded
  const { osThreadId, exitCode, signal, ancestors, processKey, pidNamespace } = recorded
  const { findsLeaves } = recorded
  const turns = Array.from({ length: 10 }, (_, i) => functions.slice(0, 1 + (i % functions.length)))
  const spans =
    recorded.spans ??
    turns.map(
      (names) => /** @type {Span} */ ([names.map((name, i) => `${name} /a.js:${i + 1}`), 1]),
    )
  const { nodes, samples } = sample(spans, cwd ?? '/project')

  const ids = { pid, ppid, ancestors }
  const facts = { version: '0', ...ids, argv: ['node', label, ...argv], node: 'v24.0.0' }
  const thread = { threadId: tid, osThreadId, intervalUs: INTERVAL_US, findsLeaves, recordingLabel }
  const more = { cwd, boot, processStartMs, processKey, pidNamespace, ...thread }
  const metadata = { source: 'cpu-prof', 'cpu-prof': { ...facts, ...more } }
  const words = [...argv, ...(recordingLabel === undefined ? [] : [`[${recordingLabel}]`])]
  const name = [`${label}:`, ...words, `(pid ${pid})`].join(' ')
  const id = `0x${pid.toString(16)}${tid.toString(16).padStart(6, '0')}`
  const at = { pid, tid, ts: start }
  const instant = { cat: 'x', name: '', ph: 'I', s: 't', ...at, args: {} }
  const named = (/** @type {string} */ what, /** @type {string} */ text, ts = 1) => ({
    cat: '__metadata',
    name: what,
    ph: 'M',
    ...at,
    ts,
    args: { name: text },
  })
  const profile = {
    cat: 'disabled-by-default-v8.cpu_profiler',
    name: 'Profile',
    ph: 'P',
    id,
    ...at,
  }
  const frames = [{ frame: 'NODE', processId: pid, url: name, name: '' }]
  const ofWorker = `worker ${tid}${script === undefined ? '' : `: ${script}`}`
  const { thread: ofThread = tid === 0 ? 'main' : ofWorker } = recorded
  const threadName = `${label} (pid ${pid}) - ${ofThread}`
  /** @type {any[]} */
  const written = [
    { ...instant, name: 'TracingStartedInBrowser', args: { data: { frames } } },
    { ...named('process_name', `${label} (pid ${pid})`), tid: 0 },
    named('thread_name', threadName),
    ...(recordingLabel === undefined
      ? []
      : [named('thread_name', `${threadName}: ${recordingLabel}`, 3)]),
    ...(tid === 0 ? [named('thread_name', 'CrRendererMain', 0)] : []),
    { ...instant, name: 'thread.start', args: { data: counted([], startCpuMs) } },
    { ...profile, args: { data: { startTime: start } } },
  ]

  const deltas = deltasUs(samples)
  const labelIds = new LabelIds(recorded.firstLabel)
  let known = 0
  let pending = [...events]
  for (let from = 0; from < samples.length; from += flushMs) {
    const window = samples.slice(from, from + flushMs)
    const highest = Math.max(known, ...window.map(({ node }) => node.id))
    const fresh = nodes
      .slice(known, highest)
      .map(({ id, parent, callFrame }) => ({ id, ...(parent > 0 && { parent }), callFrame }))
    known = highest
    const lines = window.map(({ line }) => line)
    const data = {
      cpuProfile: {
        ...(fresh.length > 0 && { nodes: fresh }),
        samples: window.map((s) => s.node.id),
      },
      timeDeltas: deltas.slice(from, from + flushMs),
      ...(lines.some((line) => line > 0) && {
        lines,
        columns: lines.map((line) => (line ? 1 : 0)),
      }),
      ...labelIds.arrays(window.map(({ labels }) => labels)),
    }
    const last = from + window.length - 1
    const flushed = start + lengthUs(samples.slice(0, last + 1))
    written.push({
      ...profile,
      name: 'ProfileChunk',
      ts: start + lengthUs(samples.slice(0, last)),
      args: { data },
    })
    const counters = counted(samples.slice(0, last + 1), startCpuMs)
    written.push({ ...instant, name: 'thread.flush', ts: flushed, args: { data: counters } })
    written.push(...pending.filter(({ ts }) => ts <= flushed).map((event) => ({ ...at, ...event })))
    pending = pending.filter(({ ts }) => ts > flushed)
  }
  if (!isKilled) {
    const data = { ...counted(samples, startCpuMs), exitCode, signal }
    const ts = start + lengthUs(samples)
    written.push({ ...instant, name: 'trace.end', ts, args: { data } })
  }
  const text = written.map((event) => JSON.stringify(event)).join(',\n')
  return `{"metadata":${JSON.stringify(metadata)},"traceEvents":[\n${text}\n]}`
}

/**
 * Returns the event of a time that a thread waited for a core, between two flushes.
 * @param {string} track @param {number} startUs @param {[from: number, to: number]} ms after the start
 */
function waited(track, startUs, [from, to]) {
  const name = `waited ${to - from} of ${to - from} ms`
  const [start, end] = [startUs + 1000 * from, startUs + 1000 * to]
  const place = { track, trackGroup: 'Waiting for a core', color: 'warning', devtools: '"why"' }
  const args = { data: { message: name, name, start, end, ...place } }
  return { cat: 'cpu-prof.waiting', name: 'TimeStamp', ph: 'I', s: 't', ts: end, args }
}

/**
 * Returns what the system counts for a thread up to these samples.
 * @param {Sample[]} samples @param {number} startCpuMs
 */
function counted(samples, startCpuMs) {
  const us = (/** @type {(counters: Counted) => number} */ of) =>
    Math.round(samples.reduce((sum, { counters }) => sum + 1000 * of(counters), 0))
  return {
    cpuUs: us(({ cpuMs }) => cpuMs),
    waitUs: us(({ waitMs }) => waitMs),
    switches: samples.filter(({ counters }) => counters.cpuMs < counters.everyMs).length,
    processCpuUs: 1000 * startCpuMs + us(({ cpuMs, nativeMs }) => cpuMs + nativeMs),
    childrenCpuUs: us(({ childrenMs }) => childrenMs),
  }
}

/** Writes a trace as cpu-prof does, and its folder. @param {string} file @param {Recorded} [recorded] */
function writeTrace(file, recorded) {
  return writeText(file, recording(recorded))
}

/** @param {string} file @param {string} text */
function writeText(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
  return file
}

module.exports = { profileText, recording, waited, writeProfile, writeTrace }
