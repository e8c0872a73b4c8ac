'use strict'

// Why a recording exists: the condition that was met is in the first line of every output.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { recording, writeTrace } = require('../helpers/written.js')

const START = 1e9
/** @type {import('../helpers/written.js').Span[]} */
const SPANS = [['handler src/server.js:4', 900]]
const STALL = `${messages.stoodStill} 612 ms (stall>500ms).`

/**
 * Returns the mark of a condition.
 * @param {number} ts @param {string} reason @param {string} observed @param {boolean} [isKept]
 */
function mark(ts, reason, observed, isKept) {
  const condition = { reason, observed, ...(isKept && { isKept }) }
  const data = { startTime: ts / 1000, detail: '{}', condition }
  return {
    cat: 'blink.user_timing',
    name: `cpu-prof: ${reason}`,
    ph: 'I',
    s: 't',
    ts,
    args: { data },
  }
}

/** Writes a recording with these events, and returns its file. @param {any[]} events @param {number} [start] */
function recorded(events, start = START) {
  const file = path.join(temporaryDirectory(), 'a.trace.json')
  writeTrace(file, { label: 'server', start, events, spans: SPANS })
  return file
}

test('the condition stands in the first line of every output', async () => {
  const file = recorded([mark(START, 'stall>500ms', '612 ms')])
  const { conditions, sentence } = await report(file)
  assert.deepEqual(conditions, [
    {
      pid: conditions?.[0].pid,
      atMs: 0,
      reason: 'stall>500ms',
      observed: '612 ms',
      kept: false,
      sentence: STALL,
    },
  ])
  const { stdout } = await cli(['report', file])
  const opening = stdout.split('\n\n')[0].replaceAll('\n', ' ')
  assert.equal(opening, `${STALL} ${sentence}`)
  const markdown = (await cli(['report', file, '--markdown'])).stdout
  assert.match(markdown, pattern`^${messages.stoodStill} 612 ms`)
  assert.deepEqual(
    JSON.parse((await cli(['report', file, '--json'])).stdout).conditions,
    conditions,
  )
  assert.deepEqual(JSON.parse(await pageData([file], {})).conditions, conditions)
})

test('a merged trace keeps the conditions of all recordings', async () => {
  const files = [
    recorded([mark(START, 'stall>500ms', '612 ms')]),
    recorded([mark(START + 1_300_000, 'cpu>90%/10s', '97%', true)], START + 1e6),
  ]
  const output = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge(files, output)
  const sentences = (await report(output)).conditions?.map(({ atMs, sentence }) => [atMs, sentence])
  assert.deepEqual(sentences, [
    [0, STALL],
    [1300, 'Kept because the process had used 97% of a core (cpu>90%/10s).'],
  ])
  const { stdout } = await cli(['report', output])
  assert.match(stdout.replaceAll('\n', ' '), /\(stall>500ms\)\. 1 more condition was met\. /)
})

test('a .cpuprofile tells why it was recorded, and a conversion keeps that', async () => {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  const factsOf = (/** @type {string} */ file) =>
    JSON.parse(fs.readFileSync(file, 'utf8'))['cpu-prof'].start
  /** Writes a trace with a reason in its metadata. @param {object} start @param {any[]} events */
  const trace = (start, events) => {
    const text = recording({ start: START, spans: SPANS, events })
    const file = at('a.trace.json')
    fs.writeFileSync(file, text.replace('"threadId":0', `$&,"start":${JSON.stringify(start)}`))
    return file
  }
  const stall = { reason: 'stall>500ms', observed: '612 ms' }
  await convert(trace(stall, [mark(START, 'stall>500ms', '612 ms')]), at('a.cpuprofile'))
  assert.deepEqual(factsOf(at('a.cpuprofile')), stall)
  // A merged trace has the mark alone.
  await merge(at('a.trace.json'), at('merged.trace.json'))
  await convert(at('merged.trace.json'), at('merged.cpuprofile'))
  assert.deepEqual(factsOf(at('merged.cpuprofile')), stall)
  await convert(at('a.cpuprofile'), at('again.trace.json'))
  for (const name of ['a.cpuprofile', 'merged.cpuprofile', 'again.trace.json']) {
    const { conditions = [] } = await report(at(name))
    assert.deepEqual(
      conditions.map(({ atMs, sentence }) => [atMs, sentence]),
      [[0, STALL]],
      name,
    )
  }

  const by = { by: 'cpu-prof record (pid 71)' }
  await convert(trace(by, []), at('b.cpuprofile'))
  await convert(at('b.cpuprofile'), at('c.cpuprofile'))
  assert.deepEqual([factsOf(at('b.cpuprofile')), factsOf(at('c.cpuprofile'))], [by, by])
  assert.equal((await report(at('b.cpuprofile'))).conditions, undefined)
})

test('marks that no recorder of ours writes change nothing', async () => {
  const without = await report(recorded([]))
  assert.equal(without.conditions, undefined)
  const hostile = [
    mark(START, 'x'.repeat(65), '1 ms'),
    mark(START, 'stall>500ms', 'x'.repeat(65)),
    { ...mark(START, 'stall>500ms', '1 ms'), args: { data: { condition: 'stall' } } },
    { ...mark(START, 'stall>500ms', '1 ms'), args: { data: { condition: { reason: 7 } } } },
    { ...mark(START, 'stall>500ms', '1 ms'), name: 'stall>500ms' },
  ]
  const { conditions, ...others } = await report(recorded(hostile))
  assert.equal(conditions, undefined)
  assert.equal(others.sentence, without.sentence)
})

test('control characters in a condition do not reach the terminal', async () => {
  const file = recorded([mark(START, 'stall>\u001b[31m', '\u202e1 ms\n')])
  const { stdout } = await cli(['report', file])
  assert.match(stdout, /^Recorded because/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be printed
  assert.doesNotMatch(stdout, /[\u001b\u202e]/)
})
