'use strict'

// The program's own events: every phase, and the helpers for the common cases.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const prof = require('../../index.js')
const { run, tracesIn, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { analyze } = require('../helpers/trace.js')

/** One event of each phase, and what the addon makes of it but for ids and times. */
const GOLDEN = path.join(FIXTURES, 'phases.json')
/** @type {any[]} */
const PHASES = JSON.parse(fs.readFileSync(GOLDEN, 'utf8'))

const HEAD = `const prof = require(${JSON.stringify(PACKAGE)})\n`

/** @param {string} code @param {Parameters<typeof run>[1]} [options] */
const runCode = (code, options) => run(['-e', HEAD + code], options)

/** Returns the events of a file, which need not be those of one thread. @param {string} file @returns {any[]} */
const eventsOf = (file) => JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents

/** @param {{ events: any[] }} trace */
const own = ({ events }) => events.filter(({ cat }) => cat === 'user')

test('every phase of the format can be emitted', async () => {
  const { code, stderr, files, pid } = await runCode(
    `for (const event of ${JSON.stringify(PHASES.map(({ emit }) => emit))}) prof.emit(event)`,
    { read: 0 },
  )
  assert.equal(code, 0, stderr)
  const found = eventsOf(files[0]).filter(({ cat }) => cat?.startsWith('user'))
  assert.equal(found.length, PHASES.length)
  for (const [index, { emit, written }] of PHASES.entries()) {
    const { pid: id, tid, ts, ...rest } = found[index]
    assert.deepEqual([id, tid], [emit.pid ?? pid, emit.tid ?? 0])
    assert.equal(typeof ts, 'number')
    assert.deepEqual(rest, written)
  }
  const data = await analyze(eventsOf(files[0]))
  assert.ok(data.Renderer.processes.get(pid).threads.get(0).entries.length > 0)
  const { problems } = (await prof.check(files[0])).files[0]
  assert.deepEqual(
    problems.filter(({ severity }) => severity !== 'warning'),
    [],
  )
  const letters = new Set(PHASES.map(({ emit }) => emit.ph))
  for (const letter of 'BEXiICbnesTtfSpFNODMVvRc()P=') assert.ok(letters.has(letter), letter)
})

test('an event against the rules throws, and names the field', async () => {
  const wrong = [
    [{ name: 'a' }, 'ph:'],
    [{ ph: 'X', dur: 1 }, 'name:'],
    [{ name: 'a', ph: 'X' }, 'dur:'],
    [{ name: 'a', ph: 'b' }, 'id:'],
    [{ name: 'a', ph: 'I', s: 'q' }, 's:'],
    [{ name: 'a', ph: 'C', args: { x: 'y' } }, 'args:'],
    [{ name: 'a', ph: 'I', ts: 'now' }, 'ts:'],
    [{ name: 'ProfileChunk', ph: 'P' }, 'name:'],
    [7, 'emit() takes an event'],
  ]
  const { code, stdout, traces } = await runCode(
    `for (const event of ${JSON.stringify(wrong.map(([event]) => event))}) {
      try { prof.emit(event); console.log('no error') } catch (error) { console.log(error.name + ' ' + error.message) }
    }`,
  )
  assert.equal(code, 0)
  for (const [index, line] of stdout.trim().split('\n').entries()) {
    assert.ok(
      line.startsWith('TypeError cpu-prof: ') && line.includes(String(wrong[index][1])),
      line,
    )
  }
  assert.deepEqual(own(traces[0]), [])
})

test('half a character is written as U+FFFD', async () => {
  const half = 'a\ud800b'
  const { code, stderr, stdout, files } = await runCode(
    `
    const half = JSON.parse(${JSON.stringify(JSON.stringify(half))})
    prof.emit({ name: half, ph: 'I', args: { [half]: half, plain: '\\\\ud800 \u{1f600}' } })
    prof.counter(half, { [half]: 1 })
    const properties = { [half]: half }
    prof.instant(half, { track: half, properties })
    prof.span(half, () => {}, { track: half, properties })
    performance.mark(half, { detail: { [half]: half } })
    console.timeStamp(half)
    console.log(half.isWellFormed?.())`,
    { read: 0 },
  )
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^(false|undefined)\n$/)
  const named = eventsOf(files[0]).filter(
    ({ name, args }) => name === 'a\ufffdb' || args?.data?.message === 'a\ufffdb',
  )
  assert.deepEqual(named.map(({ ph }) => ph).sort(), ['C', 'I', 'I', 'I', 'I', 'b', 'e'])
  const [event] = named
  assert.deepEqual(event.args, { 'a\ufffdb': 'a\ufffdb', plain: '\\ud800 \u{1f600}' })
  const details = named.flatMap(({ args }) => args.detail ?? args.data?.detail ?? [])
  assert.equal(details.length, 3)
  for (const detail of details) assert.doesNotMatch(detail, /ud800/)
  const { problems } = (await prof.check(files[0])).files[0]
  assert.deepEqual(problems, [])
})

