'use strict'

// Compares the time of a merge of Chrome's traces with JSON.parse and JSON.stringify of the same
// files and with a plain copy, in turns, and measures the memory of a merge of 1 GB. The traces are
// copies, with other pids, of a recording of a page that Chromium makes here.
// Usage: node bench/merge-foreign.js [rounds]. Linux only.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { merge } = require('..')
const { findChromium, recordPage, startChromium } = require('../__test__/helpers/chromium.js')
const { median } = require('./measure.js')
const { MB, parseAndStringify, peakOfMerge, speed, time } = require('./merges.js')

/** A page with tasks, layout, garbage collections, a worker and a frame. */
const PAGE = `<body><script>
  const work = (ms) => {
    for (const end = performance.now() + ms; performance.now() < end; ) {
      JSON.parse(JSON.stringify(Array.from({ length: 99 }, (_, i) => ({ i, text: 'x' + i }))))
    }
  }
  const worker = new Worker(URL.createObjectURL(new Blob([work, 'work(500)'])))
  let count = 0
  function turn() {
    work(3)
    const line = document.body.appendChild(document.createElement('p'))
    line.textContent = 'line ' + count
    line.getBoundingClientRect()
    performance.mark('turn ' + count)
    if (++count < 300) setTimeout(turn)
    else document.title = 'done'
  }
  turn()
</script><iframe srcdoc="frame"></iframe>`

async function main() {
  const chromium = findChromium()
  if (chromium === undefined) throw new Error('Chromium was not found (set CHROMIUM to its path)')
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true }))
  const trace = await record(chromium)
  const inputs = path.join(dir, 'inputs')
  const bytes = copies(trace, inputs, 250 * MB)
  const output = path.join(dir, 'out.json')
  /** @type {Record<string, () => unknown>} */
  const ways = {
    merge: () => merge(inputs, output),
    'JSON.parse and stringify': () => parseAndStringify(inputs, output),
    copy: () => copy(inputs, output),
  }
  /** @type {Record<string, number[]>} */
  const times = {}
  for (let round = 0; round < Number(process.argv[2] ?? 5); round++) {
    for (const [name, way] of Object.entries(ways)) {
      times[name] ??= []
      times[name].push(await time(way))
      fs.rmSync(output)
    }
  }
  console.log(
    `${(bytes / MB).toFixed(0)} MB in ${fs.readdirSync(inputs).length} traces of Chrome, medians of ${times.merge.length} rounds`,
  )
  for (const [name, all] of Object.entries(times)) {
    console.log(`${name.padEnd(25)} ${median(all).toFixed(0)} ms, ${speed(bytes, median(all))}`)
  }
  const large = copies(trace, inputs, 1000 * MB)
  const peak = peakOfMerge(inputs, output)
  console.log(`${(large / MB).toFixed(0)} MB merged with ${peak.toFixed(0)} MB of peak memory`)
}

/** @param {string} chromium */
async function record(chromium) {
  const { browser, close } = await startChromium(chromium)
  const url = `data:text/html,${encodeURIComponent(PAGE)}`
  const trace = await recordPage(browser, url, (page) =>
    page.waitForFunction('document.title === "done"', undefined, { timeout: 60_000 }),
  )
  await close()
  return trace.toString('latin1')
}

/**
 * Copies the trace as if other processes had written it, until the copies exceed `bytes`.
 * @param {string} trace @param {string} dir @param {number} bytes
 * @returns the sum of their sizes
 */
function copies(trace, dir, bytes) {
  fs.mkdirSync(dir, { recursive: true })
  let sum = 0
  for (let first = 100_000; sum < bytes; first += 100_000) {
    const copy = trace.replace(/"pid":(\d+)/g, (_, pid) => `"pid":${first + Number(pid)}`)
    fs.writeFileSync(path.join(dir, `${first}.json`), copy, 'latin1')
    sum += copy.length
  }
  return sum
}

/** Copies all files into one. @param {string} dir @param {string} output */
function copy(dir, output) {
  for (const name of fs.readdirSync(dir)) {
    fs.appendFileSync(output, fs.readFileSync(path.join(dir, name)))
  }
}

main()
