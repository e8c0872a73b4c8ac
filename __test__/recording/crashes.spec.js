'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { cli } = require('../helpers/cli.js')
const { run, PACKAGE, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT, NEEDS_SAMPLING_THREAD } = require('../helpers/source.js')
const { assertSeen } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const NATIVE = path.join(PACKAGE, 'target', 'debug', 'examples', 'libnative.so')

/**
 * Runs a program without the profiler, and with it after some work. Checks that it ends the same way and
 * that the trace has the work.
 * @param {string[]} flags @param {string} source @param {Record<string, string>} [env]
 */
async function crash(flags, source, env = {}) {
  const plain = await run([...flags, '-e', source], { preload: null, env })
  // Only windows that are written during the work have its samples, so it lasts longer than a sample needs.
  const result = await run([...flags, '-e', `require(${SPIN}).spin(400); ${source}`], {
    env: { CPU_PROF_FLUSH_INTERVAL: '50', ...env },
  })
  assert.ok(plain.signal !== null || plain.code !== 0, 'the program did not crash')
  assert.equal(result.signal, plain.signal)
  assert.equal(result.code, plain.code)
  assert.equal(result.stdout, plain.stdout)
  assert.doesNotMatch(result.stderr, /^cpu-prof:/m)
  assertSeen(result.traces[0], 'spin')
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

test('stalled sampling in V8 is restarted, and the restart is counted', {
  skip: NEEDS_SAMPLING_THREAD,
}, async () => {
  // The program works until its trace has a sample after the restart, or until 30 s are over.
  const source = `
    const fs = require('node:fs')
    const { spin } = require(${SPIN})
    const isSampledAgain = () => {
      const [file] = fs.readdirSync('.').filter((name) => name.endsWith('.trace.json'))
      const [, ...after] = fs.readFileSync(file, 'utf8').split(/"restarts":[1-9]/)
      return after.join().includes('"ProfileChunk"')
    }
    spin(300)
    process.dlopen({ exports: {} }, ${JSON.stringify(NATIVE)})
    const end = Date.now() + 30_000
    const turn = () => { spin(30); if (!isSampledAgain() && Date.now() < end) setImmediate(turn) }
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

test('a report says that a process was killed before its first flush', async () => {
  const { files } = await run(['ending.js', 'busy', '10'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '60000' },
    during: (child) => child.once('message', () => child.kill('SIGKILL')),
  })
  const merged = path.join(path.dirname(files[0]), 'merged.json')
  await merge(files, merged)
  for (const input of [files[0], merged]) {
    const result = await report(input)
    assert.equal(result.notes.length, 1)
    assert.match(result.notes[0], /^nothing of ending\.js .*is recorded: .* before its first flush/)
    const { notes } = JSON.parse(/** @type {any} */ (await pageData([input], {})))
    assert.deepEqual(notes, result.notes)
    const { stdout, stderr } = await cli(['report', input, '--markdown'])
    for (const text of [stdout, stderr]) assert.ok(text.includes(result.notes[0]), text)
  }
})
