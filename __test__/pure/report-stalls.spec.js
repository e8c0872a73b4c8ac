'use strict'

// The longest times without a turn of the event loop, also of a program that was killed in one.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** The stack on which Node's server calls the program. */
const ANSWER = [
  'parserOnHeadersComplete node:_http_common:71:33',
  'parserOnIncoming node:_http_server:1026:26',
  'emit node:events:471:44',
  'answer server.js:11:34',
].join(' > ')

/** Writes the trace of a server that answers two requests, and is killed in the third. */
function writeServer() {
  const cwd = temporaryDirectory()
  const file = writeTrace(path.join(cwd, 'server.trace.json'), {
    cwd,
    label: 'server.js',
    isKilled: true,
    spans: [
      ['main server.js:1', 40],
      ['(idle)', 40],
      [`${ANSWER} > spin server.js:2:14`, 20],
      ['(idle)', 80],
      [`${ANSWER} > wait server.js:8:14`, 300, { cpuMs: 0 }],
      ['(idle)', 120],
      [`${ANSWER} > checkAll server.js:5:18 > spin server.js:2:14`, 900],
      ['(garbage collector)', 200],
      [`${ANSWER} > checkAll server.js:5:18 > check server.js:3:9`, 500],
    ],
  })
  return { cwd, file }
}

/** @param {import('../../index.js').ReportStall} stall */
const stackOf = ({ stack }) => stack.map(({ name, totalMs }) => `${name} ${totalMs}`)

test('the stall that killed a program is the longest, with its culprit', async () => {
  const { cwd, file } = writeServer()
  const { stalls = [] } = await report(file, { stalls: 50 })
  const thread = { pid: 7, process: 'server.js', threadId: 0, thread: 'main', first: false }
  assert.deepEqual(
    stalls.map(({ stack, ...stall }) => stall),
    [
      { ...thread, startMs: 600, durationMs: 1600, gcMs: 200, blockedMs: 0, waitingMs: 0 },
      { ...thread, startMs: 180, durationMs: 300, gcMs: 0, blockedMs: 300, waitingMs: 0 },
    ],
  )
  const [longest, blocked] = stalls
  const ofNode = ['parserOnHeadersComplete', 'parserOnIncoming', 'emit']
  // `check` has less than half of the time.
  assert.deepEqual(stackOf(longest), [
    ...[...ofNode, 'answer', 'checkAll'].map((name) => `${name} 1400`),
    'spin 900',
  ])
  assert.deepEqual(
    stackOf(blocked),
    [...ofNode, 'answer', 'wait'].map((name) => `${name} 300`),
  )
  const place = { file: path.join(cwd, 'server.js'), line: 2, column: 14, package: '(own code)' }
  assert.deepEqual(longest.stack.at(-1), { name: 'spin', ...place, totalMs: 900 })
})

test('stalls are chosen by their length and their number', async () => {
  const { file } = writeServer()
  const all = (await report(file, { stalls: 0 })).stalls ?? []
  assert.deepEqual(
    all.map(({ durationMs, startMs, first }) => [durationMs, startMs, first]),
    [
      [1600, 600, false],
      [300, 180, false],
      [40, 0, true],
      [20, 80, false],
    ],
  )
  assert.deepEqual((await report(file, { stalls: 0, top: 1 })).stalls, all.slice(0, 1))
  assert.equal((await report(file)).stalls, undefined)
  for (const stalls of [-1, '50', Number.NaN]) {
    await assert.rejects(
      report(file, /** @type {any} */ ({ stalls })),
      /^(Type|Range)Error: cpu-prof: /,
    )
  }
})

test('report --stalls names the function of each stall, its caller, and what else took time', async () => {
  const { cwd, file } = writeServer()
  const longest = `
longest times without a turn of the event loop
        at      for
    600 ms   1.60 s  56.3%  spin server.js:2
                     called by checkAll server.js:5, collections 200 ms
    180 ms   300 ms  100.0%  wait server.js:8
                     called by answer server.js:11, blocked 300 ms
`.trimStart()
  const short = `
    0.0 ms    40 ms  100.0%  main server.js:1
                     from the start
     80 ms    20 ms  100.0%  spin server.js:2
                     called by answer server.js:11
`.slice(1)
  const [text, more, none, json, swapped] = await Promise.all([
    cli(['report', file, '--stalls'], { cwd }),
    cli(['report', file, '--stalls', '10'], { cwd }),
    cli(['report', file, '--stalls', '60000'], { cwd }),
    cli(['report', file, '--stalls', '500', '--json'], { cwd }),
    cli(['report', '--stalls', file], { cwd }),
  ])
  for (const { code, stderr } of [text, more, none, json]) assert.deepEqual([code, stderr], [0, ''])
  assert.equal(text.stdout, longest)
  assert.equal(more.stdout, longest + short)
  assert.equal(none.stdout, 'every thread came back to its event loop in less than that\n')
  const { stalls } = JSON.parse(json.stdout)
  assert.equal(stalls.length, 1)
  assert.deepEqual(stalls, (await report(file, { stalls: 500 })).stalls)
  assert.equal(swapped.code, 2)
  assert.match(swapped.stderr, /put the inputs before --stalls/)
})
