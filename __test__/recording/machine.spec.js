'use strict'

// The system's counters in recordings, by which reports tell blocked calls, native threads and other
// programs from work.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../..')
const { message, run, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_BLOCKED_CALLS, NEEDS_INTERRUPT } = require('../helpers/source.js')
const { sumOfStates } = require('../helpers/times.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** CPU time that each part of the program uses at least. */
const PART_MS = 1000
/** CPU time of the worker: more than of the program that is not recorded. */
const WORKER_MS = 1500
/** Sampling of a waiting thread is suspended after three seconds. */
const SUSPENDED_MS = 4000

/** A program whose worker works while sampling of its main thread is suspended, until a signal. */
const CHILD = `
  const { Worker } = require('node:worker_threads')
  const code = \`
    setTimeout(() => {
      require(${SPIN.replaceAll('\\', '\\\\')}).spin(${WORKER_MS})
      process.kill(process.pid, 'SIGTERM')
    }, ${SUSPENDED_MS})\`
  new Worker(code, { eval: true })
  setInterval(() => {}, 1e6)`

/** A program that is blocked, hashes on libuv's threads, and starts programs through a shell. */
const PROGRAM = `
  const { spawnSync } = require('node:child_process')
  const { pbkdf2 } = require('node:crypto')
  const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2))
  const usedMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
  const elapsedMs = (call) => { const start = performance.now(); call(); return performance.now() - start }
  const cell = new Int32Array(new SharedArrayBuffer(4))
  function waitForMemory() { Atomics.wait(cell, 0, 0, 1500) }
  function waitForChildren() {
    const script = '"$0" -e "$2" & "$0" --require "$1" -e "$3" & wait'
    const args = ['-c', script, process.execPath, ${JSON.stringify(PACKAGE)}]
    const programs = [\`require(${SPIN.replaceAll('\\', '\\\\')}).spin(${PART_MS})\`, ${JSON.stringify(CHILD)}]
    spawnSync('sh', [...args, ...programs], { stdio: 'inherit' })
  }
  for (const end = usedMs() + ${PART_MS}; usedMs() < end; ) fibonacci(20)
  const memoryMs = elapsedMs(waitForMemory)
  const childrenMs = elapsedMs(waitForChildren)
  const before = usedMs()
  const hash = () => pbkdf2('a', 'b', 100_000, 64, 'sha512', () => {
    const nativeMs = usedMs() - before
    if (nativeMs < ${PART_MS}) return hash()
    console.log(JSON.stringify({ memoryMs, childrenMs, nativeMs }))
  })
  hash()`

/** Records the program, and returns what it says of itself, and the report. */
async function record() {
  const { cwd, stdout, stderr, traces } = await run(['-e', PROGRAM])
  assert.equal(stderr, '')
  assert.equal(traces.length, 3)
  const result = await report(cwd)
  const [parent, child] = result.processes.sort((a, b) => a.threads.length - b.threads.length)
  /** @type {{ memoryMs: number, childrenMs: number, nativeMs: number }} */
  const said = JSON.parse(stdout)
  return { ...said, result, parent, child }
}
/** @type {ReturnType<typeof record> | undefined} */
let recorded
const recordOnce = () => {
  recorded ??= record()
  return recorded
}

/** @param {import('../../index.js').ReportTimes} times */
const workMs = ({ javascriptMs, nativeMs, gcMs }) => javascriptMs + nativeMs + gcMs

/** Checks that a part is about as long as the other. @param {number | undefined} ms @param {number} expectedMs @param {string} what */
function assertAbout(ms, expectedMs, what) {
  assert.ok(expectedMs >= PART_MS, `${what}: ${expectedMs} ms are too short for a share`)
  const ratio = Number(ms) / expectedMs
  assert.ok(ratio > 0.5 && ratio < 1.5, `${what}: ${ms} ms of ${expectedMs} ms`)
}

test('a blocked thread is not busy, and the blocked calls are named', {
  skip: NEEDS_BLOCKED_CALLS || NEEDS_INTERRUPT,
}, async () => {
  const { memoryMs, childrenMs, result, parent } = await recordOnce()
  const { functions } = result
  const [thread] = parent.threads
  assertAbout(thread.blockedMs, memoryMs + childrenMs, 'blocked')
  const blockedMs = (/** @type {string} */ wanted) =>
    functions.filter(({ name }) => name === wanted).reduce((sum, each) => sum + each.blockedMs, 0)
  assertAbout(blockedMs('waitForMemory'), memoryMs, 'waitForMemory')
  // V8 names the native function or its caller.
  assertAbout(blockedMs('spawn') + blockedMs('spawnSync'), childrenMs, 'spawnSync')
  // Work beside a blocked call, between the same two readings of the counters, can be mistaken for it.
  const mistakenMs = blockedMs('fibonacci')
  assert.ok(mistakenMs < 0.2 * Number(thread.blockedMs), `${mistakenMs} of ${thread.blockedMs} ms`)
  assert.ok(Number(thread.cpuMs) < 1.5 * workMs(thread), `${thread.cpuMs} of ${workMs(thread)} ms`)
  const waiting = functions.find(({ name }) => name === 'waitForMemory')
  assert.ok(Number(waiting?.totalMs) < memoryMs / 2, `${waiting?.totalMs} ms of work`)
})

test('the states of each thread, and the parts of the wall time, are the whole', async () => {
  const { result } = await recordOnce()
  for (const { threads } of result.processes) {
    for (const thread of threads) {
      const sum = sumOfStates(thread)
      const restMs = Math.abs(sum - thread.durationMs)
      assert.ok(restMs < 0.001 * thread.durationMs, `${thread.name}: ${sum} ms`)
    }
  }
  const { workMs = 0, waitingMs = 0, blockedMs = 0, idleMs = 0 } = result.wall ?? {}
  const wallMs = workMs + waitingMs + blockedMs + idleMs
  assert.ok(Math.abs(wallMs - result.durationMs) < 0.01, `${wallMs} of ${result.durationMs} ms`)
})

test('a thread that only computes is not blocked, however busy the machine is', {
  skip: NEEDS_BLOCKED_CALLS || NEEDS_INTERRUPT,
}, async () => {
  // Twice as many threads as cores.
  const code = `require(${SPIN}).spin(require('node:worker_threads').workerData)`
  const script = `
    const { Worker } = require('node:worker_threads')
    const { availableParallelism, cpus } = require('node:os')
    const threads = 2 * (availableParallelism?.() ?? cpus().length)
    const workerData = Math.max(200, ${PART_MS} / threads)
    for (let i = 0; i < threads; i++) new Worker(${JSON.stringify(code)}, { eval: true, workerData })`
  const { cwd } = await run(['-e', script])
  const { totals } = await report(cwd)
  const { waitingMs = 0, blockedMs = 0 } = totals
  const calledMs = workMs(totals) + waitingMs
  assert.ok(workMs(totals) > PART_MS / 2, `${workMs(totals)} of ${PART_MS} ms`)
  // Each thread waits for a core half of the time. A hypervisor that takes a core away looks like a
  // blocked call.
  assert.ok(waitingMs > 0.2 * calledMs, `waiting ${waitingMs} of ${calledMs} ms`)
  assert.ok(blockedMs < 0.15 * calledMs, `blocked ${blockedMs} of ${calledMs} ms`)
})

test('CPU time of native threads and of other programs is told from that of recorded threads', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { nativeMs, parent, child } = await recordOnce()
  assert.notEqual(child.parentPid, parent.pid, 'a shell is in between')
  assertAbout(parent.cpu?.javascriptMs, PART_MS, 'JavaScript')
  assertAbout(parent.cpu?.nativeMs, nativeMs, 'native threads')
  assertAbout(parent.cpu?.othersMs, PART_MS, 'other programs')
})