test('what cannot be written is named', async () => {
  const { stdout } = await runCode(`
    const circle = { name: 'a', ph: 'I' }
    circle.args = circle
    for (const work of [
      () => prof.emit(circle),
      () => prof.emit({ name: 'a', ph: 'I', args: { big: 1n } }),
      () => prof.emit({ toJSON() {} }),
      () => prof.instant('a', { tooltip: 1n }),
      () => prof.instant('a', null),
      () => prof.span('a', () => {}, 'track'),
    ]) {
      try { work(); console.log('no error') } catch (error) { console.log(String(error)) }
    }`)
  assert.deepEqual(stdout.trim().split('\n'), [
    'TypeError: cpu-prof: the event of emit() cannot be written as JSON: Converting circular structure to JSON',
    'TypeError: cpu-prof: the event of emit() cannot be written as JSON: Do not know how to serialize a BigInt',
    'TypeError: cpu-prof: emit(): an event has to be an object',
    'TypeError: cpu-prof: an option cannot be written as JSON: Do not know how to serialize a BigInt',
    'TypeError: cpu-prof: options must be an object, not null',
    'TypeError: cpu-prof: options must be an object, not a string',
  ])
})

test('nothing happens while nothing records', () => {
  assert.equal(prof.isRecording(), false)
  prof.emit(/** @type {any} */ ({ wrong: true }))
  prof.instant('a')
  prof.counter('a', { b: 1 })
  assert.equal(
    prof.span('a', () => 7),
    7,
  )
})

test('a span lasts as long as its function or promise, and passes on what these give', async () => {
  const { code, stdout, traces } = await runCode(
    `const wait = () => new Promise((resolve) => setTimeout(resolve, 5))
    async function main() {
      console.log(prof.span('sync', () => { prof.instant('in sync'); return 'value' }))
      prof.instant('after sync')
      try { prof.span('throws', () => { throw new Error('thrown') }) } catch (error) { console.log(error.message) }
      prof.instant('after throws')
      const later = prof.span('async', async () => {
        prof.instant('in async')
        await wait()
        prof.instant('still in async')
        return 'later'
      })
      prof.instant('before async ends')
      console.log(await later)
      prof.instant('after async')
      await prof.span('rejects', () => Promise.reject(new Error('rejected'))).catch((error) => console.log(error.message))
      prof.span('outer', () => { prof.span('inner', () => prof.instant('in both')); prof.instant('in outer') })
      prof.instant('half', { color: 'error', tooltip: 'tip' })
      prof.counter('queue', { waiting: 3 })
      prof.span('in a track', () => {}, { track: 'jobs', group: 'mine', properties: { id: '7' } })
    }
    main()`,
  )
  assert.equal(code, 0)
  assert.deepEqual(stdout.trim().split('\n'), ['value', 'thrown', 'later', 'rejected'])
  /** @type {any[]} */
  const events = traces[0].events.filter(
    (/** @type {any} */ { cat }) => cat === 'blink.user_timing',
  )
  /** Starts and ends of spans by name. @type {Record<string, [number, number]>} */
  const spans = {}
  for (const { name, ph, ts, id2 } of events) {
    if (ph !== 'b') continue
    const end = events.find((other) => other.ph === 'e' && other.id2.local === id2.local)
    assert.equal(end.name, name)
    spans[name] = [ts, end.ts]
  }
  assert.deepEqual(Object.keys(spans), [
    'sync',
    'throws',
    'async',
    'rejects',
    'outer',
    'inner',
    'in a track',
  ])
  const at = (/** @type {string} */ name) => events.find((event) => event.name === name).ts
  for (const times of [
    [spans.sync[0], at('in sync'), spans.sync[1], at('after sync')],
    [at('after sync'), ...spans.throws, at('after throws')],
    [spans.async[0], at('in async'), at('before async ends'), at('still in async')],
    [at('still in async'), spans.async[1], at('after async')],
    [at('after async'), ...spans.rejects, spans.outer[0]],
    [spans.outer[0], spans.inner[0], at('in both'), spans.inner[1], at('in outer'), spans.outer[1]],
    [spans.outer[1], at('half'), ...spans['in a track']],
  ]) {
    const sorted = [...times].sort((a, b) => a - b)
    assert.deepEqual(times, sorted, JSON.stringify(spans))
  }
  assert.ok(spans.async[1] > spans.async[0], 'the promise took no time')
  const half = events.find(({ name }) => name === 'half')
  assert.deepEqual(JSON.parse(half.args.data.detail).devtools, {
    dataType: 'marker',
    color: 'error',
    tooltipText: 'tip',
  })
  const [counter] = own(traces[0])
  assert.deepEqual([counter.ph, counter.args], ['C', { waiting: 3 }])
})

test('a promise that is rejected without a handler is still reported by Node', async () => {
  const { code, stderr } = await runCode(
    `prof.span('rejects', () => Promise.reject(new Error('unhandled one')))`,
  )
  assert.equal(code, 1)
  assert.match(stderr, /unhandled one/)
})

test('a killed program keeps the spans that were running', async (t) => {
  if (process.env.SPEC_SOURCE === 'inspector') return t.skip('inspector: no window without a turn')
  const { signal, files } = await runCode(`prof.span('the last', () => { for (;;); })`, {
    env: { CPU_PROF_FLUSH_INTERVAL: '50' },
    read: 0,
    during: async (child, dir) => {
      // The span is in the file although it has not ended.
      for (const end = Date.now() + 20_000; Date.now() < end; ) {
        const text = tracesIn(dir)
          .map((file) => fs.readFileSync(file, 'utf8'))
          .join()
        if (text.includes('"the last"')) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      child.kill('SIGKILL')
    },
  })
  assert.equal(signal, 'SIGKILL')
  const spans = eventsOf(files[0]).filter(({ cat }) => cat === 'blink.user_timing')
  assert.deepEqual(
    spans.map(({ name, ph }) => [name, ph]),
    [['the last', 'b']],
  )
})
