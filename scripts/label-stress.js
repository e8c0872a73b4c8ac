'use strict'

// Records work whose labels are known, with V8's stress flags for collections, and counts the samples with
// right and wrong labels: `node scripts/label-stress.js [minutes] [node]`.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { countLabels } = require('../__test__/helpers/labelled.js')
const { readProfile } = require('../__test__/helpers/trace.js')

const root = path.join(__dirname, '..')
const [minutes = '10', node = process.execPath] = process.argv.slice(2)
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
const ENV = { ...process.env, CPU_PROF_INTERVAL: '50', CPU_PROF_CATEGORIES: 'cpu' }

const end = Date.now() + Number(minutes) * 60_000
const total = { right: 0, none: 0, wrong: 0, samples: 0 }
let hasFailed = false
for (let round = 0; Date.now() < end; round++) {
  const flags = FLAGS[round % FLAGS.length]
  const args = ARGUMENTS[Math.floor(round / FLAGS.length) % ARGUMENTS.length]
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-labels-'))
  const program = [...flags, '--require', root, FIXTURE, ...args]
  const { status, signal, stderr } = spawnSync(node, program, {
    env: { ...ENV, CPU_PROF_DIR: dir },
    encoding: 'utf8',
  })
  const title = [...flags, ...args].join(' ')
  if (status !== 0 || stderr !== '') {
    hasFailed = true
    console.log(`${title}: ended with ${status ?? signal}: ${stderr.slice(0, 1000)}`)
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
console.log('all:', JSON.stringify(total))
process.exitCode = hasFailed || total.wrong > 0 || total.right === 0 ? 1 : 0

/** Counts the samples of a trace by their labels. @param {string} file */
function count(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'latin1'))
  /** @param {string} name */
  const named = (name) => traceEvents.filter((/** @type {any} */ event) => event.name === name)
  const profile = readProfile(named('Profile')[0], named('ProfileChunk'))
  return { ...countLabels(profile), samples: profile.samples.length }
}
