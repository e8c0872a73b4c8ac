'use strict'

// Parts that the benches of merging share.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { PACKAGE } = require('./measure.js')

const MB = 1e6

/** Merges with JSON's own functions. @param {string} dir @param {string} output */
function parseAndStringify(dir, output) {
  const events = []
  for (const name of fs.readdirSync(dir)) {
    for (const event of JSON.parse(fs.readFileSync(path.join(dir, name), 'utf8')).traceEvents) {
      events.push(event)
    }
  }
  // One string with all events would exceed V8's limit.
  const out = fs.openSync(output, 'w')
  let separator = '{"traceEvents":['
  for (const event of events) {
    fs.writeSync(out, separator + JSON.stringify(event))
    separator = ',\n'
  }
  fs.writeSync(out, ']}')
  fs.closeSync(out)
}

/**
 * Merges a folder in a process of its own, and returns its peak memory in MB. Linux only.
 * @param {string} inputs @param {string} output
 */
function peakOfMerge(inputs, output) {
  const script = `const { merge } = require(${JSON.stringify(PACKAGE)})
    merge(${JSON.stringify(inputs)}, ${JSON.stringify(output)}).then(() =>
      console.log(require('fs').readFileSync('/proc/self/status', 'utf8').match(/VmHWM:\\s+(\\d+)/)[1]))`
  const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  return Number(stdout) / 1024
}

/** Measures a call. @param {() => unknown} call @returns {Promise<number>} milliseconds */
async function time(call) {
  const before = performance.now()
  await call()
  return performance.now() - before
}

/** @param {number} bytes @param {number} ms */
const speed = (bytes, ms) => `${(bytes / MB / (ms / 1000)).toFixed(0)} MB/s`

module.exports = { MB, parseAndStringify, peakOfMerge, speed, time }
