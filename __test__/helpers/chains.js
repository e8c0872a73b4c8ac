'use strict'

// Chains of processes with known times.

const assert = require('node:assert/strict')
const path = require('node:path')
const { report } = require('../../index.js')
const { temporaryDirectory } = require('./files.js')
const { writeTrace } = require('./written.js')

/** @typedef {import('./written.js').Recorded} Recorded */

/** Writes a process named `build` in the folder /repo. @param {Recorded} recorded */
function write(recorded) {
  const folder = temporaryDirectory()
  const file = path.join(folder, '1.trace.json')
  writeTrace(file, { label: 'build', cwd: '/repo', ...recorded })
  return { folder, file }
}

/** Returns the parts of the chain: name of the process, phase, milliseconds. @param {Recorded} recorded */
async function chainOf(recorded) {
  const { chain, durationMs } = await report(write(recorded).file)
  const sum = chain.reduce((sum, { ms }) => sum + ms, 0)
  assert.ok(Math.abs(sum - durationMs) < 0.001, `${sum} of ${durationMs} ms`)
  return chain.map(({ label = 'idle', phase, ms }) => [label, phase, ms])
}

module.exports = { write, chainOf }
