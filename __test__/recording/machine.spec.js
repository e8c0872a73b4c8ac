'use strict'

// The report on the machine: cores, blocked threads, native threads, other programs.

const assert = require('node:assert/strict')
const test = require('node:test')
const { report } = require('../..')
const { run, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

/** Computes for so many milliseconds of CPU time, in a shell. */
const SHELL = 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'
const WORK = `
  const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2))
  const work = (ms) => {
    const usedUs = () => process.cpuUsage().user
    const end = usedUs() + ms * 1000
    while (usedUs() < end) fibonacci(20)
  }`

test('a blocked thread is not busy, and the blocked calls are named', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const script = `
    ${WORK}
    const { spawnSync } = require('node:child_process')
    const cell = new Int32Array(new SharedArrayBuffer(4))
    function waitForMemory() { Atomics.wait(cell, 0, 0, 900) }
    function waitForChild() { spawnSync('sleep', ['0.8']) }
    work(300)
    waitForMemory()
    waitForChild()
    process.send(0)`
  const { cwd } = await run(['-e', script])
  const { totals, functions, processes } = await report(cwd)
  assert.ok(totals.blockedMs > 1200, `blocked ${totals.blockedMs} ms`)
  const blockedMs = (/** @type {string} */ wanted) =>
    functions.filter(({ name }) => name === wanted).reduce((sum, each) => sum + each.blockedMs, 0)
  assert.ok(blockedMs('waitForMemory') > 600, `${blockedMs('waitForMemory')} ms`)
  // V8 names the native function or its caller.
  const childMs = blockedMs('spawn') + blockedMs('spawnSync')
  assert.ok(childMs > 500, `${childMs} ms`)
  // Work beside a blocked call, between the same two readings of the counters, can be mistaken for it.
  const mistakenMs = blockedMs('fibonacci')
  assert.ok(mistakenMs < 0.2 * totals.blockedMs, `${mistakenMs} of ${totals.blockedMs} ms`)
  const [thread] = processes[0].threads
  assert.ok(Number(thread.cpuMs) < totals.busyMs + 200, `CPU ${thread.cpuMs} ms`)
  const waiting = functions.find(({ name }) => name === 'waitForMemory')
  assert.ok(Number(waiting?.totalMs) < 300, `${waiting?.totalMs} ms of work`)
})

test('a thread that only computes is not blocked, however busy the machine is', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  // Twice as many threads as cores.
  const script = `
    ${WORK}
    const { Worker } = require('node:worker_threads')
    const { availableParallelism, cpus } = require('node:os')
    const cores = availableParallelism?.() ?? cpus().length
    const code = 'const end = process.hrtime.bigint() + 1500000000n; while (process.hrtime.bigint() < end);'
    for (let i = 0; i < 2 * cores; i++) new Worker(code, { eval: true })`
  const { cwd } = await run(['-e', script])
  const { totals } = await report(cwd)
  // Each thread waits for a core half of the time. A hypervisor that takes a core away looks like a
  // blocked call.
  assert.ok(totals.blockedMs < 0.15 * totals.busyMs, `${totals.blockedMs} of ${totals.busyMs} ms`)
})

test('CPU time of native threads and of other programs is told from that of recorded threads', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  // A recorded child, behind a shell that computes too, and a hash on libuv's threads.
  const script = `
    ${WORK}
    const { execFile } = require('node:child_process')
    const { pbkdf2 } = require('node:crypto')
    const child = ${JSON.stringify(`${WORK}; work(400)`)}
    const node = process.execPath
    execFile('sh', ['-c', '${SHELL}; "$0" "$@"', node, '--require', ${JSON.stringify(PACKAGE)}, '-e', child], () => {
      pbkdf2('a', 'b', 1_500_000, 64, 'sha512', () => work(100))
    })`
  const { cwd, traces } = await run(['-e', script])
  assert.equal(traces.length, 2)
  const { processes } = await report(cwd)
  const [parent, child] = processes
  assert.equal(child.parentPid === parent.pid, false, 'a shell is in between')
  const cpu = parent.cpu ?? assert.fail('no CPU times')
  assert.ok(cpu.nativeMs > 300, `native ${cpu.nativeMs} ms`)
  assert.ok(cpu.javascriptMs > 90 && cpu.javascriptMs < 400, `JavaScript ${cpu.javascriptMs} ms`)
  assert.ok(Number(child.cpu?.javascriptMs) > 350, `child ${child.cpu?.javascriptMs} ms`)
  const others = Number(cpu.othersMs)
  assert.ok(others > 100, `other programs ${others} ms`)
  const slice = await report(cwd, { from: 10, to: 500 })
  assert.equal(slice.processes[0].cpu?.othersMs, undefined)
})

test('the CPU time of a worker counts for its process, whose main thread waits until a signal', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  // Sampling of the main thread is suspended after three seconds.
  const worker = `${WORK}; work(5500); require('node:fs').writeSync(1, 'done')`
  const child = `new (require('node:worker_threads').Worker)(${JSON.stringify(worker)}, { eval: true })
    setInterval(() => {}, 1e6)`
  const script = `
    const { spawn } = require('node:child_process')
    const args = ['--require', ${JSON.stringify(PACKAGE)}, '-e', ${JSON.stringify(child)}]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.once('data', () => child.kill('SIGTERM'))`
  const { cwd } = await run(['-e', script])
  const { processes } = await report(cwd)
  const [parent, waiting] = processes.sort((a, b) => a.threads.length - b.threads.length)
  assert.equal(waiting.threads.length, 2)
  assert.ok(Number(waiting.cpu?.javascriptMs) > 4500, `${waiting.cpu?.javascriptMs} ms`)
  assert.ok(Number(parent.cpu?.othersMs) < 500, `others: ${parent.cpu?.othersMs} ms`)
})
