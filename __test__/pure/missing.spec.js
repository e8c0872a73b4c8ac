'use strict'

// The lines about Node processes that left no recording, from written facts about the processes.

const assert = require('node:assert/strict')
const test = require('node:test')
const { waitForDaemons } = require('../../cli/run/after/daemons.js')
const { findMissing, missingText } = require('../../cli/run/after/missing.js')
const { programsBelow } = require('../../cli/run/after/unrecorded.js')
const { messages, pattern } = require('../helpers/messages.js')

/** @typedef {import('../../cli/run/watch/watch.js').Seen} Seen */

/** Returns a process as the watcher knows one. @param {number} pid @param {Partial<Seen['node']>} [facts] @param {Partial<Seen>} [others] @returns {Seen} */
function seen(pid, facts = {}, others = {}) {
  const node = { words: ['node', 'build.js'], namespacePid: pid, nodeOptions: null, ...facts }
  return { pid, startMs: 1, lifeMs: 0, isRunning: false, cpuMs: 0, children: [], ...others, node }
}

/** Returns what is known of a recording. @param {number | null} pid @param {number | null} startMs */
function recording(pid, startMs) {
  return { file: 'x', pid, thread: 0, startMs, run: null, recording: null, isGrowing: false }
}

test('many processes are a few lines, those that lived longest first', () => {
  const same = Array.from({ length: 200 }, (_, i) =>
    seen(1000 + i, { words: ['node', 'build.js', `p${i}`] }, { lifeMs: 5000 + i }),
  )
  const others = Array.from({ length: 20 }, (_, i) =>
    seen(2000 + i, { words: ['node', `${i}.js`], under: 'turbo' }),
  )
  const lines = missingText([...others, ...same], [], '').split('\n')
  assert.equal(lines.length, 9)
  assert.equal(lines[0], messages.notRecorded(220, 220))
  assert.match(lines[1], /^ {2}node build\.js p199 \(pid 1199, 5\.20 s\) and 199 more: its environ/)
  assert.match(lines[2], /, under turbo\): .*; start turbo with --env-mode=loose$/)
  assert.deepEqual(lines.slice(-2), ['  and 15 more', ''])
})

test('what a system does not tell is no cause', () => {
  const words = ['C:\\Program Files\\nodejs\\node.exe']
  const unknown = seen(7, { words, nodeOptions: undefined }, { lifeMs: 2000 })
  const [header, line] = missingText([unknown], [], '').split('\n')
  assert.equal(header, messages.notRecorded(1, 1))
  assert.match(line, pattern`nodejs\\node\.exe \(pid 7, 2\.00 s\): ${messages.noCause}: `)
  assert.doesNotMatch(line, /environment|replaced|stderr/)
  // It can have a preload that is still ahead, or a file that is written at its end.
  assert.equal(missingText([{ ...unknown, isRunning: true }], [], ''), '')
  const profile = { ...recording(8, 1), file: 'x.cpuprofile' }
  assert.equal(missingText([unknown], [profile], ''), '')
  assert.match(missingText([unknown], [{ ...profile, file: 'x.trace.json' }], ''), /1 of 2/)
})

