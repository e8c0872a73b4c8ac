'use strict'

// Compares the time of a merge with JSON.parse and JSON.stringify of the same files, in turns, and
// measures the memory of a merge of 1 GB. The files are copies, with other pids, of a recording of
// TypeScript's compiler. Usage: node bench/merge.js [rounds]. The memory is measured on Linux only.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { merge } = require('..')
const { median } = require('./measure.js')
const { MB, copies, parseAndStringify, peakOfMerge, record, speed, time } = require('./merges.js')

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
