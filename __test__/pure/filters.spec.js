'use strict'

// Filters of the tools: some processes, threads, stacks, samples and events.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { readMerged } = require('../helpers/merged.js')
const { messages } = require('../helpers/messages.js')
const { readJson, sumOfStates } = require('../helpers/times.js')
const { writeTrace } = require('../helpers/written.js')

const GRIND = '(anonymous) busy.js:1 > grind grind.js:3:7'
const CRUNCH = '(anonymous) busy.js:1 > crunch node_modules/crunch/index.js:2:5'

/**
 * Writes recordings of a parent with an idle and a busy worker and a busy child. The busy ones call a
 * package (`crunch`) for a fifth of their time, and are blocked for some time.
 */
function write() {
  const cwd = temporaryDirectory()
  const turn = /** @type {any} */ ([
    [GRIND, 16, { cpuMs: 15 }],
    [CRUNCH, 4],
  ])
  const busy = Array.from({ length: 30 }, () => turn).flat()
  /** @type {(name: string, startMs: number, recorded: Parameters<typeof writeTrace>[1]) => string} */
  const at = (name, startMs, recorded) =>
    writeTrace(path.join(cwd, name), { cwd, start: 1e9 + 1000 * startMs, ...recorded })
  const parent = { label: 'parent.js' }
  const own = Object.entries({ 'main parent.js:1': 40, '(idle)': 760 })
  const waiting = { ...parent, tid: 1, script: '[worker eval]', flushMs: 110 }
  const child = { label: 'busy.js', argv: ['child'], pid: 8, ppid: 7, processStartMs: 9 }
  at('CPU.7.0.trace.json', 0, { ...parent, spans: own })
  at('CPU.7.1.trace.json', 50, { ...waiting, spans: [['(idle)', 300]] })
  at('CPU.7.2.trace.json', 60, { ...parent, tid: 2, script: 'busy.js', spans: busy })
  at('CPU.8.0.trace.json', 100, { ...child, spans: busy })
  return cwd
}

/** The times of the functions in all recordings. */
const ALL = { grind: 960, crunch: 240 }

/** Returns the self times of the busy functions, milliseconds. @param {import('../../index.js').Report} result */
function times({ functions }) {
  const found = functions.filter(({ name }) => ['grind', 'crunch'].includes(name))
  // A trace without counters cannot tell time that was blocked.
  return Object.fromEntries(found.map(({ name, selfMs, blockedMs }) => [name, selfMs + blockedMs]))
}

/** Returns the sum of collapsed stacks, milliseconds. @param {string} file */
function collapsedMs(file) {
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n')
  return lines.reduce((us, line) => us + Number(line.slice(line.lastIndexOf(' '))), 0) / 1000
}

/** Returns the threads of a report by command and name. @param {import('../../index.js').Report} result */
function threads({ processes }) {
  const all = processes.flatMap(({ command, threads }) =>
    threads.map(({ name }) => `${command} ${name}`),
  )
  return all.sort()
}

test('filters mean the same in report, merge and convert', async () => {
  const cwd = write()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  assert.deepEqual(times(await report(cwd)), ALL)
  await merge(cwd, at('out/all.json'))
  const busy = ['busy.js child main', 'parent.js worker 2: busy.js']
  const one = { grind: 480, crunch: 120 }
  for (const [filter, names, expected, totalMs] of /** @type {const} */ ([
    [{ process: 'child' }, busy.slice(0, 1), one, 600],
    [{ thread: ['busy.js', '0'], process: 'PARENT' }, ['parent.js main', busy[1]], one, 1400],
    [{ package: 'crunch' }, busy, { crunch: 240 }, 240],
    [{ focus: 'busy.js:' }, busy, ALL, 1200],
    [{ ignore: ['node_modules/crunch'], focus: 'grind' }, busy, { grind: 960 }, 960],
  ])) {
    const options = /** @type {any} */ (filter)
    const message = JSON.stringify(filter)
    const check = (/** @type {import('../../index.js').Report} */ result) => {
      assert.deepEqual([threads(result), times(result)], [names, expected], message)
      assert.equal(sumOfStates(result.totals), totalMs, message)
    }
    check(await report(cwd, options))
    // Recordings, and a merged trace, give the same trace and profiles.
    for (const [number, input] of [cwd, at('out/all.json')].entries()) {
      const merged = at(`out/${number}.json`)
      await merge(input, merged, options)
      check(await report(merged))
      fs.rmSync(merged)
      const { files } = await convert(input, at('out/x.collapsed'), options)
      assert.equal(collapsedMs(files[0]), totalMs, message)
    }
  }
})

test('fewer samples make a trace smaller, with the same times', async () => {
  const cwd = write()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const before = await report(cwd)
  const whole = await merge(cwd, at('out/all.json'))
  const thin = await merge(at('out/all.json'), at('out/thin.json'), { interval: 20_000 })
  assert.ok(thin.bytes < whole.bytes, `${thin.bytes} of ${whole.bytes} bytes`)
  const thinned = await report(at('out/thin.json'))
  const counts = (/** @type {import('../../index.js').Report} */ { processes }) =>
    processes.flatMap((each) =>
      each.threads.map(({ samples, durationMs }) => [samples, durationMs]),
    )
  assert.deepEqual(counts(before), [
    [800, 800],
    [300, 300],
    [600, 600],
    [600, 600],
  ])
  // An interval also ends at each flush: after 110 and 220 ms of the worker.
  assert.deepEqual(counts(thinned), [
    [40, 800],
    [6 + 6 + 4, 300],
    [30, 600],
    [30, 600],
  ])
  // In every interval `crunch` is the shorter one, and still has its time over the whole.
  assert.deepEqual(times(thinned), ALL)
  assert.deepEqual(thinned.totals, before.totals)
})

