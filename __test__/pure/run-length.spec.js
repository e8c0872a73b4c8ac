'use strict'

// A run lasts as long as its samples, whatever other events the files have before and after them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../..')
const { temporaryDirectory } = require('../helpers/files.js')

const CAT = 'disabled-by-default-v8.cpu_profiler'
const START_US = 270_000
const SAMPLES = 260
/** End of the last sample, microseconds: as long as the average sample. */
const END_US = START_US + (SAMPLES + 1) * 1000

/** Returns a node. @param {number} id @param {number | undefined} parent @param {string} functionName @param {string} url */
function node(id, parent, functionName, url = '') {
  const place = url ? { scriptId: 5, lineNumber: 9 } : { scriptId: 0, lineNumber: -1 }
  return { id, parent, callFrame: { functionName, url, columnNumber: -1, ...place } }
}

const NODES = [
  node(1, undefined, '(root)'),
  node(2, 1, 'bundle', 'file:///srv/app/cli.js'),
  node(3, 1, '(idle)'),
]
const samples = Array.from({ length: SAMPLES }, (_, index) => (index % 2 ? 3 : 2))
const timeDeltas = samples.map(() => 1000)

/** Returns an event of the profile. @param {string} name @param {number} ts @param {object} data */
function event(name, ts, data) {
  return { ph: 'P', pid: 77, tid: 77, ts, name, id: '1', cat: CAT, args: { data } }
}

/** Returns a part of the profile. @param {number} ts @param {number} from @param {number} to @param {object[]} nodes */
function chunk(ts, from, to, nodes = []) {
  const cpuProfile = { nodes, samples: samples.slice(from, to) }
  return event('ProfileChunk', ts, { cpuProfile, timeDeltas: timeDeltas.slice(from, to) })
}

const PROFILE = event('Profile', START_US, { startTime: 0 })
const WHOLE = { nodes: NODES, startTime: START_US, samples, timeDeltas }
const SPANS = [
  { ph: 'b', pid: 1, tid: 0, ts: 140_000, name: 'build', cat: 'core', id: 1 },
  { ph: 'e', pid: 1, tid: 0, ts: 268_000, name: 'build', cat: 'core', id: 1 },
]
const LATER = { ph: 'X', pid: 77, tid: 77, ts: END_US + 40_000, dur: 10_000, name: 'write' }

/** Files, each with the start and the end of its run, microseconds. @type {[string, string, unknown, number, number][]} */
const FILES = [
  [
    'a part before its samples',
    'a.json',
    [PROFILE, chunk(270_010, 0, SAMPLES, NODES)],
    START_US,
    END_US,
  ],
  [
    'spans before it',
    'b.json',
    [...SPANS, PROFILE, chunk(270_010, 0, SAMPLES, NODES)],
    140_000,
    END_US,
  ],
  [
    'two parts before their samples',
    'c.json',
    [PROFILE, chunk(270_010, 0, 100, NODES), chunk(270_020, 100, SAMPLES)],
    START_US,
    END_US,
  ],
  [
    'an event after all samples',
    'd.json',
    [PROFILE, chunk(270_010, 0, SAMPLES, NODES), LATER],
    START_US,
    END_US + 50_000,
  ],
  [
    'a whole profile in one event',
    'e.json',
    [{ ...event('CpuProfile', START_US, { cpuProfile: WHOLE }), ph: 'I' }],
    START_US,
    END_US,
  ],
  ['a profile without an end', 'f.cpuprofile', WHOLE, START_US, END_US],
  [
    'a profile whose end is too early',
    'g.cpuprofile',
    { ...WHOLE, endTime: START_US + 9 },
    START_US,
    END_US,
  ],
]

/** Writes a file. @param {string} name @param {unknown} content */
function written(name, content) {
  const file = path.join(temporaryDirectory(), name)
  fs.writeFileSync(file, JSON.stringify(content))
  return file
}

/** Returns the length of a run, after a look at its threads: none is busy and idle for longer. @param {string} file @param {object} [limits] */
async function length(file, limits) {
  const { durationMs, processes } = await report(file, limits)
  for (const { threads } of processes) {
    for (const { javascriptMs, nativeMs, gcMs, idleMs } of threads) {
      const sumMs = javascriptMs + nativeMs + gcMs + idleMs
      assert.ok(sumMs <= durationMs + 0.01, `${sumMs} of ${durationMs}`)
    }
  }
  return durationMs
}

/** @param {number} actual @param {number} expected @param {string} what */
function near(actual, expected, what) {
  // A merged trace tells the end of the last sample to the length of a sample.
  assert.ok(Math.abs(actual - expected) <= 1.01, `${what}: ${actual} instead of ${expected}`)
}

for (const [title, name, content, startUs, endUs] of FILES) {
  test(`the run lasts as long as its samples: ${title}`, async () => {
    const file = written(name, content)
    const output = path.join(path.dirname(file), 'out', 'trace.json')
    await merge(file, output)
    const { files } = await convert(file, path.join(path.dirname(file), 'out', 'one.cpuprofile'))
    const all = (endUs - startUs) / 1000
    // A slice begins and ends with what was recorded in it.
    const recordedMs = (END_US - startUs) / 1000
    const end = 100 - (endUs - END_US) / 1000
    for (const each of [file, output]) {
      near(await length(each), all, each)
      near(await length(each, { from: -100 }), end, `the end of ${each}`)
      near(await length(each, { from: 200 }), recordedMs - 200, `the rest of ${each}`)
      near(await length(each, { from: 150, to: 180 }), 30, `a part of ${each}`)
    }
    near(await length(files[0]), (END_US - START_US) / 1000, files[0])
    const last = path.join(path.dirname(file), 'out', 'last.json')
    await merge(file, last, { from: -100 })
    near(await length(last), 100, last)
  })
}
