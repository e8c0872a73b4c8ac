'use strict'

// Each format into each other and back: functions, states and the run keep their times. Where a format cannot
// hold something, the spec says what and why.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { pprofBytes } = require('../helpers/pprof.js')
const { seededRandom } = require('../helpers/random.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

/** Formats that are written and read. */
const READ = ['.json', '.cpuprofile', '.pb.gz']
/** How many files of each kind are made. */
const ROUNDS = 8

/** @param {number} ms Adds of binary fractions differ in the last digits. */
const round = (ms) => Math.round(1000 * ms) / 1000

/** Adds a time to a sum. @param {Record<string, number>} sums @param {string} name @param {number} ms */
function add(sums, name, ms) {
  if (ms > 0) sums[name] = round((sums[name] ?? 0) + ms)
}

/** @typedef {{ functions: Record<string, number>, states: Record<string, number>, lengthMs: number }} Sums */

/** Returns the sums of files. @param {string | string[]} inputs @returns {Promise<Sums>} */
async function sumsOf(inputs) {
  const { functions, totals, durationMs } = await report(inputs, { top: Infinity })
  /** @type {Record<string, number>} */
  const byName = {}
  for (const { name, selfMs, blockedMs, waitingMs } of functions) {
    add(byName, name, selfMs + blockedMs + waitingMs)
  }
  const { blockedMs = 0, waitingMs = 0, idleMs, gcMs, javascriptMs, nativeMs } = totals
  const states = { blockedMs, waitingMs, idleMs, gcMs, javascriptMs, nativeMs }
  return { functions: byName, states, lengthMs: durationMs }
}

/**
 * Neither a `.cpuprofile` nor a trace that is made of another format has the system's counts, by which blocked
 * and waiting time is told: it is work there. Here only functions of JavaScript are blocked.
 * @param {Sums} sums
 */
function withoutCounts({ states, ...rest }) {
  const { blockedMs, waitingMs, javascriptMs, ...others } = states
  const all = round(javascriptMs + blockedMs + waitingMs)
  return { ...rest, states: { ...others, javascriptMs: all } }
}

/**
 * Compares what a conversion holds, with or without the system's counts.
 * @param {Sums} sums @param {Sums} expected @param {boolean} isCounted @param {string} message
 */
function assertSums(sums, expected, isCounted, message) {
  const [actual, wanted] = isCounted ? [sums, expected] : [sums, expected].map(withoutCounts)
  assert.deepEqual(actual, wanted, message)
}

/** @param {string | string[]} inputs @param {string} ending */
async function converted(inputs, ending) {
  const { files } = await convert(inputs, path.join(temporaryDirectory(), `x${ending}`))
  return files
}

/** Returns the sums of a file of speedscope, by the names on top. @param {string} file */
function speedscopeSums(file) {
  const { shared, profiles } = JSON.parse(fs.readFileSync(file, 'utf8'))
  /** @type {Record<string, number>} */
  const byName = {}
  let nobodysMs = 0
  let longestMs = 0
  for (const { samples, weights, startValue, endValue } of profiles) {
    longestMs = Math.max(longestMs, (endValue - startValue) / 1000)
    samples.forEach((/** @type {number[]} */ stack, /** @type {number} */ index) => {
      const top = stack.at(-1)
      if (top === undefined) nobodysMs += weights[index] / 1000
      else add(byName, shared.frames[top].name, weights[index] / 1000)
    })
  }
  return { byName, nobodysMs: round(nobodysMs), longestMs }
}

/** Returns the sums of collapsed stacks, by the names on top. @param {string} file */
function collapsedSums(file) {
  /** @type {Record<string, number>} */
  const byName = {}
  for (const line of fs.readFileSync(file, 'utf8').trim().split('\n')) {
    const [, stack, us] = /^(.*) (\d+)$/.exec(line) ?? ['', '', '0']
    add(byName, (stack.split(';').at(-1) ?? '').replace(/ \(.*\)$/, ''), Number(us) / 1000)
  }
  return byName
}

/** States of V8 that are on top of a stack. */
const STATES = ['(program)', '(garbage collector)']

/** Returns the times of functions and of what V8 does without one. @param {Sums} sums @param {Record<string, number>} byName */
function assertTop({ functions, states }, byName, /** @type {string} */ message) {
  const { '(idle)': idleMs = 0, '(garbage collector)': gcMs = 0, ...rest } = byName
  const { '(program)': programMs = 0, ...ofFunctions } = rest
  assert.deepEqual(ofFunctions, functions, message)
  assert.equal(gcMs, states.gcMs, message)
  assert.ok(programMs <= states.nativeMs, message)
  return idleMs
}

/** Converts files into all formats, and from each into all, and compares. @param {string} input */
async function assertKept(input) {
  const expected = await sumsOf(input)
  const isTrace = input.endsWith('.trace.json')
  for (const first of READ) {
    const once = await converted(input, first)
    const sums = await sumsOf(once)
    // A merge copies a recording, and pprof has states as labels.
    const isCounted = first === '.pb.gz' || (first === '.json' && isTrace)
    assertSums(sums, expected, isCounted, `${input} → ${first}`)
    for (const second of READ) {
      const twice = await sumsOf(await converted(once, second))
      const isStillCounted =
        isCounted && (second === '.pb.gz' || (second === '.json' && first === '.json'))
      const message = `${input} → ${first} → ${second}`
      assertSums(twice, expected, isStillCounted, message)
    }
    const message = `${input} → ${first} → speedscope, collapsed`
    const [speedscope] = await converted(once, '.speedscope.json')
    const { byName, nobodysMs, longestMs } = speedscopeSums(speedscope)
    assertTop(expected, byName, message)
    // Idle time has an empty stack, as time between recordings has.
    assert.ok(nobodysMs >= expected.states.idleMs && longestMs <= expected.lengthMs, message)
    // Collapsed stacks are sums: they hold idle time, and neither the length nor what was not recorded.
    const [collapsed] = await converted(once, '.collapsed')
    const idleMs = assertTop(expected, collapsedSums(collapsed), message)
    assert.equal(idleMs, expected.states.idleMs, message)
  }
}

const FUNCTIONS = ['a /r/a.js:1', 'b /r/a.js:9', 'c /r/node_modules/p/c.js:3', 'd /r/d.ts:2']

test('pprof of other tools keeps its times in each format, whatever its length', async (t) => {
  const random = seededRandom(t)
  const below = (/** @type {number} */ most) => Math.floor(random() * most)
  for (let round = 0; round < ROUNDS; round++) {
    const samples = Array.from({ length: 1 + below(6) }, () => ({
      stack: Array.from({ length: 1 + below(3) }, () => FUNCTIONS[below(FUNCTIONS.length)]),
      values: [1, 1000 * (1 + below(900_000))],
      labels: { route: `/${below(2)}` },
    }))
    const allMs = samples.reduce((sum, { values }) => sum + values[1] / 1e6, 0)
    // No length, a shorter one (of several threads), and one with time that no sample has.
    const durationMs = [0, allMs / 2, allMs + 3000, 60_000][round % 4]
    const timeMs = round % 2 === 0 ? 0 : 1_760_000_000_000
    const bytes = pprofBytes(samples, { timeMs, durationMs: Math.floor(durationMs) })
    const file = path.join(temporaryDirectory(), 'go.pb.gz')
    fs.writeFileSync(file, zlib.gzipSync(bytes))
    const { functions, states, lengthMs } = await sumsOf(file)
    const sum = Object.values(functions).reduce((sum, ms) => sum + ms, 0)
    assert.ok(Math.abs(sum - allMs) < 0.01, `${sum} of ${allMs}`)
    const restMs = Math.max(0, Math.floor(durationMs) - allMs)
    assert.ok(Math.abs(states.idleMs - restMs) < 0.01, `${states.idleMs} of ${restMs}`)
    assert.ok(Math.abs(lengthMs - allMs - restMs) < 0.01)
    await assertKept(file)
  }
})

/** Milliseconds between two readings of the system's counts, which are of whole spans here. */
const FLUSH_MS = 24

/** Draws spans. @param {(most: number) => number} below @returns {Span[]} */
function drawnSpans(below) {
  return Array.from({ length: 3 + below(8) }, () => {
    const ms = FLUSH_MS * (1 + below(2))
    const stack = FUNCTIONS.slice(below(2), 2 + below(3)).join(' > ')
    switch (below(5)) {
      case 0:
        return ['(idle)', ms]
      case 1:
        return [STATES[below(2)], ms]
      case 2:
        return [stack, FLUSH_MS, { cpuMs: 4 }]
      default:
        return [stack, ms]
    }
  })
}

test('recordings keep their times in each format', async (t) => {
  const random = seededRandom(t)
  const below = (/** @type {number} */ most) => Math.floor(random() * most)
  for (let round = 0; round < ROUNDS; round++) {
    const file = path.join(temporaryDirectory(), 'a.trace.json')
    writeTrace(file, { spans: drawnSpans(below), cwd: '/r', flushMs: FLUSH_MS })
    await assertKept(file)
    const profile = path.join(temporaryDirectory(), 'a.cpuprofile')
    writeProfile(profile, drawnSpans(below), { root: '/r' })
    await assertKept(profile)
  }
})

test('the length of a run with a gap and a late worker is kept in each format', async () => {
  const dir = temporaryDirectory()
  const common = { cwd: '/r', flushMs: FLUSH_MS }
  /** @param {string} name @param {import('../helpers/written.js').Recorded} recorded */
  const write = (name, recorded) => writeTrace(path.join(dir, name), { ...common, ...recorded })
  write('a.trace.json', { spans: [['a /r/a.js:1', 20]] })
  write('b.trace.json', { start: 1e9 + 500_000, spans: [['b /r/a.js:9', 30]] })
  write('c.trace.json', { tid: 1, start: 1e9 + 900_000, spans: [['c /r/c.js:3', 100]] })
  const expected = await sumsOf(dir)
  assert.equal(expected.lengthMs, 1000)
  for (const first of READ) {
    const once = await converted(dir, first)
    assertSums(await sumsOf(once), expected, false, first)
    for (const second of READ) {
      const twice = await sumsOf(await converted(once, second))
      assertSums(twice, expected, false, `${first} → ${second}`)
    }
  }
})
