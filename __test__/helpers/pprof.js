'use strict'

// pprof files: read by Datadog's decoder and written by its encoder.

const fs = require('node:fs')
const zlib = require('node:zlib')
const { Profile, StringTable } = require('pprof-format')

/** Reads a file. @param {string} file */
function readPprof(file) {
  const bytes = fs.readFileSync(file)
  const profile = Profile.decode(bytes[0] === 0x1f ? zlib.gunzipSync(bytes) : bytes)
  const text = (/** @type {number | bigint} */ index) => profile.stringTable.strings[Number(index)]
  const functions = new Map(profile.function.map((each) => [Number(each.id), each]))
  const locations = new Map(profile.location.map((each) => [Number(each.id), each]))
  const samples = profile.sample.map(({ locationId, value, label }) => ({
    stack: locationId.map((id) => {
      const [{ functionId, line }] = locations.get(Number(id))?.line ?? []
      const { name, filename, startLine } = functions.get(Number(functionId)) ?? {}
      return `${text(name ?? 0)} ${text(filename ?? 0)}:${startLine}@${line}`
    }),
    values: value.map(Number),
    labels: Object.fromEntries(
      label.map(({ key, str, num }) => [text(key), Number(str) ? text(str) : Number(num)]),
    ),
  }))
  return {
    samples,
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`),
    comments: profile.comment.map(text),
    period: Number(profile.period),
    timeNanos: BigInt(profile.timeNanos),
    durationNanos: Number(profile.durationNanos),
    defaultType: text(profile.defaultSampleType),
  }
}

/**
 * @typedef {object} WrittenSample
 * @property {string[]} stack functions, the outermost first: `name` or `name file:line`
 * @property {number[]} values one for each type
 * @property {Record<string, string | number>} [labels]
 */

/**
 * Returns the bytes of a file as another tool writes it, not compressed.
 * @param {WrittenSample[]} samples
 * @param {{ types?: string[], period?: string, periodMs?: number, defaultType?: string, timeMs?: number, durationMs?: number }} [options]
 *   a type is its name and its unit: `cpu/nanoseconds`
 */
function pprofBytes(samples, options = {}) {
  const { types = ['samples/count', 'cpu/nanoseconds'], period = 'cpu/nanoseconds' } = options
  const { periodMs = 10, defaultType = '', timeMs = 0, durationMs = 0 } = options
  const stringTable = new StringTable()
  const text = (/** @type {string} */ value) => stringTable.dedup(value)
  const valueType = (/** @type {string} */ type) => {
    const [name, unit] = type.split('/').map(text)
    return { type: name, unit }
  }
  /** @type {Map<string, number>} */
  const ids = new Map()
  const id = (/** @type {string} */ frame) => {
    if (!ids.has(frame)) ids.set(frame, ids.size + 1)
    return /** @type {number} */ (ids.get(frame))
  }
  const sample = samples.map(({ stack, values, labels = {} }) => ({
    locationId: stack.map(id).reverse(),
    value: values,
    label: Object.entries(labels).map(([key, value]) => ({
      key: text(key),
      ...(typeof value === 'string' ? { str: text(value) } : { num: value }),
    })),
  }))
  const functions = [...ids].map(([frame, number]) => {
    const [, name, filename = '', line = 0] = /^(\S+)(?: (\S+):(\d+))?$/.exec(frame) ?? ['', frame]
    return {
      id: number,
      name: text(name),
      systemName: text(name),
      filename: text(filename),
      startLine: Number(line),
    }
  })
  const location = functions.map((each) => ({
    id: each.id,
    line: [{ functionId: each.id, line: each.startLine }],
  }))
  const profile = new Profile({
    sampleType: types.map(valueType),
    sample,
    location,
    function: functions,
    stringTable,
    periodType: valueType(period),
    period: periodMs * 1e6,
    timeNanos: BigInt(timeMs) * 1_000_000n,
    durationNanos: durationMs * 1e6,
    defaultSampleType: text(defaultType),
  })
  return Buffer.from(profile.encode())
}

module.exports = { readPprof, pprofBytes }
