'use strict'

// The report on the machine, from written counters: blocked threads, waits for a core, native threads,
// other programs.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../..')
const { renderMarkdown } = require('../../cli/report/markdown.js')
const { renderText } = require('../../cli/report/text.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { recording, writeTrace } = require('../helpers/written.js')

/** Reports on recordings. @param {import('../helpers/written.js').Recorded[]} threads @param {object} [options] */
async function reportOn(threads, options) {
  const cwd = temporaryDirectory()
  for (const [index, thread] of threads.entries()) {
    writeTrace(path.join(cwd, `${index}.trace.json`), thread)
  }
  return report(cwd, options)
}

/** Returns self, total and blocked time of functions by their names. @param {import('../..').Report} result */
const timesOf = ({ functions }) =>
  Object.fromEntries(
    functions.map(({ name, selfMs, totalMs, blockedMs }) => [name, [selfMs, totalMs, blockedMs]]),
  )

test('a blocked thread is not busy, and the blocked calls are named', async () => {
  const { totals, functions, processes } = await reportOn([
    {
      spans: [
        ['main main.js:1 > work main.js:2', 200],
        ['main main.js:1 > waitForMemory main.js:3', 800, { cpuMs: 0 }],
        ['main main.js:1 > waitForChild main.js:4 > spawnSync', 900, { cpuMs: 0 }],
        ['main main.js:1 > work main.js:2', 100],
        ['(idle)', 300],
      ],
    },
  ])
  const none = { nativeMs: 0, gcMs: 0, waitingMs: 0 }
  assert.deepEqual(totals, { ...none, javascriptMs: 300, idleMs: 300, blockedMs: 1700 })
  assert.deepEqual(timesOf(/** @type {any} */ ({ functions })), {
    main: [0, 300, 0],
    work: [300, 300, 0],
    waitForMemory: [0, 0, 800],
    spawnSync: [0, 0, 900],
  })
  const [thread] = processes[0].threads
  assert.deepEqual([thread.cpuMs, thread.javascriptMs, thread.blockedMs], [300, 300, 1700])
})

test('counters that a system does not have are missing, not 0', async () => {
  const cwd = temporaryDirectory()
  const file = writeTrace(path.join(cwd, 'a.trace.json'), {
    spans: [
      ['work main.js:1', 200],
      ['waitForChild main.js:2 > spawnSync', 800, { cpuMs: 0, waitMs: 10 }],
    ],
  })
  const whole = fs.readFileSync(file, 'utf8')
  const markdown = async () => renderMarkdown(await report(cwd), { top: 10, cwd })
  assert.match(await markdown(), /, blocked 7\d\d ms, idle /)
  // As on macOS.
  const counters = /"(switches|waitUs)":\d+,?/g
  assert.ok((whole.match(counters) ?? []).length > 3)
  fs.writeFileSync(file, whole.replace(counters, '').replaceAll(',}', '}'))
  const { totals, processes } = await report(cwd)
  assert.deepEqual(totals, { javascriptMs: 200, nativeMs: 800, gcMs: 0, idleMs: 0 })
  const [thread] = processes[0].threads
  assert.deepEqual([thread.cpuMs, thread.nativeMs], [200, 800])
  for (const name of ['coreWaitMs', 'waitingMs', 'blockedMs']) assert.ok(!(name in thread), name)
  assert.doesNotMatch(await markdown(), /blocked \d|NaN|undefined/)
})

test('work can be mistaken for a shorter blocked call between the same two readings', async () => {
  const { totals, functions } = await reportOn([
    {
      spans: [
        ['work main.js:1', 300],
        ['wait main.js:2', 200, { cpuMs: 0 }],
      ],
      flushMs: 500,
    },
  ])
  assert.deepEqual([totals.javascriptMs, totals.blockedMs], [300, 200])
  const { work, wait } = timesOf(/** @type {any} */ ({ functions }))
  assert.deepEqual(
    [work, wait],
    [
      [100, 100, 200],
      [200, 200, 0],
    ],
  )
})

test('a thread that waits for a core is not blocked', async () => {
  const spans = /** @type {[string, number, object][]} */ ([
    ['work main.js:1', 1000, { cpuMs: 500, waitMs: 500 }],
  ])
  const { totals, processes } = await reportOn([{ spans }])
  const { javascriptMs, waitingMs, blockedMs } = totals
  assert.deepEqual([javascriptMs, waitingMs, blockedMs], [500, 500, 0])
  const [{ cpuMs, coreWaitMs }] = processes[0].threads
  assert.deepEqual([cpuMs, coreWaitMs], [500, 500])
})

test('a thread whose core was taken away, which does not give it up itself, is not blocked', async () => {
  const file = path.join(temporaryDirectory(), 'a.trace.json')
  const text = recording({ spans: [['work main.js:1', 1000, { cpuMs: 700 }]] })
  fs.writeFileSync(file, text)
  assert.equal((await report(file)).totals.blockedMs, 300)
  fs.writeFileSync(file, text.replaceAll(/"switches":\d+/g, '"switches":2'))
  const { totals, processes } = await report(file)
  assert.deepEqual([totals.javascriptMs, totals.blockedMs], [1000, 0])
  assert.equal(processes[0].threads[0].cpuMs, 700)
})

/** A program whose native threads hash, and which starts a shell (pid 8) that computes. @type {import('../helpers/written.js').Recorded} */
const PARENT = {
  pid: 7,
  ppid: 1,
  ancestors: [1],
  label: 'parent.js',
  spans: [
    ['work parent.js:1', 300],
    ['(idle)', 1500, { nativeMs: 900 }],
    ['(idle)', 200, { childrenMs: 1215 }],
  ],
}
/** The program that the shell starts. @type {import('../helpers/written.js').Recorded} */
const CHILD = {
  pid: 9,
  ppid: 8,
  ancestors: [8, 7, 1],
  label: 'child.js',
  start: 1e9 + 200_000,
  spans: [['work child.js:1', 600, { nativeMs: 50 }]],
}

test('CPU time of native threads and of other programs is told from that of recorded threads', async () => {
  const { processes } = await reportOn([PARENT, CHILD])
  const [parent, child] = processes
  // The system counted 1215 ms for the children: 650 ms of the recorded one, and 15 ms after its recording.
  assert.deepEqual(parent.cpu, { javascriptMs: 300, nativeMs: 900, othersMs: 550 })
  assert.deepEqual(child.cpu, { javascriptMs: 600, nativeMs: 50, othersMs: 0 })
  assert.deepEqual([child.parentPid, parent.pid], [8, 7])
})

test('without the recording of the child, all its time is that of other programs', async () => {
  const { processes } = await reportOn([PARENT])
  assert.equal(processes[0].cpu?.othersMs, 1215)
})

test('what a run has seen of unrecorded Node processes is known to every later report', async () => {
  const dir = temporaryDirectory()
  const event = {
    name: 'programs.unrecorded',
    ph: 'I',
    s: 't',
    ts: 1e9 + 2_000_000,
    cat: 'disabled-by-default-devtools.timeline',
    args: { data: { nodes: 3, nodesUs: 300_000, othersUs: 100_000 } },
  }
  writeTrace(path.join(dir, 'parent.trace.json'), { ...PARENT, events: [event] })
  writeTrace(path.join(dir, 'child.trace.json'), CHILD)
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge([dir], merged)
  for (const input of [dir, merged]) {
    const result = await report(input)
    const [parent, child] = result.processes
    // Three quarters of the 550 ms.
    assert.deepEqual(parent.unrecorded, { processes: 3, cpuMs: 412.5 })
    assert.equal(child.unrecorded, undefined)
    assert.match(
      renderText(result, { columns: 200, lines: 40, colours: false, cwd: dir }),
      pattern`, ${messages.unrecordedNodes} 413 ms, other programs 138 ms`,
    )
    const slice = await report(input, { from: 10, to: 500 })
    assert.deepEqual(slice.processes[0].unrecorded, { processes: 3 })
  }
})

test('a slice has no time of other programs, which is known at the end of a child', async () => {
  const { processes } = await reportOn([PARENT, CHILD], { from: 10, to: 500 })
  assert.equal(processes[0].cpu?.othersMs, undefined)
  // 490 of the 500 ms between the first two readings, in which the thread used 300 ms.
  assert.equal(processes[0].cpu?.javascriptMs, 294)
})

test('the CPU time of a worker counts for its process, whose main thread waits', async () => {
  const waiting = { pid: 9, ppid: 7, ancestors: [7, 1], label: 'waiting.js', start: 1e9 + 50_000 }
  const { processes } = await reportOn([
    {
      pid: 7,
      ancestors: [1],
      label: 'parent.js',
      spans: [
        ['work parent.js:1', 100],
        ['(idle)', 6900],
        ['(idle)', 100, { childrenMs: 5615 }],
      ],
    },
    {
      ...waiting,
      spans: [
        ['work waiting.js:1', 50],
        ['(idle)', 6000, { nativeMs: 5550 }],
      ],
    },
    { ...waiting, tid: 1, spans: [['work worker.js:1', 5500]] },
  ])
  const [parent, child] = processes
  assert.deepEqual(
    child.threads.map(({ cpuMs }) => cpuMs),
    [50, 5500],
  )
  assert.deepEqual(child.cpu, { javascriptMs: 5550, nativeMs: 50, othersMs: 0 })
  assert.deepEqual(parent.cpu, { javascriptMs: 100, nativeMs: 0, othersMs: 0 })
})
