'use strict'

// Computes the times of functions from traces and `.cpuprofile` files, without the package's own code.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const zlib = require('node:zlib')

/** Frames that V8 adds for its own work. */
const META = /^\((root|program|idle|garbage collector)\)$/

/** States that V8 has, and Bun has not. */
const STATE = /^\((program|garbage collector)\)$/

/** @typedef {{ selfMs: number, totalMs: number }} Cost */
/** @typedef {{ id: number, us: number }} Sample a node, and the time at which its stack was taken */

/**
 * A profile of one thread.
 * @typedef {object} Profile
 * @property {number} startUs
 * @property {number} endUs 0 if unknown
 * @property {Map<number, any>} nodes by their ids; each has `parent`, a node
 * @property {Sample[]} samples
 * @property {number} [lastUs] time of the sample that was added last
 */

/** Reads the JSON of a file, compressed or not; a list may lack its end. @param {string} file */
function readJson(file) {
  const bytes = fs.readFileSync(file)
  const text = (bytes[0] === 0x1f ? zlib.gunzipSync(bytes) : bytes).toString()
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse(`${text.trimEnd().replace(/,$/, '')}]`)
  }
}

/** Reads all profiles of a file. @param {string} file @returns {Profile[]} */
function readProfiles(file) {
  const json = readJson(file)
  if (json.nodes) return [ofCpuProfile(json)]
  const events = Array.isArray(json) ? json : json.traceEvents
  /** @type {Map<string, Profile>} */
  const profiles = new Map()
  for (const { name, pid, tid, id, args } of events) {
    const data = args?.data
    if (name === 'CpuProfile') profiles.set(`${pid} ${tid} whole`, ofCpuProfile(data.cpuProfile))
    if (name !== 'Profile' && name !== 'ProfileChunk') continue
    const key = `${pid} ${id}`
    const profile = profiles.get(key) ?? { startUs: 0, endUs: 0, nodes: new Map(), samples: [] }
    profiles.set(key, profile)
    profile.startUs ||= data.startTime ?? 0
    if (name === 'ProfileChunk') addChunk(profile, data)
  }
  return [...profiles.values()]
}

/** @param {any} json @returns {Profile} */
function ofCpuProfile({ nodes, samples, timeDeltas, startTime, endTime }) {
  const profile = { startUs: startTime, endUs: endTime, nodes: new Map(), samples: [] }
  for (const node of nodes) profile.nodes.set(node.id, node)
  for (const node of nodes) {
    for (const child of node.children ?? []) profile.nodes.get(child).parent = node
  }
  addSamples(profile, samples, timeDeltas)
  return profile
}

/** @param {Profile} profile @param {any} data */
function addChunk(profile, data) {
  for (const node of data.cpuProfile?.nodes ?? []) {
    profile.nodes.set(node.id, { ...node, parent: profile.nodes.get(node.parent) })
  }
  const deltas = data.timeDeltas ?? data.cpuProfile?.timeDeltas ?? []
  addSamples(profile, data.cpuProfile?.samples ?? [], deltas)
  profile.endUs = data.endTime ?? data.cpuProfile?.endTime ?? profile.endUs
}

/** @param {Profile} profile @param {number[]} samples @param {number[]} deltas */
function addSamples(profile, samples, deltas) {
  let us = profile.lastUs ?? profile.startUs
  const added = samples.map((id, i) => {
    us += deltas[i]
    return { id, us }
  })
  profile.lastUs = us
  // Some writers give samples that run back.
  added.sort((a, b) => a.us - b.us)
  for (const { id, us } of added) {
    const latest = profile.samples.at(-1)?.us ?? profile.startUs
    profile.samples.push({ id, us: Math.max(us, latest) })
  }
}

/** Adds up the times of each function of a file. @param {string} file @returns {Map<string, Cost>} */
function computeCosts(file) {
  /** @type {Map<string, Cost>} */
  const costs = new Map()
  for (const { nodes, samples, endUs } of readProfiles(file)) {
    // Built-in functions of Bun have scripts, too.
    const isOfV8 = [...nodes.values()].some((node) => STATE.test(node.callFrame.functionName))
    const first = samples[0]?.us
    const last = samples.at(-1)?.us ?? 0
    // A last sample that is later than the end gets the average duration.
    const end = endUs > last ? endUs : last + Math.floor((last - first) / (samples.length - 1))
    samples.forEach(({ id, us }, i) => {
      const ms = ((samples[i + 1]?.us ?? end) - us) / 1000
      const seen = new Set()
      for (let node = nodes.get(id); node; node = node.parent) {
        const { functionName, url = '', lineNumber = -1, columnNumber = -1 } = node.callFrame
        if (META.test(functionName)) continue
        // Texts that a program compiled are known by their ids alone.
        const isText =
          isOfV8 && url === '' && Number(node.callFrame.scriptId) > 0 && lineNumber >= 0
        const file = isText ? textOf(node.callFrame.scriptId) : url
        const place = [file, lineNumber + 1, columnNumber + 1]
        const key = [functionName || '(anonymous)', ...place].join('|')
        const cost = costs.get(key) ?? { selfMs: 0, totalMs: 0 }
        if (node.id === id) cost.selfMs += ms
        if (!seen.has(key)) cost.totalMs += ms
        seen.add(key)
        costs.set(key, cost)
      }
    })
  }
  return costs
}

/** @param {number | string} id */
const textOf = (id) => `text ${id}`

/** Compares floating-point sums of exact microseconds. @param {number} a @param {number} b */
function assertSame(a, b, what = '') {
  assert.ok(Math.abs(a - b) < 0.001, `${what}: ${a} is not ${b}`)
}

/**
 * Checks that a report has these functions with these times, and no others.
 * @param {import('../../index.js').Report} report @param {Map<string, Cost>} expected
 */
function assertFunctions({ functions }, expected) {
  const seen = new Set()
  for (const { name, file, line, column, scriptId, selfMs, totalMs } of functions) {
    const url = file.startsWith('/') ? `file://${file}` : file
    const key = [name, scriptId === undefined ? url : textOf(scriptId), line, column].join('|')
    const cost = expected.get(key)
    assert.ok(cost, `${key} is not in the profile`)
    assertSame(selfMs, cost.selfMs, key)
    assertSame(totalMs, cost.totalMs, key)
    seen.add(key)
  }
  for (const [key, { totalMs }] of expected) {
    assert.ok(seen.has(key) || totalMs === 0, `${key} is not in the report`)
  }
}

/** Returns the time of a thread in all its states. @param {import('../../index.js').ReportTimes} times */
function sumOfStates({ javascriptMs, nativeMs, gcMs, waitingMs = 0, blockedMs = 0, idleMs }) {
  return javascriptMs + nativeMs + gcMs + waitingMs + blockedMs + idleMs
}

module.exports = { sumOfStates, assertFunctions, assertSame, computeCosts, readJson, readProfiles }
