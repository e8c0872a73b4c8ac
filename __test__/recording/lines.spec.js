'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { run, filesIn, temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { isInspector } = require('../helpers/source.js')
const { analyze } = require('../helpers/trace.js')

const PROGRAM = path.join(FIXTURES, 'hot-line.js')
const HOT_LINE = 1 + fs.readFileSync(PROGRAM, 'utf8').split('\n').findIndex(isHot)
const BOTH = { CPU_PROF_FORMAT: 'trace,cpuprofile', CPU_PROF_FLUSH_INTERVAL: '100' }
const ALL = { top: Number.POSITIVE_INFINITY }

/** @param {string} line */
function isHot(line) {
  return line.endsWith('// the hot line')
}

/** Returns the lines of the hot function and the share of the hot line. @param {string} file */
async function hotLines(file) {
  const { lines, functions } = await report(file, ALL)
  const ofHot = lines.filter(({ name }) => name === 'hot')
  const whole = functions.find(({ name }) => name === 'hot')?.selfMs ?? 0
  const sum = ofHot.reduce((ms, { selfMs }) => ms + selfMs, 0)
  assert.ok(Math.abs(sum - whole) < 0.001, `${file}: the lines take ${sum} ms of ${whole} ms`)
  for (const line of ofHot) assert.equal(line.file, PROGRAM)
  const hot = ofHot.find(({ line }) => line === HOT_LINE)
  return { ofHot, share: (hot?.selfMs ?? 0) / whole, samples: hot?.samples ?? 0 }
}

test('a hot line has nearly all the self time of its function in every kind of file', async () => {
  const { cwd, files, traces } = await run(['hot-line.js'], { env: BOTH })
  assert.ok(traces[0].nodes.size > 0)
  const [trace, [profile]] = [files[0], filesIn(cwd, '.cpuprofile')]
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  await merge(trace, at('copied.json'))
  await merge(trace, at('rewritten.json.gz'), { from: 0 })
  await merge(profile, at('of-profile.json'))
  await convert(trace, at('of-trace.cpuprofile'))
  await convert(profile, at('of-profile.trace.json'))
  const names = ['copied.json', 'rewritten.json.gz', 'of-profile.json']
  const converted = ['of-trace.cpuprofile', 'of-profile.trace.json']
  const expected = await hotLines(trace)
  for (const file of [trace, profile, ...[...names, ...converted].map(at)]) {
    const { ofHot, share, samples } = await hotLines(file)
    assert.ok(share > 0.95, `${file}: ${JSON.stringify(ofHot)}`)
    // A rewritten trace can begin within a sample, which ends the part before.
    assert.ok(Math.abs(samples - expected.samples) <= 1, `${file}: ${samples} samples`)
  }
  const ticks = readCpuProfile(at('of-trace.cpuprofile'))
    .nodes.filter((/** @type {any} */ { callFrame }) => callFrame.functionName === 'hot')
    .flatMap((/** @type {any} */ { positionTicks = [] }) => positionTicks)
    .filter((/** @type {any} */ { line }) => line === HOT_LINE)
    .reduce((/** @type {number} */ sum, /** @type {any} */ { ticks }) => sum + ticks, 0)
  assert.equal(ticks, expected.samples)
})

test("a hot line is found in Node's own .cpuprofile", async () => {
  const { cwd } = await run(['hot-line.js'], { preload: ['--cpu-prof'] })
  const { ofHot, share } = await hotLines(filesIn(cwd, '.cpuprofile')[0])
  assert.ok(share > 0.95, JSON.stringify(ofHot))
})

test('a slice has the lines of its time', async () => {
  const { files } = await run(['hot-line.js'], { env: { CPU_PROF_FLUSH_INTERVAL: '1000' } })
  const { durationMs } = await report(files[0])
  const { lines } = await report(files[0], { from: durationMs / 2, to: durationMs / 2 + 100 })
  assert.deepEqual([lines[0].name, lines[0].line], ['hot', HOT_LINE])
  assert.ok(lines[0].selfMs > 80 && lines[0].selfMs <= 100.001, JSON.stringify(lines))
})

