'use strict'

// The states of real threads: waiting for a core, blocked in a task, idle without a task.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../..')
const { run, temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { NEEDS_BLOCKED_CALLS, NEEDS_INTERRUPT } = require('../helpers/source.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const WORK_MS = 1000
const WAIT_MS = 1500
const STOP_MS = 2000

/** The reason to skip a spec that needs a core for itself. */
const NEEDS_TASKSET =
  spawnSync('taskset', ['--version']).error !== undefined && 'taskset is not installed'

/** Returns the number of a core that this process can use. */
function anyCore() {
  const status = fs.readFileSync('/proc/self/status', 'utf8')
  return String(/^Cpus_allowed_list:\s*(\d+)/m.exec(status)?.[1])
}

/**
 * Returns the times of which a trace tells that its thread waited for a core.
 * @param {any} trace @returns {{ startUs: number, endUs: number, waitedMs: number, lastsMs: number }[]}
 */
function waits({ events }) {
  const own = events.filter((/** @type {any} */ { cat }) => cat === 'cpu-prof.waiting')
  return own.map((/** @type {any} */ { args }) => {
    const { name, start: startUs, end: endUs } = args.data
    const [, waitedMs, lastsMs] = /^waited (\d+) of (\d+) ms$/.exec(name) ?? assert.fail(name)
    return { startUs, endUs, waitedMs: Number(waitedMs), lastsMs: Number(lastsMs) }
  })
}

test('a thread that shares its core with two others has most of its time as waiting time', {
  skip: NEEDS_BLOCKED_CALLS || NEEDS_INTERRUPT || NEEDS_TASKSET,
}, async () => {
  const program = `
    const { spawn } = require('node:child_process')
    const busy = ['-e', 'process.send("busy", () => { for (;;); })']
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
    const others = [1, 2].map(() => spawn(process.execPath, busy, { stdio }))
    let ready = 0
    for (const other of others) {
      other.once('message', () => {
        if (++ready < others.length) return
        require(${SPIN}).spin(${WORK_MS})
        for (const each of others) each.kill('SIGKILL')
      })
    }`
  const under = ['taskset', '-c', anyCore()]
  const { cwd, stderr, traces } = await run(['-e', program], { under })
  assert.equal(stderr, '')
  const { processes, functions, wall } = await report(cwd, { top: Number.POSITIVE_INFINITY })
  const [{ javascriptMs, nativeMs, gcMs, waitingMs = 0, blockedMs = 0 }] = processes[0].threads
  const calledMs = javascriptMs + nativeMs + gcMs + waitingMs + blockedMs
  assert.ok(calledMs > WORK_MS, `${calledMs} ms are too short for a share`)
  assert.ok(waitingMs > 0.5 * calledMs, `waiting ${waitingMs} of ${calledMs} ms`)
  assert.ok(blockedMs < 0.1 * calledMs, `blocked ${blockedMs} of ${calledMs} ms`)
  // Most of that is in the function that worked, and nobody else has it.
  const spinMs = functions.reduce((sum, each) => sum + each.waitingMs, 0)
  assert.ok(spinMs > 0.8 * waitingMs, `${spinMs} of ${waitingMs} ms`)
  assert.ok(Number(wall?.waitingMs) > 0.9 * waitingMs, `${wall?.waitingMs} of ${waitingMs} ms`)
  // DevTools draws it, in the times in which it was a large part.
  const drawn = waits(traces[0])
  const drawnMs = drawn.reduce((sum, wait) => sum + wait.waitedMs, 0)
  assert.ok(drawnMs > 0.6 * waitingMs && drawnMs < 1.1 * waitingMs, `${drawnMs} of ${waitingMs} ms`)
  for (const [index, { startUs }] of drawn.entries()) {
    assert.ok(index === 0 || startUs >= drawn[index - 1].endUs, JSON.stringify(drawn))
  }
})

test('DevTools draws no more waiting time than the system counts, so none of a thread that has a core', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { traces } = await run(['-e', `require(${SPIN}).spin(${WORK_MS})`])
  const [{ events }] = traces
  /** @type {{ us: number, waitUs: number }[]} */
  const counted = events
    .filter((/** @type {any} */ { name }) => /^(thread\.start|thread\.flush)$/.test(name))
    .map((/** @type {any} */ { ts, args }) => ({ us: ts, waitUs: args.data.waitUs }))
  assert.ok(counted.length > 2, JSON.stringify(counted))
  const drawn = waits(traces[0])
  for (const { startUs, endUs, waitedMs, lastsMs } of drawn) {
    assert.ok(waitedMs >= 0.24 * lastsMs && waitedMs >= 50, `${waitedMs} of ${lastsMs} ms`)
    const waitUs = (/** @type {(us: number) => boolean} */ is) =>
      counted.filter(({ us }) => is(us)).map((each) => each.waitUs)
    // The counters are read at slightly different moments.
    const countedMs =
      (waitUs((us) => us >= endUs)[0] - Number(waitUs((us) => us <= startUs).at(-1))) / 1000
    assert.ok(waitedMs <= countedMs + 1, `${waitedMs} of ${countedMs} ms`)
  }
})

test('a stopped process was waiting, however little it ran before the next flush', {
  skip: NEEDS_BLOCKED_CALLS || NEEDS_INTERRUPT,
}, async () => {
  const program = `
    const { spin } = require(${SPIN})
    spin(${WORK_MS / 2})
    process.send('busy', () => { spin(${WORK_MS}); process.disconnect() })`
  const { cwd, stderr, traces } = await run(['-e', program], {
    during: (child) =>
      child.once('message', () => {
        child.kill('SIGSTOP')
        setTimeout(() => child.kill('SIGCONT'), STOP_MS)
      }),
  })
  assert.equal(stderr, '')
  const [{ threads }] = (await report(cwd)).processes
  const { waitingMs = 0, blockedMs = 0 } = threads[0]
  assert.ok(waitingMs > 0.9 * STOP_MS, `waiting ${waitingMs} of ${STOP_MS} ms`)
  // On a busy machine some of the time beside the stop can seem blocked.
  assert.ok(blockedMs < 0.2 * STOP_MS, `blocked ${blockedMs} ms`)
  const longestMs = Math.max(...waits(traces[0]).map((wait) => wait.waitedMs))
  assert.ok(longestMs > 0.9 * STOP_MS, `${longestMs} of ${STOP_MS} ms`)
})

test('a worker that waits for a task in its own file is idle; a task that waits is blocked', {
  skip: NEEDS_BLOCKED_CALLS || NEEDS_INTERRUPT,
}, async () => {
  const folder = temporaryDirectory()
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    fs.writeFileSync(path.join(folder, name), text)
  }
  write('task.js', `exports.task = function task(cell) { Atomics.wait(cell, 0, 0, ${WAIT_MS}) }`)
  write(
    'pool.js',
    `
    const { parentPort, workerData } = require('node:worker_threads')
    const { task } = require('./task.js')
    const cell = new Int32Array(new SharedArrayBuffer(4))
    function nextTask() { Atomics.wait(cell, 0, 0, ${WAIT_MS}) }
    const start = performance.now()
    if (workerData === 'task') task(cell)
    else nextTask()
    parentPort.postMessage(performance.now() - start)`,
  )
  write(
    'main.js',
    `
    const { Worker } = require('node:worker_threads')
    const waited = {}
    for (const workerData of ['task', 'none']) {
      const worker = new Worker(require.resolve('./pool.js'), { workerData })
      worker.on('message', (ms) => {
        waited[worker.threadId] = ms
        if (Object.keys(waited).length === 2) console.log(JSON.stringify(waited))
      })
    }`,
  )
  const { stdout, stderr } = await run([path.join(folder, 'main.js')], { cwd: folder })
  assert.equal(stderr, '')
  const waited = JSON.parse(stdout)
  const [{ threads }] = (await report(folder)).processes
  const [withTask, without] = threads.filter(({ threadId }) => threadId !== 0)
  // On a loaded machine, a part of the wait is for a core.
  const taskMs = Number(withTask.blockedMs) / waited[withTask.threadId]
  assert.ok(taskMs > 0.5 && taskMs < 1.2, `blocked for ${taskMs} of the time`)
  assert.ok(withTask.idleMs < 0.2 * WAIT_MS, `idle ${withTask.idleMs} ms`)
  const idle = without.idleMs / waited[without.threadId]
  assert.ok(idle > 0.5 && idle < 1.2, `idle for ${idle} of the time`)
  assert.ok(Number(without.blockedMs) < 0.2 * WAIT_MS, `blocked ${without.blockedMs} ms`)
})
