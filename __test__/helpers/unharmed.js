'use strict'

const assert = require('node:assert/strict')
const { run, PACKAGE } = require('./run.js')

/**
 * Runs a program without the profiler, then with it, and checks that output, exit code and signal are
 * the same, except for at most one line of the profiler on stderr.
 * @param {string[]} args as for run()
 * @param {Parameters<typeof run>[1] & {before?: string[]}} [options] as for run(); `before` are
 *   Node's arguments before the preload
 */
async function runUnharmed(args, { before = [], ...options } = {}) {
  // Nothing is asserted of the work of the first run.
  const short = { ...options.env, SPIN_AT_MOST_MS: '10' }
  const plain = await run(args, { ...options, preload: before, env: short })
  const recorded = await run(args, { ...options, preload: [...before, '--require', PACKAGE] })
  const { complaint, rest } = split(recorded.stderr)
  assert.equal(comparable(rest), comparable(plain.stderr))
  assert.equal(recorded.stdout, plain.stdout)
  assert.equal(recorded.code, plain.code)
  assert.equal(recorded.signal, plain.signal)
  return { ...recorded, complaint }
}

/** Separates the profiler's line from the rest of stderr. @param {string} stderr */
function split(stderr) {
  const lines = stderr.split('\n')
  const isOurs = (/** @type {string} */ line) => line.startsWith('cpu-prof: ')
  const complaints = lines.filter(isOurs)
  assert.ok(complaints.length <= 1, stderr)
  return { complaint: complaints[0] ?? '', rest: lines.filter((line) => !isOurs(line)).join('\n') }
}

/** Replaces words with digits, such as process ids and ports, which differ between runs. @param {string} stderr */
function comparable(stderr) {
  return stderr.replace(/[\w-]*\d[\w-]*/g, '#')
}

module.exports = { runUnharmed }
