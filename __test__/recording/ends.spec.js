'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run, PACKAGE } = require('../helpers/run.js')
const { ENDINGS, canEnd } = require('../helpers/endings.js')
const { isInspector, NEEDS_THE_VERY_END, NEEDS_WAKE_UP } = require('../helpers/source.js')
const { assertSeen, SEEN_MS } = require('../helpers/work.js')

for (const ending of ENDINGS) {
  const skip = !canEnd(ending) && `Node has it from ${ending.since} on`
  test(`the trace is valid and has the last function after: ${ending.name}`, { skip }, async () => {
    const { flags = [], how, kill, threads = 1, isWhole } = ending
    const isKept = !isInspector || ending.inspector === true
    const args = (/** @type {string} */ ms) => [...flags, 'ending.js', how, ms]
    // The message comes after the last function.
    const during = (/** @type {import('node:child_process').ChildProcess} */ child) => {
      if (kill !== undefined) child.once('message', () => child.kill(kill))
    }
    // A shorter run ends in the same way.
    const plain = await run(args('10'), { preload: null, during })
    // With 60 s no flush comes before the end, so only the last window can bring the samples.
    const interval = isWhole ? '60000' : '50'
    const env = { CPU_PROF_FLUSH_INTERVAL: interval }
    const result = await run(args(String(SEEN_MS)), { during, env })

    assert.equal(result.code, plain.code)
    assert.equal(result.signal, plain.signal)
    assert.equal(result.stdout, plain.stdout)
    assert.doesNotMatch(result.stderr, /^cpu-prof:/m)
    assert.equal(result.traces.length, threads)
    for (const trace of result.traces) {
      assert.equal(trace.pid, result.pid)
      assert.equal(trace.ended, isWhole)
      // The main thread waits for the end of its worker, so its trace is complete.
      if (isKept || (threads > 1 && trace.tid === 0)) assertSeen(trace, 'lastWork')
    }
  })
}

test('a program that process.execve() cannot replace is recorded to the end', {
  skip: canEnd({ since: 26 }) ? NEEDS_WAKE_UP : 'Node ends the process',
}, async () => {
  const source = `
    const { spin } = require(${JSON.stringify(require.resolve('../fixtures/spin.js'))})
    function before() { return spin() }
    function after() { return spin() }
    before()
    try { process.execve('/none/such', []) } catch (error) { console.log(error.code) }
    setTimeout(() => { after(); process.exit(3) }, 10)
  `
  const { code, stdout, traces } = await run(['-e', source])
  assert.equal(code, 3)
  assert.equal(stdout, 'ENOENT\n')
  assert.equal(traces.length, 2)
  for (const [index, name] of ['before', 'after'].entries()) {
    assert.ok(traces[index].ended)
    assertSeen(traces[index], name)
  }
})

test('a program that process.execve() starts is not ended by a signal of V8', {
  skip: !canEnd({ since: 22 }) && 'Node has it from 22 on',
}, async () => {
  const source = `
    require(${JSON.stringify(require.resolve('../fixtures/spin.js'))}).spin(100)
    process.execve(process.execPath, [process.execPath, '-e', '0'])
  `
  for (let count = 0; count < 5; count++) {
    const { code, signal } = await run(['-e', source], { env: { CPU_PROF_INTERVAL: '50' } })
    assert.deepEqual([code, signal], [0, null])
  }
})

test('process.exitCode is kept', async () => {
  const { code, traces } = await run(['ending.js', 'exit-code', '10'])
  assert.equal(code, 4)
  assert.ok(traces[0].ended)
})

test('a program that survives its own signals is recorded to the end, in one trace after another', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const spin = JSON.stringify(require.resolve('../fixtures/spin.js'))
  const source = `
    const { spin } = require(${spin})
    function before() { return spin() }
    function between() { return spin() }
    function after() { return spin() }
    before()
    process.kill(process.pid, 'SIGWINCH')
    setTimeout(() => {
      between()
      process.kill(process.pid, 'SIGCONT')
      setTimeout(() => { after(); process.exit(3) }, 10)
    }, 10)
  `
  const { code, stderr, traces } = await run(['-e', source])
  assert.equal(code, 3)
  assert.equal(stderr, '')
  assert.equal(traces.length, 3)
  for (const trace of traces) assert.ok(trace.ended)
  for (const [index, name] of ['before', 'between', 'after'].entries()) {
    assertSeen(traces[index], name)
  }
})

test("stop() includes what was recorded before the program's own signal", {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const source = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${JSON.stringify(require.resolve('../fixtures/spin.js'))})
    prof.start()
    let worked = 0
    const timed = (f) => { const start = performance.now(); f(); worked += performance.now() - start }
    timed(function before() { spin() })
    process.kill(process.pid, 'SIGCONT')
    setTimeout(() => {
      timed(() => spin(50))
      console.log(JSON.stringify({ ...prof.stop(), worked }))
    })`
  const { stdout, traces } = await run(['-e', source], { preload: null })
  const { files, samples, durationMs, worked } = JSON.parse(stdout)
  assert.deepEqual([...files].sort(), traces.map((trace) => trace.file).sort())
  assert.equal(files.length, 2)
  assertSeen(traces[0], 'before')
  assert.ok(durationMs > worked, `${durationMs} of ${worked} ms`)
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
  const { traces } = await run(['ending.js', 'exit-listener', '10'])
  assertSeen(traces[0], 'lastWords')
})
