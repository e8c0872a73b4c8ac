'use strict'

// The hot lines of functions: in reports, through merges and conversions, and for DevTools' parser.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { analyze } = require('../helpers/trace.js')
const { profileText, recording, writeProfile, writeTrace } = require('../helpers/written.js')

/** A function that spends nearly all its time on line 8. @type {import('../helpers/written.js').Span[]} */
const SPANS = [
  ['main main.js:1 > hot hot.js:5@7', 30],
  ['main main.js:1 > hot hot.js:5@8', 300],
  ['main main.js:1 > other hot.js:15', 20],
  ['main main.js:1 > hot hot.js:5@8', 10],
]
const AT = { file: '/project/hot.js', package: '(own code)' }
const LINES = [
  { name: 'hot', line: 8, selfMs: 310, samples: 310, ...AT },
  { name: 'hot', line: 7, selfMs: 30, samples: 30, ...AT },
  { name: 'other', line: 0, selfMs: 20, samples: 20, ...AT },
]
const REASON = 'Optimization is always disabled'

/**
 * Merges and converts a trace and a `.cpuprofile` in all ways, and returns the files.
 * @param {string} trace @param {string} profile
 */
async function everyFile(trace, profile) {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  await merge(trace, at('copied.json'))
  await merge(trace, at('rewritten.json'), { from: 0 })
  await merge(trace, at('rewritten.json.gz'), { from: 0 })
  await merge(profile, at('of-profile.json'))
  await convert(trace, at('of-trace.cpuprofile'))
  await convert(profile, at('of-profile.trace.json'))
  return {
    traces: [trace, ...['copied.json', 'rewritten.json', 'of-profile.json'].map(at)],
    compressed: at('rewritten.json.gz'),
    profiles: [profile, at('of-trace.cpuprofile')],
    convertedTrace: at('of-profile.trace.json'),
  }
}

/** Writes a trace and a `.cpuprofile` of {@link SPANS}. */
function writeBoth() {
  const dir = temporaryDirectory()
  return {
    trace: writeTrace(path.join(dir, 'a.trace.json'), { spans: SPANS }),
    profile: writeProfile(path.join(dir, 'a.cpuprofile'), SPANS),
  }
}

test('the lines of a function have its self time in every kind of file', async () => {
  const { trace, profile } = writeBoth()
  const { traces, profiles, compressed, convertedTrace } = await everyFile(trace, profile)
  for (const file of [...traces, ...profiles, compressed, convertedTrace]) {
    const { lines, functions } = await report(file)
    assert.deepEqual(lines, LINES, file)
    const hot = functions.find(({ name }) => name === 'hot')
    assert.equal(hot?.selfMs, 340, file)
  }
  const ticks = readCpuProfile(profiles[1])
    .nodes.filter((/** @type {any} */ { callFrame }) => callFrame.functionName === 'hot')
    .flatMap((/** @type {any} */ { positionTicks }) => positionTicks)
  assert.deepEqual(ticks, [
    { line: 7, ticks: 30 },
    { line: 8, ticks: 310 },
  ])
})

test('a slice has the lines of its time', async () => {
  const { trace } = writeBoth()
  const { lines } = await report(trace, { from: 20, to: 130 })
  // One more sample than milliseconds: a sample lasts until the next, and one lasts into the slice.
  assert.deepEqual(lines, [
    { name: 'hot', line: 8, selfMs: 100, samples: 101, ...AT },
    { name: 'hot', line: 7, selfMs: 10, samples: 10, ...AT },
  ])
})

/**
 * Returns the milliseconds of each line of the hot function, computed as in the DevTools of Chromium 156.
 * @param {string} file
 */
async function linesInDevTools(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'))
  const { Samples } = await analyze(traceEvents)
  const model = Samples.profilesInProcess.get(7).get(0).parsedProfile
  const { samples, timestamps, lines, columns } = model
  assert.deepEqual([lines.length, columns.length], [samples.length, samples.length])
  /** @type {Record<number, number>} */
  const times = {}
  for (let i = 1; i < samples.length; i++) {
    if (!lines[i] || !columns[i] || model.nodeByIndex(i).functionName !== 'hot') continue
    times[lines[i]] = (times[lines[i]] ?? 0) + timestamps[i] - timestamps[i - 1]
  }
  return times
}

test("DevTools' parser finds the lines in a trace, and in one that was merged", async () => {
  const { trace } = writeBoth()
  const rewritten = path.join(temporaryDirectory(), 'rewritten.json')
  await merge(trace, rewritten, { from: 0 })
  for (const file of [trace, rewritten]) {
    // DevTools gives a sample the time before it: the first sample has none.
    assert.deepEqual(await linesInDevTools(file), { 7: 29, 8: 310 }, file)
  }
})

test('the reason for which a function is not optimized is kept in every kind of file', async () => {
  const dir = temporaryDirectory()
  const [trace, profile] = ['a.trace.json', 'a.cpuprofile'].map((name) => path.join(dir, name))
  const withReason = (/** @type {string} */ text) => {
    const marked = text.replace(
      /("callFrame":\{"functionName":"hot".*?\})/g,
      `$1,"deoptReason":"${REASON}"`,
    )
    assert.notEqual(marked, text)
    return marked
  }
  fs.writeFileSync(trace, withReason(recording({ spans: SPANS })))
  fs.writeFileSync(profile, withReason(profileText(SPANS)))
  const { traces, profiles, convertedTrace } = await everyFile(trace, profile)
  /** @param {any[]} nodes */
  const reasons = (nodes) =>
    Object.fromEntries(
      nodes.map(({ callFrame, deoptReason }) => [callFrame.functionName, deoptReason]),
    )
  const expected = { '(root)': undefined, main: undefined, hot: REASON, other: undefined }
  for (const file of profiles) {
    assert.deepEqual(reasons(readCpuProfile(file).nodes), expected, file)
  }
  for (const file of [...traces, convertedTrace]) {
    const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'))
    const nodes = traceEvents.flatMap((/** @type {any} */ event) =>
      event.name === 'ProfileChunk' ? (event.args.data.cpuProfile.nodes ?? []) : [],
    )
    assert.deepEqual(reasons(nodes), expected, file)
  }
})