/**
 * Returns the milliseconds of each line of the hot function, computed as in the DevTools of Chromium
 * 156, and the columns.
 * @param {string} file @param {number} pid
 */
async function linesInDevTools(file, pid) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'))
  const { Samples } = await analyze(traceEvents)
  const model = Samples.profilesInProcess.get(pid).get(0).parsedProfile
  const { samples, timestamps, lines, columns } = model
  assert.equal(lines.length, samples.length)
  assert.equal(columns.length, samples.length)
  /** @type {Map<number, number>} */
  const times = new Map()
  const columnsOfHot = new Set()
  for (let i = 1; i < samples.length; i++) {
    if (!lines[i] || !columns[i] || model.nodeByIndex(i).functionName !== 'hot') continue
    times.set(lines[i], (times.get(lines[i]) ?? 0) + timestamps[i] - timestamps[i - 1])
    if (lines[i] === HOT_LINE) columnsOfHot.add(columns[i])
  }
  return { times, columnsOfHot }
}

test("DevTools' parser finds the hot line", async () => {
  const { files, pid } = await run(['hot-line.js'])
  const rewritten = path.join(temporaryDirectory(), 'rewritten.json')
  await merge(files, rewritten, { from: 0 })
  for (const file of [files[0], rewritten]) {
    const { times, columnsOfHot } = await linesInDevTools(file, Number(pid))
    const sum = [...times.values()].reduce((all, ms) => all + ms, 0)
    assert.ok(sum > 500, `${file}: ${sum} ms`)
    assert.ok((times.get(HOT_LINE) ?? 0) / sum > 0.95, `${file}: ${JSON.stringify([...times])}`)
    // V8 gives columns from Node 26 on, and its inspector none.
    const hasColumns = !isInspector && Number(process.versions.node.split('.')[0]) >= 26
    if (hasColumns) assert.ok([...columnsOfHot].some((column) => column > 1))
    else assert.deepEqual([...columnsOfHot], [1])
  }
})

// Without Sparkplug, because V8 does not give the reason of code that it compiled later.
const NEVER_OPTIMIZED = ['--allow-natives-syntax', '--no-sparkplug', '-e']
const STUBBORN = `
  function stubborn(ms) {
    const enough = process.cpuUsage().user + ms * 1000
    let sum = 0
    while (process.cpuUsage().user < enough) for (let i = 0; i < 1e6; i++) sum = (sum + i) | 0
    return sum
  }
  stubborn(0)
  new Function('f', '%NeverOptimizeFunction(f)')(stubborn)
  stubborn(300)
`

test('a function that V8 refuses to optimize has the reason in every kind of file', async () => {
  const args = [...NEVER_OPTIMIZED, STUBBORN]
  const { cwd, files, traces } = await run(args, { env: BOTH })
  const [profile] = filesIn(cwd, '.cpuprofile')
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  await merge(files[0], at('rewritten.json'), { from: 0 })
  await merge(profile, at('of-profile.json'))
  await convert(files[0], at('of-trace.cpuprofile'))
  await convert(profile, at('of-profile.trace.json'))
  /** @param {any[]} nodes */
  const reasons = (nodes) =>
    new Set(
      nodes
        .filter(({ callFrame }) => callFrame.functionName === 'stubborn')
        .map(({ deoptReason }) => deoptReason),
    )
  const expected = new Set(['Optimization is always disabled'])
  assert.deepEqual(reasons([...traces[0].nodes.values()]), expected)
  for (const file of [profile, at('of-trace.cpuprofile')]) {
    assert.deepEqual(reasons(readCpuProfile(file).nodes), expected, file)
  }
  for (const name of ['rewritten.json', 'of-profile.json', 'of-profile.trace.json']) {
    const { traceEvents } = JSON.parse(fs.readFileSync(at(name), 'utf8'))
    const nodes = traceEvents.flatMap((/** @type {any} */ event) =>
      event.name === 'ProfileChunk' ? (event.args.data.cpuProfile.nodes ?? []) : [],
    )
    assert.deepEqual(reasons(nodes), expected, name)
  }
})
