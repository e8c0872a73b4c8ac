'use strict'

// Filters of the tools: some processes, threads, stacks, samples and events.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory, FIXTURES } = require('../helpers/run.js')

/**
 * Records a parent with an idle and a busy worker and a busy child. The busy ones call a package
 * (`crunch`) for a third of their time.
 */
async function record() {
  const cwd = temporaryDirectory()
  const crunch = path.join(cwd, 'node_modules', 'crunch')
  fs.mkdirSync(crunch, { recursive: true })
  const loop = `{ const end = performance.now() + ms; for (let n = 0; performance.now() < end;) for (let i = 0; i < 1e5; i++) n += i % 7 }`
  fs.writeFileSync(path.join(crunch, 'index.js'), `exports.crunch = function crunch(ms) ${loop}`)
  fs.writeFileSync(
    path.join(cwd, 'busy.js'),
    `const { crunch } = require('crunch')
     function grind(ms) ${loop}
     for (let i = 0; i < 20; i++) { grind(20); crunch(10) }`,
  )
  fs.writeFileSync(
    path.join(cwd, 'parent.js'),
    `const { Worker } = require('node:worker_threads')
     const { spawn } = require('node:child_process')
     new Worker('setTimeout(() => {}, 300)', { eval: true })
     new Worker('./busy.js')
     spawn(process.execPath, ['busy.js', 'child'])`,
  )
  const { files, code, stderr } = await run(['./parent.js'], {
    cwd,
    env: { NODE_OPTIONS: `--require ${PACKAGE}` },
    preload: null,
  })
  assert.equal(code, 0, stderr)
  assert.equal(files.length, 4)
  return cwd
}

/** Returns the self times of the recorded functions, milliseconds. @param {import('../../index.js').Report} result */
function times({ functions }) {
  const found = functions.filter(({ name }) => ['grind', 'crunch'].includes(name))
  // A trace without counters cannot tell time that was blocked, or taken away by other programs.
  const ms = (/** @type {import('../../index.js').ReportFunction} */ { selfMs, blockedMs }) =>
    Math.round(selfMs + blockedMs)
  return Object.fromEntries(found.map((each) => [each.name, ms(each)]))
}

/** Returns the sum of a report's times, milliseconds. @param {import('../../index.js').ReportTimes} totals */
const sumOf = ({ busyMs, gcMs, programMs, idleMs, blockedMs }) =>
  busyMs + gcMs + programMs + idleMs + blockedMs

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
  const cwd = await record()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const whole = await report(cwd)
  const all = times(whole)
  assert.ok(all.grind > 500 && all.crunch > 250, JSON.stringify(all))
  await merge(cwd, at('out/all.json'))
  const busy = ['busy.js child main', 'parent.js worker 2: busy.js']
  for (const [filter, expected, names] of /** @type {const} */ ([
    [{ process: 'child' }, ['grind', 'crunch'], busy.slice(0, 1)],
    [
      { thread: ['busy.js', '0'], process: 'PARENT' },
      ['grind', 'crunch'],
      ['parent.js main', busy[1]],
    ],
    [{ package: 'crunch' }, ['crunch'], busy],
    [{ focus: 'busy.js:' }, ['grind', 'crunch'], busy],
    [{ ignore: ['node_modules/crunch'], focus: 'grind' }, ['grind'], busy],
  ])) {
    const direct = await report(cwd, /** @type {any} */ (filter))
    assert.deepEqual(threads(direct), names)
    assert.deepEqual(Object.keys(times(direct)).sort(), [...expected].sort())
    // Recordings, and a merged trace, give the same trace and profiles.
    for (const [number, input] of [cwd, at('out/all.json')].entries()) {
      const merged = at(`out/${number}.json`)
      await merge(input, merged, /** @type {any} */ (filter))
      const again = await report(merged)
      assert.deepEqual(
        [threads(again), times(again)],
        [names, times(direct)],
        JSON.stringify(filter),
      )
      fs.rmSync(merged)
    }
    const { files } = await convert(cwd, at('out/x.collapsed'), /** @type {any} */ (filter))
    const [ms, expectedMs] = [collapsedMs(files[0]), sumOf(direct.totals)]
    assert.ok(Math.abs(ms - expectedMs) < 1, `${ms} ms, ${expectedMs} ms`)
  }
})