test('the CPU time of a worker counts for its process, whose main thread waits until a signal', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { parent, child } = await recordOnce()
  assert.equal(child.threads.length, 2)
  assertAbout(child.cpu?.javascriptMs, WORKER_MS, 'JavaScript')
  // Without the worker's time, the parent would have it as that of other programs.
  const others = Number(parent.cpu?.othersMs)
  assert.ok(others < WORKER_MS, `${others} ms of other programs`)
})

test('the time in which a process is stopped is waiting time', {
  skip: NEEDS_BLOCKED_CALLS || NEEDS_INTERRUPT,
}, async () => {
  const STOPPED_MS = 1500
  const program = `
    const { spin } = require(${SPIN})
    spin(${PART_MS / 2})
    process.send('working', () => {
      spin(${PART_MS / 2})
      process.disconnect()
    })`
  const { cwd, code } = await run(['-e', program], {
    during: (child) => {
      message(child).then(() => {
        child.kill('SIGSTOP')
        setTimeout(() => child.kill('SIGCONT'), STOPPED_MS)
      })
    },
  })
  assert.equal(code, 0)
  const { totals, processes } = await report(cwd)
  const wallMs = processes[0].threads[0].durationMs
  const { waitingMs = 0, blockedMs = 0 } = totals
  assert.ok(waitingMs > 0.9 * STOPPED_MS, `waiting ${waitingMs} of ${STOPPED_MS} ms`)
  assert.ok(blockedMs < 0.1 * STOPPED_MS, `blocked ${blockedMs} of ${STOPPED_MS} ms`)
  assert.ok(workMs(totals) < wallMs - 0.9 * STOPPED_MS, `${workMs(totals)} of ${wallMs} ms`)
})