test('a long command is cut', () => {
  const words = ['/usr/bin/node', '/a/b/c/d/e.js', '/home/x/y', 'z'.repeat(100)]
  const [, line] = missingText([seen(1, { words })], [], '/home').split('\n')
  assert.match(line, /^ {2}node …\/c\/d\/e\.js x\/y z{30,}… \(pid 1, /)
})

test('a recorded process is known by its id and its start', () => {
  const recorded = seen(4242, {}, { startMs: 522975430 })
  const main = recording(4242, 522975430)
  assert.equal(missingText([recorded], [main], ''), '')
  assert.equal(missingText([recorded], [recording(4242, null)], ''), '')
  // Where the start is not exact.
  const later = seen(4242, {}, { startMs: 522975446 })
  assert.equal(missingText([later], [main], '', 16), '')
  assert.match(missingText([later], [main], '', 15), pattern`^${messages.notRecorded(1, 2)}\n`)
  const reused = seen(4242, {}, { startMs: 522975440 })
  assert.match(
    missingText([recorded, reused], [main], ''),
    pattern`^${messages.notRecorded(1, 2)}\n`,
  )
  // A recording that does not tell its process could be the one of any.
  assert.equal(missingText([reused], [main, recording(null, null)], ''), '')
})

test('a Node that runs no program is not missing, nor one whose preload may be ahead', () => {
  for (const words of [
    ['node', '--version'],
    ['node', '--run', 'build'],
    ['node', '-r', './setup.js', '--watch', 'x.js'],
    ['node', '--watch-path=src', 'x.js'],
    ['node', '--no-warnings', '--v8-options'],
  ]) {
    assert.equal(missingText([seen(1, { words })], [], ''), '', words.join(' '))
  }
  const words = ['node', 'x.js', '--version']
  assert.notEqual(missingText([seen(1, { words })], [], ''), '')
  assert.equal(missingText([seen(1, { run: 'this' }, { isRunning: true })], [], ''), '')
  assert.notEqual(missingText([seen(1, {}, { isRunning: true })], [], ''), '')
})

test('the cause is that of the environment, or else the preload', () => {
  for (const [facts, expected] of /** @type {[object, RegExp][]} */ ([
    [{}, pattern`${messages.noNodeOptions}$`],
    [{ under: 'turbo' }, /start turbo with --env-mode=loose$/],
    [{ nodeOptions: '--no-warnings' }, pattern`${messages.otherNodeOptions}; `],
    [{ nodeOptions: '--require /x', run: 'this' }, /the preload failed/],
  ])) {
    const [, line] = missingText([seen(1, facts)], [], '').split('\n')
    assert.match(line, expected)
  }
})

test('programs without a recording belong to the nearest recorded process above', () => {
  const program = (/** @type {number} */ cpuMs, /** @type {any[]} */ ...children) =>
    /** @type {any} */ ({ pid: 99, startMs: 1, lifeMs: 0, isRunning: false, cpuMs, children })
  const node = (/** @type {number} */ pid, /** @type {Partial<Seen>} */ facts) =>
    seen(pid, {}, facts)
  const parts = [node(4, { cpuMs: 70 }), node(5, { cpuMs: 80, isRunning: true })]
  const task = node(3, { children: parts })
  const bare = node(2, { cpuMs: 400, children: [task, program(60)] })
  const nx = node(1, { children: [program(10, bare)] })
  const nodes = [nx, bare, task, ...parts, node(6, { cpuMs: 1000 })]
  const ofNx = { ...recording(1, 1), file: 'nx.trace.json' }
  // Two segments of the main thread, and a worker.
  const ofTask = ['1', '2'].map((at) => ({ ...recording(3, 1), file: `task.${at}.trace.json` }))
  const worker = { ...recording(3, 1), thread: 1, file: 'worker.trace.json' }
  const recordings = [ofNx, ...ofTask, worker]
  assert.deepEqual(
    findMissing(nodes, recordings).map(({ pid }) => pid),
    [2, 4, 5, 6],
  )
  assert.deepEqual(
    programsBelow(nodes, recordings).map(([{ file }, sums]) => [file, sums]),
    [
      ['nx.trace.json', { nodes: 1, nodesMs: 400, othersMs: 70 }],
      // The time of a process that runs on is nobody's yet.
      ['task.2.trace.json', { nodes: 2, nodesMs: 70, othersMs: 0 }],
    ],
  )
  assert.deepEqual(programsBelow([nx, task], recordings), [])
})

test('a daemon that has just started is waited for until it has its recording', async () => {
  const daemon = seen(process.pid, { run: 'this' }, { isRunning: true, lifeMs: 12 })
  const others = [
    seen(process.pid, { run: 'this' }, { isRunning: true, lifeMs: 5000, startMs: 2 }),
    seen(process.pid, {}, { isRunning: true, lifeMs: 12, startMs: 3 }),
    seen(process.pid, { run: 'this' }, { startMs: 4 }),
    seen(process.pid, { run: 'this', words: ['node', '--watch', 'x.js'] }, { isRunning: true }),
  ]
  const main = { ...recording(1, 1), file: 'main.trace.json' }
  const own = { ...recording(process.pid, 1), file: 'daemon.trace.json' }
  let looks = 0
  const list = () => (++looks < 3 ? [main] : [main, own])
  assert.deepEqual(await waitForDaemons([daemon], [main], list), [main, own])
  assert.equal(looks, 3)
  assert.deepEqual(await waitForDaemons(others, [main], list), [main])
  assert.equal(looks, 3)
})

test('a daemon that got no recording in vain is named', async () => {
  const daemon = seen(process.pid, { run: 'this' }, { isRunning: true, lifeMs: 12 })
  const main = { ...recording(1, 1), file: 'main.trace.json' }
  assert.equal(missingText([daemon], [main], ''), '')
  assert.deepEqual(await waitForDaemons([daemon], [main], () => [main]), [main])
  assert.match(missingText([daemon], [main], ''), pattern`^${messages.notRecorded(1, 2)}\n`)
})