test('fewer samples make a trace smaller, with the same times', async () => {
  const cwd = await record()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const before = times(await report(cwd))
  const whole = await merge(cwd, at('out/all.json'))
  const thin = await merge(at('out/all.json'), at('out/thin.json'), { interval: 20_000 })
  assert.ok(thin.bytes < whole.bytes, `${thin.bytes} of ${whole.bytes} bytes`)
  const thinned = await report(at('out/thin.json'))
  for (const { durationMs, samples, name } of thinned.processes.flatMap(({ threads }) => threads)) {
    // An interval also ends at a sample that is longer, and at each flush.
    const most = 2 * (durationMs / 20) + durationMs / 500 + 4
    assert.ok(samples <= most, `${name}: ${samples} samples in ${durationMs} ms`)
  }
  const after = times(thinned)
  for (const [name, ms] of Object.entries(before)) {
    assert.ok(Math.abs(after[name] - ms) <= 3 * 20, `${name}: ${ms} ms, then ${after[name]} ms`)
  }
})

test('a filter without a match names the processes, and wrong filters are refused', async () => {
  const cwd = await record()
  for (const command of [
    ['report', '.'],
    ['merge', '.', '-o', 'out.json'],
    ['convert', '.', '-o', 'out.collapsed'],
  ]) {
    const { code, stderr } = await cli([...command, '--process', 'jest', '--focus', 'grind'], {
      cwd,
    })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^cpu-prof: nothing in the recordings matches process jest with focus grind;/,
    )
    assert.match(stderr, /busy\.js child \(pid \d+\)|busy\.js: child \(pid \d+\)/)
  }
  for (const options of [
    { focus: '' },
    { process: [7] },
    { interval: 0.5 },
    { interval: 0 },
    { dropIdle: 1 },
  ]) {
    await assert.rejects(
      merge(cwd, path.join(cwd, 'x.json'), /** @type {any} */ (options)),
      /^(Type|Range)Error: cpu-prof: /,
    )
  }
  assert.ok(!fs.existsSync(path.join(cwd, 'x.json')))
})

test('stdin is an input, and several inputs are converted together', async () => {
  const cwd = await record()
  await merge(cwd, path.join(cwd, 'all.json.gz'))
  const stdin = fs.readFileSync(path.join(cwd, 'all.json.gz'))
  const piped = await cli(['report', '-', '--json'], { cwd, input: stdin })
  assert.equal(piped.code, 0, piped.stderr)
  const folder = fs.readdirSync(cwd).filter((name) => name.startsWith('CPU.'))
  assert.deepEqual(
    times(JSON.parse(piped.stdout)),
    times(await report(folder.map((name) => path.join(cwd, name)))),
  )
  const merged = await cli(['merge', '-', '-o', '-', '--process', 'child'], { cwd, input: stdin })
  assert.equal(merged.code, 0, merged.stderr)
  assert.equal(
    new Set(JSON.parse(merged.stdout).traceEvents.map((/** @type {any} */ { pid }) => pid)).size,
    1,
  )
  const several = await cli(['convert', ...folder, '-o', 'all.speedscope.json'], { cwd })
  assert.equal(several.code, 0, several.stderr)
  assert.equal(
    JSON.parse(fs.readFileSync(path.join(cwd, 'all.speedscope.json'), 'utf8')).profiles.length,
    4,
  )
})

test('convert takes a slice of the time', async () => {
  const cwd = await record()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const slice = { from: 200, to: -100 }
  const { totals } = await report(cwd, slice)
  const expectedMs = sumOf(totals)
  const { files } = await convert(cwd, at('out/x.collapsed'), slice)
  const ms = collapsedMs(files[0])
  assert.ok(Math.abs(ms - expectedMs) < 1, `${ms} ms, ${expectedMs} ms`)
  await convert(cwd, at('out/x.json'), slice)
  const again = await report(at('out/x.json'))
  assert.ok(Math.abs(again.totals.busyMs - totals.busyMs) < 5)
})

test("Node's own trace events belong to the recorded threads", async () => {
  const cwd = temporaryDirectory()
  const flags = ['--trace-event-categories', 'node.fs.sync,v8']
  const { code, stderr } = await run([...flags, path.join(FIXTURES, 'workers.js'), 'natural'], {
    cwd,
  })
  assert.equal(code, 0, stderr)
  assert.ok(fs.readdirSync(cwd).includes('node_trace.1.log'))
  const output = path.join(cwd, 'out', 'all.json')
  const { processes } = await merge(cwd, output)
  assert.equal(processes, 1)
  const events = JSON.parse(fs.readFileSync(output, 'utf8')).traceEvents
  const calls = events.filter((/** @type {any} */ { name }) => name.startsWith('fs.sync.'))
  const tids = new Set(calls.map((/** @type {any} */ { tid }) => tid))
  assert.ok(tids.has(0), [...tids].join())
  for (const tid of tids) assert.ok(tid < 10, `${tid} is a thread id of the system`)
  // The track of the processes is on no process.
  const pids = new Set(events.map((/** @type {any} */ { pid }) => pid))
  assert.equal(pids.size, 2)
  assert.ok(pids.has(0))
})
