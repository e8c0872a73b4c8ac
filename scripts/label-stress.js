'use strict'

// Records work whose labels are known, with V8's stress flags for collections, and counts the samples with
// right and wrong labels: `node scripts/label-stress.js [minutes] [node] [processes at once]`. A core takes
// some thousand samples in a second.

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { countLabels } = require('../__test__/helpers/labelled.js')
const { readProfile } = require('../__test__/helpers/trace.js')

const root = path.join(__dirname, '..')
const [minutes = '10', node = process.execPath, processes = String(os.availableParallelism())] =
  process.argv.slice(2)
const FIXTURE = path.join(root, '__test__', 'fixtures', 'labelled.js')
/** Flags of V8 that move, collect or recompile more than usual. */
const FLAGS = [
  [],
  ['--stress-scavenge=50'],
  ['--stress-incremental-marking'],
  ['--stress-compaction'],
  ['--gc-interval=2000'],
  ['--max-semi-space-size=1'],
  ['--stress-concurrent-allocation'],
  ['--conservative-stack-scanning'],
]
/** Arguments of the program: CPU time, functions, other storages. */
const ARGUMENTS = [
  ['20000', '1000', '0'],
  ['20000', '100', '8'],
]
const ENV = { ...process.env, CPU_PROF_INTERVAL: '20', CPU_PROF_CATEGORIES: 'cpu' }

const end = Date.now() + Number(minutes) * 60_000
const total = { right: 0, none: 0, wrong: 0, samples: 0 }
let [rounds, hasFailed] = [0, false]

/** Runs one program after the other. */
async function runAll() {
  while (Date.now() < end) {
    const round = rounds++
    const flags = FLAGS[round % FLAGS.length]
    await runOne(flags, ARGUMENTS[Math.floor(round / FLAGS.length) % ARGUMENTS.length])
  }
}

/** @param {string[]} flags @param {string[]} args */
async function runOne(flags, args) {
  const title = [...flags, ...args].join(' ')
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-labels-'))
  const program = [...flags, '--require', root, FIXTURE, ...args]
  const env = { ...ENV, CPU_PROF_DIR: dir }
  /** @type {string} what went wrong */
  const problem = await new Promise((resolve) => {
    execFile(node, program, { env }, (error, _, stderr) => resolve(stderr || error?.message || ''))
  })
  if (problem !== '') {
    hasFailed = true
    console.log(`${title}: ${problem.slice(0, 1000)}`)
  }
  for (const file of fs.readdirSync(dir)) {
    const counts = count(path.join(dir, file))
    console.log(title, JSON.stringify(counts))
    for (const key of /** @type {(keyof typeof total)[]} */ (Object.keys(total))) {
      total[key] += counts[key]
    }
  }
  fs.rmSync(dir, { recursive: true, force: true })
}

/** Counts the samples of a trace by their labels. @param {string} file */
function count(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'latin1'))
  /** @param {string} name */
  const named = (name) => traceEvents.filter((/** @type {any} */ event) => event.name === name)
  const profile = readProfile(named('Profile')[0], named('ProfileChunk'))
  return { ...countLabels(profile), samples: profile.samples.length }
}

Promise.all(Array.from({ length: Number(processes) }, runAll)).then(() => {
  console.log('all:', JSON.stringify(total))
  process.exitCode = hasFailed || total.wrong > 0 || total.right === 0 ? 1 : 0
})