test('a filter without a match names the processes, and wrong filters are refused', async () => {
  const cwd = write()
  for (const command of [
    ['report', '.'],
    ['merge', '.', '-o', 'out.json'],
    ['convert', '.', '-o', 'out.collapsed'],
  ]) {
    const filters = ['--process', 'jest', '--focus', 'grind']
    const { code, stderr } = await cli([...command, ...filters], { cwd })
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `cpu-prof: ${messages.nothingMatches} process jest with focus grind; the processes ` +
        'are: parent.js (pid 7), busy.js child (pid 8)\n',
    )
  }
  for (const options of [{ focus: '' }, { process: [7] }, { interval: 0.5 }, { interval: 0 }]) {
    await assert.rejects(
      merge(cwd, path.join(cwd, 'x.json'), /** @type {any} */ (options)),
      /^(Type|Range)Error: cpu-prof: /,
    )
  }
  assert.ok(!fs.existsSync(path.join(cwd, 'x.json')))
})

test('stdin is an input, and several inputs are converted together', async () => {
  const cwd = write()
  await merge(cwd, path.join(cwd, 'all.json.gz'))
  const stdin = fs.readFileSync(path.join(cwd, 'all.json.gz'))
  const piped = await cli(['report', '-', '--json'], { cwd, input: stdin })
  assert.equal(piped.code, 0, piped.stderr)
  const folder = fs.readdirSync(cwd).filter((name) => name.startsWith('CPU.'))
  assert.deepEqual(times(JSON.parse(piped.stdout)), ALL)
  const merged = await cli(['merge', '-', '-o', '-', '--process', 'child'], { cwd, input: stdin })
  assert.equal(merged.code, 0, merged.stderr)
  const pids = JSON.parse(merged.stdout).traceEvents.map((/** @type {any} */ { pid }) => pid)
  assert.deepEqual([...new Set(pids)], [8])
  const several = await cli(['convert', ...folder, '-o', 'all.speedscope.json'], { cwd })
  assert.equal(several.code, 0, several.stderr)
  const { profiles } = readJson(path.join(cwd, 'all.speedscope.json'))
  assert.equal(profiles.length, 4)
})

test('convert takes a slice of the time', async () => {
  const cwd = write()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const slice = { from: 210, to: -95 }
  const check = (/** @type {import('../../index.js').Report} */ result) => {
    // The busy worker had 150 of its 600 ms before, the child 110 ms.
    assert.deepEqual(times(result), { grind: 358 + 390, crunch: 92 + 100 })
    const { totals } = result
    assert.deepEqual([totals.idleMs, sumOfStates(totals)], [495 + 140, 495 + 140 + 450 + 490])
  }
  check(await report(cwd, slice))
  const { files } = await convert(cwd, at('out/x.collapsed'), slice)
  assert.equal(collapsedMs(files[0]), 1575)
  await convert(cwd, at('out/x.json'), slice)
  check(await report(at('out/x.json')))
})

for (const version of [18, 26]) {
  test(`trace events of Node ${version} itself belong to the recorded threads`, async () => {
    const log = readJson(path.join(FIXTURES, 'foreign', `node-${version}-trace-events.log.gz`))
    const [{ pid, ts }] = log.traceEvents
    const isCall = (/** @type {any} */ { name }) => name.startsWith('fs.sync.')
    const calls = log.traceEvents.filter(isCall)
    // Node names a thread by the system's id: also a worker, which reads its file in the same way.
    const [worker, other] = [pid + 20, pid + 21]
    for (const tid of [worker, other]) {
      log.traceEvents.push(...calls.map((/** @type {any} */ call) => ({ ...call, tid })))
    }
    const cwd = temporaryDirectory()
    fs.writeFileSync(path.join(cwd, 'node_trace.1.log'), JSON.stringify(log))
    const recorded = { pid, start: ts + 5000, cwd }
    writeTrace(path.join(cwd, 'a.trace.json'), { ...recorded, osThreadId: pid })
    writeTrace(path.join(cwd, 'b.trace.json'), { ...recorded, tid: 1, osThreadId: worker })

    const output = path.join(cwd, 'out', 'all.json')
    assert.equal((await merge(cwd, output)).processes, 1)
    const { events, threads: profiled } = await readMerged(output)
    assert.deepEqual(
      profiled.map((/** @type {any} */ { tid }) => tid),
      [0, 1],
    )
    // A thread that was not recorded keeps its id.
    for (const tid of [0, 1, other]) {
      const own = events.filter((/** @type {any} */ event) => event.tid === tid && isCall(event))
      const expected = calls.map((/** @type {any} */ call) => ({ ...call, tid }))
      assert.deepEqual(own, expected, `thread ${tid}`)
    }
    assert.equal(events.filter(isCall).length, 3 * calls.length)
    assert.ok(events.every((/** @type {any} */ { tid }) => tid !== pid && tid !== worker))
    // The track of the processes is on no process.
    const pids = new Set(events.map((/** @type {any} */ event) => event.pid))
    assert.deepEqual([...pids].sort(), [0, pid])
  })
}
