'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run, nowUs, PACKAGE } = require('../helpers/run.js')
const { ENDINGS } = require('../helpers/endings.js')
const { isInspector, NEEDS_THE_VERY_END, NEEDS_WAKE_UP } = require('../helpers/source.js')

for (const ending of ENDINGS) {
  test(`the trace is valid after: ${ending.name}`, async () => {
    const { flags = [], how, kill, threads = 1, isWhole } = ending
    const isKept = !isInspector || ending.inspector === true
    const args = (/** @type {string} */ ms) => [...flags, 'ending.js', how, ms]
    let killedUs = 0
    const during = (/** @type {import('node:child_process').ChildProcess} */ child) => {
      if (kill === undefined) return
      child.once('message', () => {
        killedUs = nowUs()
        child.kill(kill)
      })
    }
    // A shorter run ends in the same way.
    const plain = await run(args('10'), { preload: null, during })
    // With 60 s no flush comes before the end, so only the last window can bring the samples.
    const interval = isWhole ? '60000' : '200'
    const env = { CPU_PROF_FLUSH_INTERVAL: interval }
    const result = await run(args('700'), { during, env })

    assert.equal(result.code, plain.code)
    assert.equal(result.signal, plain.signal)
    assert.equal(result.stdout, plain.stdout)
    assert.doesNotMatch(result.stderr, /^cpu-prof:/m)
    assert.equal(result.traces.length, threads)
    for (const trace of result.traces) {
      assert.equal(trace.pid, result.pid)
      assert.equal(trace.ended, isWhole)
      // The main thread waits for the end of its worker, so its trace is complete.
      if (!isKept && (threads === 1 || trace.tid > 0)) continue
      const ms = trace.totalMs((frame) => frame.functionName === 'spin')
      assert.ok(ms > (isWhole ? 400 : 100), `${ms} ms of 700`)
    }
    if (kill && isKept) {
      const lostMs = (killedUs - result.traces[0].endUs) / 1000
      // The bounds allow for a loaded machine. Without these writes everything would be missing.
      const bound = isWhole ? 500 : 650
      assert.ok(lostMs < bound, `${lostMs} ms before the kill are missing`)
    }
  })
}

test('process.exitCode is kept', async () => {
  const { code, traces } = await run(['ending.js', 'exit-code'])
  assert.equal(code, 4)
  assert.ok(traces[0].ended)
})

test('a program that survives its own signal is recorded to the end', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const spin = JSON.stringify(require.resolve('../fixtures/spin.js'))
  const source = `
    const { spin } = require(${spin})
    function before() { return spin(300) }
    function after() { return spin(300) }
    before()
    process.kill(process.pid, 'SIGWINCH')
    setTimeout(() => {
      after()
      process.kill(process.pid, 'SIGCONT')
      setTimeout(() => { after(); process.exit(3) }, 10)
    }, 10)
  `
  const { code, stderr, traces } = await run(['-e', source])
  assert.equal(code, 3)
  assert.equal(stderr, '')
  assert.equal(traces.length, 3)
  for (const trace of traces) assert.ok(trace.ended)
  const ms = (/** @type {string} */ name) =>
    traces.reduce((sum, { totalMs }) => sum + totalMs((frame) => frame.functionName === name), 0)
  // The first samples can come late on a loaded machine.
  assert.ok(ms('before') > 100, `${ms('before')} ms`)
  assert.ok(ms('after') > 200, `${ms('after')} ms`)
})

test("stop() includes what was recorded before the program's own signal", {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const source = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${JSON.stringify(require.resolve('../fixtures/spin.js'))})
    prof.start()
    spin(200)
    process.kill(process.pid, 'SIGCONT')
    setTimeout(() => {
      spin(200)
      console.log(JSON.stringify(prof.stop()))
    })`
  const { stdout, traces } = await run(['-e', source], { preload: null })
  const { files, samples, durationMs } = JSON.parse(stdout)
  assert.deepEqual([...files].sort(), traces.map((trace) => trace.file).sort())
  assert.equal(files.length, 2)
  assert.ok(durationMs > 350, `${durationMs} ms`)
  assert.equal(
    samples,
    traces.reduce((count, trace) => count + trace.samples.length, 0),
  )
})

test('a program that dies of its own signal leaves one trace', async () => {
  const source = 'for (const end = Date.now() + 100; Date.now() < end; );'
  for (const signal of ['SIGTERM', 'SIGHUP']) {
    const kill = `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1)`
    const result = await run(['-e', `${source} ${kill}`])
    assert.equal(result.signal, signal)
    assert.equal(result.traces.length, 1)
    assert.ok(result.traces[0].ended)
  }
})

test('exit listeners are in the trace', { skip: NEEDS_THE_VERY_END }, async () => {
  const { traces } = await run(['ending.js', 'exit-listener'])
  const ms = traces[0].totalMs((frame) => frame.functionName === 'lastWords')
  assert.ok(ms > 150, `${ms} ms of 300`)
})
