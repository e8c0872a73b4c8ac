'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { findChromium, whyNoBrowser } = require('../helpers/chromium.js')
const { cli } = require('../helpers/cli.js')
const { openDevTools } = require('../helpers/devtools.js')
const { runTraces } = require('../helpers/run-traces.js')
const { temporaryDirectory, tracesIn, FIXTURES, PACKAGE } = require('../helpers/files.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

/** @param {string} name */
const fixture = (name) => JSON.stringify(path.join(FIXTURES, name))

/** A program with a worker, a child, and timings of its own. */
const PROGRAM = `
  const { Worker } = require('node:worker_threads')
  const { fork } = require('node:child_process')
  const prof = require(${JSON.stringify(PACKAGE)})
  const { spin } = require(${fixture('spin.js')})
  new Worker(${fixture('workers.js')}, { workerData: 'natural' })
  fork(${fixture('ending.js')}, ['natural'])
  prof.span('load rows', () => spin(100))
  prof.span('job 7', () => spin(100), { track: 'jobs', color: 'tertiary' })
  prof.instant('ready')
  performance.mark('marked')`

test('DevTools shows the threads, functions and timings of a real recording', {
  skip,
}, async (t) => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'parent.js'), PROGRAM)
  const args = ['--keep-recordings', process.execPath, 'parent.js', 'of', 'two']
  const { code, stderr } = await cli(['run', ...args], { cwd })
  assert.equal(code, 0, stderr)
  const [merged] = runTraces(cwd)
  const recordings = tracesIn(path.dirname(merged))
  assert.equal(recordings.length, 3)
  const isOfMain = (/** @type {string} */ file) => {
    const { threadId, argv } = JSON.parse(fs.readFileSync(file, 'utf8')).metadata['cpu-prof']
    return threadId === 0 && argv.includes('two')
  }

  const devtools = await openDevTools(/** @type {string} */ (chromium))
  t.after(() => devtools.close())
  // Screenshots to check by eye.
  const pictures = path.join(PACKAGE, 'target', 'screenshots')
  fs.mkdirSync(pictures, { recursive: true })
  const load = async (/** @type {string} */ file, /** @type {string} */ picture) => {
    const tracks = await devtools.load(file, path.join(pictures, `${picture}.png`))
    // Threads wait for a core where the machine is busy.
    const isOther = (/** @type {typeof tracks[0]} */ { functions }) =>
      functions.some((each) => !each.startsWith('waited '))
    return tracks.filter(isOther).map(({ name, ...track }) => ({
      ...track,
      name: name.replace(/pid \d+/, 'pid N'),
    }))
  }

  const ofMain = await load(recordings.find(isOfMain) ?? assert.fail(), 'main')
  assert.deepEqual(
    ofMain.slice(0, 2).map(({ name }) => name),
    ['Timings', 'jobs'],
  )
  const main = ofMain.find(({ name }) => name === 'Main — parent.js: of two (pid N)')
  assert.ok(main?.isOpen && main.functions.includes('spin'), JSON.stringify(ofMain))
  const timings = ofMain[0].functions.join()
  for (const name of ['load rows', 'ready', 'marked']) assert.match(timings, new RegExp(name))

  const tracks = await load(merged, 'merged')
  const [processes] = tracks.filter(({ name }) => name === 'Processes')
  assert.equal(processes.functions.length, 3)
  const threads = tracks.filter(({ name }) => name.includes('pid N'))
  assert.deepEqual(threads.map(({ name }) => name).sort(), [
    'Main — ending.js: natural (pid N)',
    'Main — parent.js: of two (pid N)',
    'parent.js (pid N) - worker 1: workers.js',
  ])
  for (const { name, functions } of threads) {
    const expected = name.includes('worker') ? ['crunch', 'spin'] : ['spin']
    for (const each of expected) assert.ok(functions.includes(each), `${name}: ${functions}`)
  }
})
