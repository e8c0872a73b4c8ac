'use strict'

// The chain: what the end of a run waited for, on recordings of processes with known times.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */
/**
 * A process: its pids from its own to those above, its name, its start and end in milliseconds, and the
 * times in which it works. It is idle for the rest.
 * @typedef {[pids: number[], name: string, from: number, to: number, work: [number, number][], cwd?: string]} Process
 */

/** Returns the parts of the chain: label, milliseconds, idle ones of these, processes. @param {Process[]} processes */
async function chainOf(processes) {
  const folder = temporaryDirectory()
  for (const [[pid, ...ancestors], label, from, to, work, cwd = '/repo'] of processes) {
    /** @type {Span[]} */
    const spans = []
    let at = from
    for (const [workFrom, workTo] of [...work, [to, to]]) {
      if (workFrom > at) spans.push(['(idle)', workFrom - at])
      if (workTo > workFrom) spans.push([`${label} ${label}.js:1`, workTo - workFrom])
      at = workTo
    }
    const ids = { pid, ppid: ancestors[0] ?? 1, ancestors: [...ancestors, 1] }
    const times = { start: 1e9 + 1000 * from, processStartMs: 10 * pid, flushMs: 50 }
    const file = path.join(folder, `CPU.${pid}.0.trace.json`)
    writeTrace(file, { ...ids, ...times, label, cwd, spans })
  }
  const { chain, durationMs } = await report(folder)
  const sum = chain.reduce((sum, { ms }) => sum + ms, 0)
  assert.ok(Math.abs(sum - durationMs) < 0.001, `${sum} of ${durationMs} ms`)
  return chain.map(({ label = 'idle', ms, idleMs, processes }) => [label, ms, idleMs, processes])
}

test('processes that wait for one another are a chain, with the folder of a package', async () => {
  const chain = await chainOf([
    [[7], 'npm', 0, 1000, [[0, 100]]],
    [[8, 7], 'nx', 100, 1000, [[100, 250]]],
    // A shell, pid 20, is not recorded.
    [[9, 20, 8, 7], 'eslint', 250, 1000, [[250, 880]], '/repo/packages/app'],
  ])
  assert.deepEqual(chain, [
    ['npm', 100, 0, 1],
    ['nx', 150, 0, 1],
    ['eslint · packages/app', 630, 0, 1],
    ['idle', 120, 120, 0],
  ])
})

test('of children in parallel the last to end counts, and before it those that ended by its start', async () => {
  const parent = /** @type {Process} */ ([
    [7],
    'nx',
    0,
    1000,
    [
      [0, 100],
      [900, 1000],
    ],
  ])
  const parallel = await chainOf([
    parent,
    [[8, 7], 'a', 100, 500, [[100, 500]]],
    [[9, 7], 'b', 100, 900, [[100, 900]]],
  ])
  assert.deepEqual(parallel, [
    ['nx', 100, 0, 1],
    ['b', 800, 0, 1],
    ['nx', 100, 0, 1],
  ])
  const oneByOne = await chainOf([
    parent,
    [[8, 7], 'a', 100, 400, [[100, 400]]],
    [[9, 7], 'b', 400, 900, [[400, 900]]],
    [[10, 7], 'c', 150, 450, [[150, 200]]],
  ])
  assert.deepEqual(oneByOne, [
    ['nx', 100, 0, 1],
    ['a', 300, 0, 1],
    ['b', 500, 0, 1],
    ['nx', 100, 0, 1],
  ])
})

test('a process that works while a child runs does not wait for the child', async () => {
  const chain = await chainOf([
    [[7], 'build', 0, 1000, [[0, 1000]]],
    [[8, 7], 'helper', 100, 900, [[100, 900]]],
  ])
  assert.deepEqual(chain, [['build', 1000, 0, 1]])
})

test('idle time within a process is told, and a part at the end only if it is notable', async () => {
  const chain = await chainOf([
    [
      [7],
      'a',
      0,
      1000,
      [
        [0, 200],
        [300, 990],
      ],
    ],
  ])
  assert.deepEqual(chain, [['a', 1000, 110, 1]])
})

test('nothing waits for a background process, but for its work after the end of its parent', async () => {
  const parent = /** @type {Process} */ ([[7], 'npm', 0, 500, [[0, 500]]])
  const daemon = /** @type {Process} */ ([[8, 7], 'daemon', 100, 1000, [[100, 300]]])
  assert.deepEqual(await chainOf([parent, daemon]), [
    ['npm', 500, 0, 1],
    ['idle', 500, 500, 0],
  ])
  const worker = /** @type {Process} */ ([[8, 7], 'server', 100, 1000, [[100, 1000]]])
  assert.deepEqual(await chainOf([parent, worker]), [
    ['npm', 100, 0, 1],
    ['server', 900, 0, 1],
  ])
})

test('parts of one name are joined where there are many, and the shortest of many names', async () => {
  /** Children one after the other, of 100 ms and more. @param {(index: number) => string} name */
  const children = (name) =>
    Array.from({ length: 12 }, (_, index) => {
      const from = 100 + 200 * index
      const to = from + 100 + index
      return /** @type {Process} */ ([[8 + index, 7], name(index), from, to, [[from, to]]])
    })
  const times = /** @type {[number, number][]} */ (
    children(String).map(([, , from, to]) => [from, to])
  )
  const work = /** @type {[number, number][]} */ (
    [0, ...times.map(([, to]) => to)].map((at, index) => [at, times[index]?.[0] ?? 2500])
  )
  const parent = /** @type {Process} */ ([[7], 'lerna', 0, 2500, work])
  const childMs = 1200 + 66
  assert.deepEqual(await chainOf([parent, ...children(() => 'tsc')]), [
    ['lerna', 2500 - childMs, 0, 1],
    ['tsc', childMs, 0, 12],
  ])
  const many = await chainOf([parent, ...children((index) => `task${index}`)])
  assert.equal(many.length, 8)
  assert.deepEqual(many[0], ['lerna', 2500 - childMs, 0, 1])
  // The six longest have a part each.
  const longest = [6, 7, 8, 9, 10, 11].map((index) => [`task${index}`, 100 + index, 0, 1])
  assert.deepEqual(many.slice(1, 7), longest)
  assert.deepEqual(many[7], ['6 others', 600 + 15, 0, 6])
})

test('pids that name each other end the chain', async () => {
  const chain = await chainOf([
    [[7, 8], 'a', 0, 500, [[0, 500]]],
    [[8, 7], 'b', 0, 1000, [[0, 1000]]],
  ])
  assert.ok(chain.length > 0)
})
