'use strict'

// What the Performance panel of the real Chrome DevTools shows of written recordings.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { after, test } = require('node:test')
const { merge } = require('../..')
const { findChromium, whyNoBrowser } = require('../helpers/chromium.js')
const { openDevTools } = require('../helpers/devtools.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { waited, writeTrace } = require('../helpers/written.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

/** One event of each phase, as a program emits it and as it is written. @type {{ written: object }[]} */
const PHASES = JSON.parse(fs.readFileSync(path.join(FIXTURES, 'phases.json'), 'utf8'))

const START = 1e9

/** @typedef {import('../helpers/written.js').Recorded} Recorded */

/** @type {ReturnType<typeof openDevTools> | undefined} */
let devtools

/** Loads a trace in the one DevTools of all tests, and returns the tracks that the panel shows. @param {string} file */
async function load(file) {
  devtools ??= openDevTools(/** @type {string} */ (chromium))
  return (await devtools).load(file)
}

after(async () => (await devtools)?.close())

/** Writes recordings into a new folder, and returns their files. @param {Recorded[]} threads */
function write(threads) {
  const dir = temporaryDirectory()
  return threads.map((thread, index) => writeTrace(path.join(dir, `${index}.trace.json`), thread))
}

/** Merges recordings. @param {string[]} files */
async function merged(files) {
  const file = path.join(temporaryDirectory(), 'merged.json')
  await merge(files, file)
  return file
}

/** @type {Recorded['spans']} */
const WORK = [['main app.js:1 > spin spin.js:1', 200]]
/** A process with two workers, and two processes that it has started. @type {Recorded[]} */
const FAMILY = [
  { pid: 7, label: 'parent.js', argv: ['of', 'three'], spans: WORK },
  {
    pid: 7,
    tid: 1,
    label: 'parent.js',
    script: 'workers.js',
    spans: [['crunch workers.js:1 > spin spin.js:1', 200]],
  },
  { pid: 7, tid: 2, label: 'parent.js', script: 'workers.js', spans: WORK },
  { pid: 8, ppid: 7, label: 'ending.js', argv: ['natural'], spans: WORK },
  {
    // Functions that take turns are the most entries, although this process starts last.
    pid: 9,
    ppid: 7,
    label: 'ending.js',
    argv: ['exit'],
    start: START + 100_000,
    spans: Array.from({ length: 300 }, (_, turn) => [
      `${turn % 2 ? 'one' : 'other'} a.js:1 > spin spin.js:1`,
      1,
    ]),
  },
]

test('DevTools shows a main thread and a worker by name, with their functions', {
  skip,
}, async () => {
  const [, worker, , main] = write(FAMILY)
  assert.deepEqual(await load(main), [
    { name: 'Main — ending.js: natural (pid 8)', isOpen: true, functions: ['main', 'spin'] },
  ])
  const tracks = await load(worker)
  assert.deepEqual(
    tracks.map(({ name, functions }) => [name, functions]),
    [['parent.js (pid 7) - worker 1: workers.js', ['crunch', 'spin']]],
  )
})

test('DevTools shows each process and thread of a merged trace by name, the one with the most entries first', {
  skip,
}, async () => {
  const [processes, ...tracks] = await load(await merged(write(FAMILY)))
  assert.deepEqual([processes.name, processes.isOpen], ['Processes', false])
  assert.equal(processes.functions.length, 5)
  const names = tracks.map(({ name, isOpen }) => [name, isOpen])
  assert.deepEqual(names[0], ['Main — ending.js: exit (pid 9)', true])
  assert.deepEqual(names.slice(1, 3).sort(), [
    ['Main — ending.js: natural (pid 8)', false],
    ['Main — parent.js: of three (pid 7)', false],
  ])
  assert.deepEqual(names.slice(3).sort(), [
    ['parent.js (pid 7) - worker 1: workers.js', false],
    ['parent.js (pid 7) - worker 2: workers.js', false],
  ])
  for (const { name, functions } of tracks) assert.ok(functions.includes('spin'), name)
})

test('DevTools shows processes that hardly worked by their names, after the others', {
  skip,
}, async () => {
  const busy = { pid: 7, label: 'busy.js', argv: ['x'], spans: WORK }
  const idle = { pid: 8, ppid: 7, label: 'kid.js', argv: ['97'] }
  /** @type {Recorded[]} */
  const family = [busy, { ...idle, spans: [['main kid.js:1', 2]] }]
  const file = await merged(write(family))
  for (const each of [file, await merged([file])]) {
    const names = (await load(each)).map(({ name }) => name)
    assert.deepEqual(names, ['Processes', 'Main — busy.js: x (pid 7)', 'kid.js: 97 (pid 8)'])
  }
})

test("DevTools folds Node's own functions, but not in the form for a thread without others", {
  skip,
}, async () => {
  for (const [node, expected] of [
    ['node:internal/modules', /^On ignore list/],
    ['Node:internal/modules', /^load$/],
  ]) {
    const [track] = await load(write([{ spans: [[`load ${node}:3`, 50]] }])[0])
    const [name] = track.functions
    assert.match(name, /** @type {RegExp} */ (expected))
  }
})

test('DevTools shows the label of a recording, and no label of several', { skip }, async () => {
  const files = write([
    { label: 'app.js', argv: ['x'], recordingLabel: 'big file' },
    { label: 'app.js', argv: ['x'], recordingLabel: 'small file', start: START + 100_000 },
  ])
  for (const [file, name] of [
    [files[0], 'Main — app.js: x [big file] (pid 7)'],
    [await merged(files), 'Main — app.js: x (pid 7)'],
  ]) {
    const tracks = await load(file)
    assert.deepEqual(
      tracks.map((track) => track.name),
      [name],
    )
  }
})

test('DevTools loads a trace with every phase', { skip }, async () => {
  const events = PHASES.map(({ written }, index) => ({
    ...written,
    ts: START + 3000 * (index + 1),
  }))
  const [file] = write([
    { spans: [['main app.js:1 > spin spin.js:1', 3 * (events.length + 1)]], events },
  ])
  const tracks = await load(file)
  const main = tracks.find(({ name }) => name.startsWith('Main') && name.includes('pid 7'))
  assert.ok(main?.functions.includes('spin'), JSON.stringify(tracks))
})

test('DevTools shows spans, instants and tracks', { skip }, async () => {
  const timing = (/** @type {number} */ ms, /** @type {object} */ event) => ({
    cat: 'blink.user_timing',
    ts: START + 1000 * ms,
    args: {},
    ...event,
  })
  const inTrack = { devtools: { dataType: 'track-entry', track: 'jobs', color: 'tertiary' } }
  const span = (/** @type {string} */ name, /** @type {string} */ local) => ({
    name,
    id2: { local },
  })
  const events = [
    timing(10, { ...span('load rows', '0x1'), ph: 'b', args: { startTime: 10 } }),
    timing(70, { ...span('load rows', '0x1'), ph: 'e' }),
    timing(80, {
      ...span('job 7', '0x2'),
      ph: 'b',
      args: { startTime: 80, detail: JSON.stringify(inTrack) },
    }),
    timing(140, { ...span('job 7', '0x2'), ph: 'e' }),
    timing(150, { name: 'ready', ph: 'I', s: 't', args: { data: { startTime: 150 } } }),
    timing(160, { name: 'marked', ph: 'I', s: 't', args: { data: { startTime: 160 } } }),
  ]
  const tracks = await load(write([{ spans: WORK, events }])[0])
  assert.deepEqual(
    tracks.map(({ name }) => name),
    ['Timings', 'jobs', 'Main — app: (pid 7)'],
  )
  const timings = tracks[0].functions.join()
  for (const name of ['load rows', 'ready', 'marked']) assert.match(timings, new RegExp(name))
  assert.deepEqual(tracks[1].functions, ['job 7'])
})

test('DevTools draws the times that a thread waited for a core above all threads', {
  skip,
}, async () => {
  const events = [waited('app (pid 7) - main', START, [0, 100])]
  const [file] = write([{ spans: WORK, events }])
  for (const each of [file, await merged([file])]) {
    const [group, track, main] = await load(each)
    assert.equal(group.name, 'Waiting for a core')
    assert.deepEqual(
      [track.name, track.functions],
      ['app (pid 7) - main', ['waited 100 of 100 ms']],
    )
    assert.equal(main.name, 'Main — app: (pid 7)')
  }
})
