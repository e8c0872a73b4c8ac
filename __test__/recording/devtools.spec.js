'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge } = require('../..')
const { findChromium, whyNoBrowser } = require('../helpers/chromium.js')
const { openDevTools } = require('../helpers/devtools.js')
const { run, FIXTURES, PACKAGE } = require('../helpers/run.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

/** One event of each phase. @type {{ emit: object }[]} */
const PHASES = JSON.parse(fs.readFileSync(path.join(FIXTURES, 'phases.json'), 'utf8'))

/** A program whose functions take turns, each of which is an entry in DevTools. */
const TURNS = `
  const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); }
  function one() { spin(4) }
  function other() { spin(4) }
  for (let turn = 0; turn < 300; turn++) { one(); other() }`

test('DevTools shows threads by name, with their functions', { skip }, async (t) => {
  const main = await run(['ending.js', 'natural'])
  const workers = await run(['workers.js', 'natural'])
  const devtools = await openDevTools(/** @type {string} */ (chromium))
  t.after(() => devtools.close())

  // Screenshots to check by eye.
  const pictures = path.join(PACKAGE, 'target', 'screenshots')
  fs.mkdirSync(pictures, { recursive: true })

  const mainTracks = await devtools.load(main.traces[0].file, path.join(pictures, 'main.png'))
  assert.equal(mainTracks.length, 1)
  assert.equal(mainTracks[0].name, `Main — ending.js: natural (pid ${main.pid})`)
  assert.ok(mainTracks[0].isOpen)
  assert.ok(mainTracks[0].functions.includes('spin'), mainTracks[0].functions.join())

  const worker = workers.traces[1]
  const workerTracks = await devtools.load(worker.file, path.join(pictures, 'worker.png'))
  assert.equal(workerTracks.length, 1)
  assert.equal(workerTracks[0].name, `workers.js (pid ${workers.pid}) - worker 1: workers.js`)
  for (const name of ['crunch', 'spin']) {
    assert.ok(workerTracks[0].functions.includes(name), workerTracks[0].functions.join())
  }
  // The process with the most entries comes first, even though it started last.
  const many = await run(['-e', TURNS])
  const merged = path.join(main.cwd, 'merged.json')
  await merge([worker.file, main.traces[0].file, many.traces[0].file], merged)
  const tracks = await devtools.load(merged, path.join(pictures, 'merged.png'))
  assert.deepEqual(
    tracks.map(({ name, isOpen }) => [name, isOpen]),
    [
      ['Processes', false],
      [`Main — node: -e (pid ${many.pid})`, true],
      [mainTracks[0].name, false],
      [workerTracks[0].name, false],
    ],
  )
})

test('DevTools shows the label of a recording, and no label of several', { skip }, async (t) => {
  const { pid, cwd, files } = await run(
    [
      '-e',
      `const prof = require(${JSON.stringify(PACKAGE)})
      for (const label of ['big file', 'small file']) {
        prof.start({ label, interval: 100 })
        for (const end = Date.now() + 60; Date.now() < end; ) JSON.stringify(process.versions)
        prof.stop()
      }`,
    ],
    { preload: null },
  )
  const merged = path.join(cwd, 'merged.json')
  await merge(files, merged)
  const devtools = await openDevTools(/** @type {string} */ (chromium))
  t.after(() => devtools.close())
  for (const [file, name] of [
    [files[0], `Main — node: -e [big file] (pid ${pid})`],
    [files[1], `Main — node: -e [small file] (pid ${pid})`],
    [merged, `Main — node: -e (pid ${pid})`],
  ]) {
    const tracks = await devtools.load(file)
    assert.deepEqual(
      tracks.map((track) => track.name),
      [name],
    )
  }
})

test('DevTools loads a trace with every phase', { skip }, async (t) => {
  const { files, pid } = await run(
    [
      '-e',
      `const prof = require(${JSON.stringify(PACKAGE)})
      const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); }
      for (const event of ${JSON.stringify(PHASES.map(({ emit }) => emit))}) {
        spin(3)
        prof.emit(event)
      }`,
    ],
    { read: 0 },
  )
  const devtools = await openDevTools(/** @type {string} */ (chromium))
  t.after(() => devtools.close())
  const tracks = await devtools.load(files[0])
  const main = tracks.find(({ name }) => name.startsWith('Main') && name.includes(`pid ${pid}`))
  assert.ok(main?.functions.includes('spin'), JSON.stringify(tracks))
})

test('DevTools shows spans, instants and tracks', { skip }, async (t) => {
  const { traces } = await run([
    '-e',
    `const prof = require(${JSON.stringify(PACKAGE)})
    const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); }
    prof.span('load rows', () => spin(60))
    prof.span('job 7', () => spin(60), { track: 'jobs', color: 'tertiary' })
    prof.instant('ready')
    performance.mark('marked')`,
  ])
  const devtools = await openDevTools(/** @type {string} */ (chromium))
  t.after(() => devtools.close())
  const pictures = path.join(PACKAGE, 'target', 'screenshots')
  fs.mkdirSync(pictures, { recursive: true })
  const tracks = await devtools.load(traces[0].file, path.join(pictures, 'emit.png'))
  const names = tracks.map(({ name }) => name)
  assert.deepEqual(names.slice(0, 2), ['Timings', 'jobs'])
  const functions = tracks[0].functions.join()
  for (const name of ['load rows', 'ready', 'marked']) assert.match(functions, new RegExp(name))
})
