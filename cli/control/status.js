'use strict'

// Reads what an armed process tells about itself: only what has the right type gets through.

const { ControlError } = require('./client.js')

/**
 * @typedef {object} Recording that runs
 * @property {number} sinceMs Unix milliseconds
 * @property {string} [by] who started it
 * @property {string} [reason] the condition that started it
 * @property {number} [forMs] its length
 * @property {number} threads
 * @property {string[]} files absolute paths
 *
 * @typedef {object} Last the last recording
 * @property {string[]} files absolute paths
 * @property {string} [reason]
 * @property {number} endedMs Unix milliseconds
 *
 * @typedef {object} Status
 * @property {number} pid as the process itself sees its id
 * @property {number} ppid
 * @property {string} node its version
 * @property {string} label
 * @property {string} script absolute path
 * @property {string[]} argv as in `process.argv`
 * @property {string} cwd
 * @property {string} dir where its recordings are written
 * @property {number} armedMs Unix milliseconds
 * @property {number} threads
 * @property {string[]} conditions that start a recording
 * @property {Recording | null} recording
 * @property {Last | null} last
 *
 * @typedef {object} Stopped
 * @property {string[]} files absolute paths
 * @property {number} samples
 * @property {number} durationMs
 * @property {number} unreached threads that are blocked in native code, whose files end later
 */

/** The end of a label. */
const PID = / \(pid \d+\)$/

/** Longest text, and longest list. */
const MAX_TEXT = 4096
const MAX_LIST = 10_000

/** @param {unknown} value */
const text = (value) => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined)

/** @param {unknown} value */
const number = (value) => (Number.isFinite(value) ? Number(value) : undefined)

/** @param {unknown} value @returns {string[]} */
const texts = (value) =>
  Array.isArray(value) ? value.slice(0, MAX_LIST).flatMap((each) => text(each) ?? []) : []

/** @param {unknown} value @returns {Record<string, unknown>} */
const objectOf = (value) =>
  typeof value === 'object' && value !== null ? /** @type {any} */ (value) : {}

/** Returns the status in a reply. Throws if there is none. @param {Record<string, unknown>} reply @returns {Status} */
function readStatus(reply) {
  const status = objectOf(reply.status)
  const pid = number(status.pid)
  if (pid === undefined || !Number.isInteger(pid) || pid < 1) {
    throw new ControlError('garbled', 'its answer has no status')
  }
  return {
    pid,
    ppid: number(status.ppid) ?? 0,
    node: text(status.node) ?? '',
    // The pid stands beside the label anyway.
    label: (text(status.label) ?? '').replace(PID, ''),
    script: text(status.script) ?? '',
    argv: texts(status.argv),
    cwd: text(status.cwd) ?? '',
    dir: text(status.dir) ?? '',
    armedMs: number(status.armedMs) ?? 0,
    threads: number(status.threads) ?? 0,
    conditions: texts(status.conditions),
    recording: status.recording ? readRecording(objectOf(status.recording)) : null,
    last: status.last ? readLast(objectOf(status.last)) : null,
  }
}

/** @param {Record<string, unknown>} value @returns {Recording} */
function readRecording({ sinceMs, by, reason, forMs, threads, files }) {
  return {
    sinceMs: number(sinceMs) ?? 0,
    by: text(by),
    reason: text(reason),
    forMs: number(forMs),
    threads: number(threads) ?? 0,
    files: texts(files),
  }
}

/** @param {Record<string, unknown>} value @returns {Last} */
function readLast({ files, reason, endedMs }) {
  return { files: texts(files), reason: text(reason), endedMs: number(endedMs) ?? 0 }
}

/** Returns what a stop has left, in its reply. @param {Record<string, unknown>} reply @returns {Stopped} */
function readStopped(reply) {
  const { files, samples, durationMs, unreached } = objectOf(reply.stopped)
  return {
    files: texts(files),
    samples: number(samples) ?? 0,
    durationMs: number(durationMs) ?? 0,
    unreached: number(unreached) ?? 0,
  }
}

module.exports = { readStatus, readStopped }
