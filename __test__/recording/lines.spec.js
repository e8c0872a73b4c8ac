'use strict'

// The lines that V8 gives to samples, and the reasons for which it does not optimize functions.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { run, filesIn, FIXTURES } = require('../helpers/run.js')
const { isInspector, NEEDS_REASONS_AGAINST_OPTIMIZATION } = require('../helpers/source.js')
const { analyze } = require('../helpers/trace.js')

const PROGRAM = path.join(FIXTURES, 'hot-line.js')
const HOT_LINE = 1 + fs.readFileSync(PROGRAM, 'utf8').split('\n').findIndex(isHot)
/** CPU time of the program: a thread that stands still must not have most of the samples. */
const WORK_MS = '1000'
const BOTH = { CPU_PROF_FORMAT: 'trace,cpuprofile', CPU_PROF_FLUSH_INTERVAL: '100' }
const ALL = { top: Number.POSITIVE_INFINITY }

/** @param {string} line */
function isHot(line) {
  return line.endsWith('// the hot line')
}

/** @type {ReturnType<typeof run> | undefined} */
let recorded
/** Records the program in both formats, once. */
function record() {
  recorded ??= run(['hot-line.js', WORK_MS], { env: BOTH })
  return recorded
}

/** Checks that the hot line has most of the time of its function. @param {string} file */
async function assertHotLine(file) {
  const { lines, functions } = await report(file, ALL)
  const ofHot = lines.filter(({ name }) => name === 'hot')
  const whole = functions.find(({ name }) => name === 'hot')?.selfMs ?? 0
  const sum = ofHot.reduce((ms, { selfMs }) => ms + selfMs, 0)
  assert.ok(Math.abs(sum - whole) < 0.001, `${file}: the lines take ${sum} ms of ${whole} ms`)
  for (const line of ofHot) assert.equal(line.file, PROGRAM)
  const hot = ofHot.find(({ line }) => line === HOT_LINE)
  assert.ok((hot?.selfMs ?? 0) > whole / 2, `${file}: ${JSON.stringify(ofHot)}`)
}

test('a hot line has most of the self time of its function in a trace and in a .cpuprofile', async () => {
  const { cwd, files } = await record()
  const [profile] = filesIn(cwd, '.cpuprofile')
  for (const file of [files[0], profile]) await assertHotLine(file)
})

test("a hot line is found in Node's own .cpuprofile", async () => {
  const { cwd } = await run(['hot-line.js', WORK_MS], { preload: ['--cpu-prof'] })
  await assertHotLine(filesIn(cwd, '.cpuprofile')[0])
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
  const { files, pid } = await record()
  const { times, columnsOfHot } = await linesInDevTools(files[0], Number(pid))
  const sum = [...times.values()].reduce((all, ms) => all + ms, 0)
  assert.ok(sum > Number(WORK_MS) / 2, `${sum} of ${WORK_MS} ms`)
  assert.ok((times.get(HOT_LINE) ?? 0) > sum / 2, JSON.stringify([...times]))
  // V8 gives columns from Node 26 on, and its inspector none.
  const hasColumns = !isInspector && Number(process.versions.node.split('.')[0]) >= 26
  if (hasColumns) assert.ok([...columnsOfHot].some((column) => column > 1))
  else assert.deepEqual([...columnsOfHot], [1])
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
  stubborn(200)
`

test('a function that V8 refuses to optimize has the reason in a trace and in a .cpuprofile', {
  skip: NEEDS_REASONS_AGAINST_OPTIMIZATION,
}, async () => {
  const { cwd, traces } = await run([...NEVER_OPTIMIZED, STUBBORN], { env: BOTH })
  const [profile] = filesIn(cwd, '.cpuprofile')
  /** @param {any[]} nodes */
  const reasons = (nodes) =>
    new Set(
      nodes
        .filter(({ callFrame }) => callFrame.functionName === 'stubborn')
        .map(({ deoptReason }) => deoptReason),
    )
  const expected = new Set(['Optimization is always disabled'])
  assert.deepEqual(reasons([...traces[0].nodes.values()]), expected)
  assert.deepEqual(reasons(readCpuProfile(profile).nodes), expected)
})
