'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge } = require('..')
const { findChromium, openDevTools, whyNoBrowser } = require('./helpers/devtools.js')
const { run, PACKAGE } = require('./helpers/run.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

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
  assert.equal(mainTracks[0].name, `Main — ending: natural (pid ${main.pid})`)
  assert.ok(mainTracks[0].isOpen)
  assert.ok(mainTracks[0].functions.includes('spin'), mainTracks[0].functions.join())

  const worker = workers.traces[1]
  const workerTracks = await devtools.load(worker.file, path.join(pictures, 'worker.png'))
  assert.equal(workerTracks.length, 1)
  assert.equal(workerTracks[0].name, `workers (pid ${workers.pid}) - worker 1: workers.js`)
  for (const name of ['crunch', 'spin']) {
    assert.ok(workerTracks[0].functions.includes(name), workerTracks[0].functions.join())
  }
  // The process that started first comes first, even though it did less.
  const long = await run(['ending.js', 'natural', '1500'], { cwd: main.cwd })
  const merged = path.join(main.cwd, 'merged.json')
  await merge([worker.file, long.files[0], long.files[1]], merged)
  const tracks = await devtools.load(merged, path.join(pictures, 'merged.png'))
  assert.deepEqual(
    tracks.map(({ name, isOpen }) => [name, isOpen]),
    [
      [mainTracks[0].name, true],
      [`Frame — ending: natural 1500 (pid ${long.pid})`, false],
      [workerTracks[0].name, false],
    ],
  )
})
