'use strict'

// Compares the time of a merge with JSON.parse and JSON.stringify of the same files, in turns, and
// measures the memory of a merge of 1 GB. The files are copies, with other pids, of a recording of
// TypeScript's compiler. Usage: node bench/merge.js [rounds]. The memory is measured on Linux only.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { merge } = require('..')
const { PACKAGE, median } = require('./measure.js')

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

/** Records TypeScript's compiler while it checks its own declaration file. @param {string} dir */
function record(dir) {
  const tsc = require.resolve('typescript/bin/tsc')
  const file = path.join(path.dirname(require.resolve('typescript')), 'typescript.d.ts')
  const args = ['--require', PACKAGE, tsc, '--noEmit', '--lib', 'es2022', file]
  const env = { ...process.env, CPU_PROF_DIR: dir, CPU_PROF_INTERVAL: '100' }
  spawnSync(process.execPath, args, { env, stdio: 'inherit' })
  return path.join(dir, fs.readdirSync(dir)[0])
}

/**
 * Copies the recording as if other processes had written it, until the copies exceed `bytes`.
 * @param {string} recording @param {string} dir @param {number} bytes
 * @returns the sum of their sizes
 */
function copies(recording, dir, bytes) {
  const text = fs.readFileSync(recording, 'latin1')
  const pid = Number(/"pid":(\d+)/.exec(text)?.[1])
  const hex = (/** @type {number} */ number) => `0x${number.toString(16)}000000`
  fs.mkdirSync(dir, { recursive: true })
  let sum = 0
  for (let other = 100_000; sum < bytes; other++) {
    const copy = text
      .replaceAll(`"pid":${pid}`, `"pid":${other}`)
      .replaceAll(`"processId":${pid}`, `"processId":${other}`)
      .replaceAll(`(pid ${pid})`, `(pid ${other})`)
      .replaceAll(hex(pid), hex(other))
    fs.writeFileSync(path.join(dir, `${other}.trace.json`), copy, 'latin1')
    sum += copy.length
  }
  return sum
}

/** Measures a call. @param {() => unknown} call @returns {Promise<number>} milliseconds */
async function time(call) {
  const before = performance.now()
  await call()
  return performance.now() - before
}

/** @param {number} bytes @param {number} ms */
const speed = (bytes, ms) => `${(bytes / MB / (ms / 1000)).toFixed(0)} MB/s`

async function main() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true }))
  const recording = record(path.join(dir, 'recording'))
  const inputs = path.join(dir, 'inputs')
  const bytes = copies(recording, inputs, 250 * MB)

  const output = path.join(dir, 'out.json')
  /** @type {Record<string, number[]>} */
  const times = { merge: [], json: [] }
  for (let round = 0; round < Number(process.argv[2] ?? 5); round++) {
    times.merge.push(await time(() => merge(inputs, output)))
    fs.rmSync(output)
    times.json.push(await time(() => parseAndStringify(inputs, output)))
    fs.rmSync(output)
  }
  const [ours, json] = [median(times.merge), median(times.json)]
  console.log(`${(bytes / MB).toFixed(0)} MB in ${fs.readdirSync(inputs).length} files`)
  console.log(`merge                     ${ours.toFixed(0)} ms, ${speed(bytes, ours)}`)
  console.log(`JSON.parse and stringify  ${json.toFixed(0)} ms, ${speed(bytes, json)}`)
  console.log(
    `merge is ${(json / ours).toFixed(1)} times as fast (medians of ${times.merge.length} rounds)`,
  )

  const large = copies(recording, inputs, 1000 * MB)
  const peak = peakOfMerge(inputs, output)
  console.log(`${(large / MB).toFixed(0)} MB merged with ${peak.toFixed(0)} MB of peak memory`)
}

main()
