'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const {
  run,
  cleanEnv,
  temporaryDirectory,
  tracesIn,
  nowUs,
  PACKAGE,
  FIXTURES,
  MEMORY,
} = require('../helpers/run.js')
const { merge } = require('../..')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const NATIVE = path.join(PACKAGE, 'target', 'debug', 'examples', 'libnative.so')
const FAST = { CPU_PROF_FLUSH_INTERVAL: '50' }
const KILLS = Number(process.env.KILLS ?? 20)

/**
 * Runs a program without the profiler, then with it. Checks that it ends the same way and that the
 * trace is valid.
 * @param {string[]} flags @param {string} source @param {Record<string, string>} [env]
 */
async function crash(flags, source, env = {}) {
  const args = [...flags, '-e', `require(${SPIN}).spin(1000); ${source}`]
  const plain = await run(args, { preload: null, env })
  const result = await run(args, { env: { ...FAST, ...env } })
  assert.ok(plain.signal !== null || plain.code !== 0, 'the program did not crash')
  assert.equal(result.signal, plain.signal)
  assert.equal(result.code, plain.code)
  assert.equal(result.stdout, plain.stdout)
  assert.doesNotMatch(result.stderr, /^cpu-prof:/m)
  const [trace] = result.traces
  const ms = trace.totalMs((frame) => frame.functionName === 'spin')
  assert.ok(ms > 100, `${ms} ms of 1000`)
  return result
}

test('the trace survives a core dump on an uncaught exception', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  await crash(['--abort-on-uncaught-exception'], `throw new Error('thrown on purpose')`)
})

test('the trace survives a heap snapshot followed by a full heap', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const grow = `for (const kept = []; ; ) kept.push(new Array(1e5).fill(0.5))`
  const source = `require('node:v8').setHeapSnapshotNearHeapLimit(1); ${grow}`
  // Without --single-threaded, Node 26 can take its snapshot on one of V8's threads while the main
  // thread collects garbage, and the two threads deadlock.
  const { cwd } = await crash(['--max-old-space-size=20', '--single-threaded'], source)
  assert.ok(fs.readdirSync(cwd).some((file) => file.endsWith('.heapsnapshot')))
})

test('the trace survives a crash in another addon', { skip: NEEDS_INTERRUPT }, async () => {
  const source = `process.dlopen({ exports: {} }, ${JSON.stringify(NATIVE)})`
  const { signal } = await crash([], source, { NATIVE: 'crash' })
  assert.equal(signal, 'SIGSEGV')
})

test('stalled sampling in V8 is restarted, and the restart is counted', async () => {
  const source = `
    const { spin } = require(${SPIN})
    spin(300)
    process.dlopen({ exports: {} }, ${JSON.stringify(NATIVE)})
    const end = Date.now() + 3500
    const turn = () => { spin(30); if (Date.now() < end) setImmediate(turn) }
    turn()`
  const { code, traces } = await run(['-e', source], {
    env: { NATIVE: 'stall', CPU_PROF_FLUSH_INTERVAL: '100' },
  })
  assert.equal(code, 0)
  const flushes = traces[0].events.filter((/** @type {any} */ { name }) => name === 'thread.flush')
  assert.equal(flushes[0].args.data.restarts, undefined)
  assert.ok(flushes.at(-1).args.data.restarts >= 1)
  const restarted = flushes.find((/** @type {any} */ { args }) => args.data.restarts >= 1)
  assert.ok(traces[0].endUs > restarted.ts, 'no sample came after the restart')
})

test(`${KILLS} kills at random moments leave the profile`, async (t) => {
  const program = `
    const { spin } = require(${SPIN})
    process.send?.(0)
    setInterval(() => {
      spin(Math.random() * 40)
      new Function('return [' + Math.random() + '].map((x) => x * 2)')()
    }, 10)`
  let worst = 0
  let torn = 0
  for (let i = 0; i < KILLS; i++) {
    // A disk can delay a write for seconds; memory cannot.
    const cwd = temporaryDirectory('cpu-prof-', MEMORY)
    const child = spawn(process.execPath, ['--require', PACKAGE, '-e', program], {
      cwd,
      env: { ...cleanEnv(), ...FAST },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    // Every second kill is timed from the spawn, so it can come before the file exists.
    const hasStarted = i % 2 === 0
    if (hasStarted) await new Promise((resolve) => child.once('message', resolve))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 700))
    const killedUs = nowUs()
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    const files = tracesIn(cwd)
    assert.ok(files.length === 1 || !hasStarted)
    for (const file of files) {
      // The kill can come between the creation of the file and the first write.
      if (!hasStarted && fs.statSync(file).size === 0) continue
      const { traceEvents, isTorn } = await readKilled(file)
      torn += Number(isTorn)
      worst = Math.max(worst, killedUs - traceEvents.at(-1).ts)
    }
    fs.rmSync(cwd, { recursive: true })
  }
  t.diagnostic(`at most ${Math.round(worst / 1000)} ms were lost, ${torn} files are torn`)
  // The bounds allow for a loaded machine. Without streaming, everything would be missing.
  assert.ok(worst < 3_000_000, `${worst} µs before a kill are missing`)
  // docs/internals/trace-file.md explains why a kill can tear a write. A write takes microseconds.
  assert.ok(torn <= 1 + KILLS * 0.02, `${torn} files are torn`)
})

/** Reads a trace, which is repaired by merge() if the kill came within a write. @param {string} file */
async function readKilled(file) {
  const parse = () => JSON.parse(fs.readFileSync(file, 'utf8'))
  try {
    return { ...parse(), isTorn: false }
  } catch {
    const { repaired } = await merge(file, file)
    assert.deepEqual(repaired, [file])
    return { ...parse(), isTorn: true }
  }
}
