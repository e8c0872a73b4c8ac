'use strict'

// Native threads in reports: their names, and who gave them their work.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages } = require('../helpers/messages.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const START = 1e9

/**
 * Returns an event of the recorder: what native threads used in half a second.
 * @param {number} ms the end of that time @param {[string, number, number][]} threads
 */
const used = (ms, threads) => ({
  name: 'native.threads',
  ph: 'I',
  s: 't',
  ts: START + ms * 1000,
  cat: 'disabled-by-default-devtools.timeline',
  args: { data: { spanUs: 500_000, threads } },
})

const POOL = [
  used(500, [
    ['libuv-worker', 4, 300_000],
    ['v8:ProfEvntProc', 1, 9000],
    ['cpu-prof-push', 1, 500],
  ]),
  used(1000, [
    ['libuv-worker', 2, 100_000],
    ['V8Worker', 3, 20_000],
    ['DelayedTaskSche', 1, 1000],
    ['rayon', 1, 700],
  ]),
]
const HASH = 'login login.js:1 > hash login.js:9 > (anonymous) login.js:10'
const PBKDF2 = `${HASH} > pbkdf2 node:internal/crypto/pbkdf2:40`
const OTHER_TEXT = 'read app.js:3 > (anonymous) app.js:4'

/** The name of an addon's function is not one of a file. @param {Span} span @returns {Span} */
function withAddon([stack, ...rest]) {
  const frames = String(stack).split(' > ')
  return [frames.map((frame) => (frame === '(native addon)' ? { name: frame } : frame)), ...rest]
}

/** Writes a recording of a second. @param {Span[]} spans @param {any[]} [events] */
function write(spans, events = POOL) {
  const ms = spans.reduce((sum, [, ms]) => sum + ms, 0)
  const file = path.join(temporaryDirectory(), 'main.trace.json')
  const idle = /** @type {Span} */ (['(idle)', 1000 - ms, { nativeMs: 430 }])
  return writeTrace(file, {
    label: 'app.js',
    start: START,
    spans: [...spans.map(withAddon), idle],
    events,
  })
}

/** Returns the native threads of a recording. @param {string} input @param {object} [options] */
async function nativeOf(input, options) {
  const { processes } = await report([input], options)
  assert.equal(processes.length, 1)
  return processes[0].native
}

/** Returns who gave work to the threads of a name, as texts. @param {Span[]} spans @param {any[]} [events] */
async function starters(spans, events, name = 'libuv pool') {
  const row = (await nativeOf(write(spans, events)))?.find((each) => each.name === name)
  assert.ok(row)
  return (row.startedBy ?? []).map(
    ({ what, place }) => `${what} ${place === undefined ? '' : `${place.name}:${place.line}`}`,
  )
}

test('threads have names, with their CPU time and their count', async () => {
  const file = write([['work app.js:1', 10]])
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge([file], merged)
  for (const input of [file, merged]) {
    assert.deepEqual(await nativeOf(input), [
      { name: 'libuv pool', threads: 4, cpuMs: 400 },
      { name: "V8's workers", threads: 4, cpuMs: 21 },
      { name: 'profiler', threads: 2, cpuMs: 9.5 },
    ])
  }
  assert.deepEqual(await nativeOf(file, { from: 250, to: 600 }), [
    { name: 'libuv pool', threads: 4, cpuMs: 170 },
  ])
})

test('threads without a name can be those of the pool before Node 22', async () => {
  const events = [used(500, [['', 4, 300_000]])]
  const file = write([['work app.js:1', 10]], events)
  assert.equal((await nativeOf(file))?.[0].name, 'unnamed threads')
  const fs = require('node:fs')
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('v24.0.0', 'v20.1.0'))
  assert.equal((await nativeOf(file))?.[0].name, messages.unnamedThreads)
})

test('threads without a name are those of workers on Node 18, if nothing else was started', async () => {
  const fs = require('node:fs')
  const events = [used(500, [['', 3, 300_000]])]
  const start = /** @type {Span} */ (['main app.js:1 > Worker node:internal/worker:180', 3])
  const nameOn = async (/** @type {string} */ node, /** @type {Span[]} */ ...spans) => {
    const file = write(spans, events)
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('v24.0.0', node))
    return (await nativeOf(file))?.[0].name
  }
  assert.equal(await nameOn('v18.20.0', start), messages.unrecordedWorkers)
  // Who loads the module need not start one.
  const load = /** @type {Span} */ (['main app.js:1 > (anonymous) node:internal/worker:1', 3])
  assert.equal(await nameOn('v18.20.0', load), messages.unnamedThreads)
  assert.equal(await nameOn('v18.20.0', start, [PBKDF2, 2]), messages.unnamedThreads)
  // The recorder knows.
  assert.equal(await nameOn('v20.1.0', start), messages.unnamedThreads)
})

test('a recording without native threads has none', async () => {
  assert.equal(await nativeOf(write([['work app.js:1', 10]], [])), undefined)
})

test('the function that was sampled while it asked for the work is named', async () => {
  assert.deepEqual(await starters([[PBKDF2, 2]]), ['crypto.pbkdf2 hash:9'])
  // Of two callers, the one that was sampled more often is the first.
  const other = 'check login.js:30 > pbkdf2 node:internal/crypto/pbkdf2:40 > PBKDF2Job'
  assert.deepEqual(
    await starters([
      [other, 1],
      [PBKDF2, 2],
    ]),
    ['crypto.pbkdf2 hash:9', 'crypto.pbkdf2 check:30'],
  )
  const zlib = `${OTHER_TEXT} > zlibBuffer node:zlib:100 > processCallback node:zlib:500`
  assert.deepEqual(await starters([[zlib, 2]]), ['zlib read:3'])
  assert.deepEqual(await starters([['processCallback node:zlib:500', 2]]), ['zlib '])
})

test('a module that Node loads when it is first used asks for no work', async () => {
  const load = 'compileForInternalLoader node:internal/bootstrap/realm:380'
  const body = '(anonymous) node:internal/crypto/webcrypto:1'
  const loading = `login login.js:1 > lazyWebCrypto node:crypto:120 > ${load} > ${body}`
  assert.deepEqual(
    await starters([
      [PBKDF2, 2],
      [loading, 5],
      [`${loading} > getOptions node:internal/crypto/webcrypto:60`, 5],
    ]),
    ['crypto.pbkdf2 hash:9'],
  )
  const digest = 'login login.js:1 > digest node:internal/crypto/webcrypto:100'
  assert.deepEqual(await starters([[digest, 2]]), ['crypto.subtle.digest login:1'])
})

test('nobody is named where that is not sure', async () => {
  const zlib = `${OTHER_TEXT} > zlibBuffer node:zlib:100`
  /** @type {Span[][]} */
  const unsure = [
    // Two sources.
    [
      [PBKDF2, 2],
      [zlib, 2],
    ],
    // Work on the thread itself.
    [['read app.js:3 > gzipSync node:zlib:90 > zlibBufferSync node:zlib:100', 9]],
    [['read app.js:3 > createHash node:crypto:90 > Hash node:internal/crypto/hash:60', 9]],
    // Code of the program that the source only calls back.
    [['processCallback node:zlib:500 > done app.js:9', 9]],
    // A short time in the file system does not make so much work.
    [['read app.js:3 > readFile node:fs:400', 9]],
    // An addon can use the pool as well.
    [
      [PBKDF2, 2],
      [
        '(anonymous) node_modules/some-addon/index.js:1 > Module.load node:internal/modules/cjs/loader:1 > dlopen',
        3,
      ],
    ],
    [['work app.js:1', 9]],
  ]
  for (const spans of unsure) assert.deepEqual(await starters(spans), [], JSON.stringify(spans))
  assert.deepEqual(await starters([['read app.js:3 > readFile node:fs:400', 90]]), ['fs read:3'])
})

test('the work of an addon is that of its only caller', async () => {
  const events = [
    used(500, [
      ['libvips worker', 4, 300_000],
      ['libuv-worker', 4, 60_000],
    ]),
  ]
  const sharp = 'toBuffer node_modules/sharp/lib/output.js:1 > (native addon)'
  const loader = 'Module._load node:internal/modules/cjs/loader:1'
  /** @type {Span[]} */
  const resizing = [
    [
      `main app.js:1 > ${loader} > (anonymous) node_modules/sharp/lib/sharp.js:1 > ${loader} > dlopen`,
      2,
    ],
    [
      `main app.js:1 > ${loader} > (anonymous) node_modules/sharp/lib/sharp.js:1 > (native addon)`,
      2,
    ],
    [`resize resize.js:14 > ${sharp}`, 3],
  ]
  assert.deepEqual(await starters(resizing, events, 'libvips'), ['sharp resize:14'])
  assert.deepEqual(await starters(resizing, events), ['sharp resize:14'])
  // Its own loading asks for no work.
  assert.deepEqual(await starters(resizing.slice(0, 2), events, 'libvips'), [])
  const other = 'find app.js:7 > find node_modules/other/index.js:1 > (native addon)'
  assert.deepEqual(await starters([...resizing, [other, 3]], events, 'libvips'), [
    'sharp resize:14',
  ])
  assert.deepEqual(await starters([...resizing, [other, 3]], events), [])
  const rayon = [used(500, [['rayon', 4, 300_000]])]
  assert.deepEqual(await starters([[other, 3]], rayon, 'rayon'), ['other find:7'])
  assert.deepEqual(await starters([...resizing, [other, 3]], rayon, 'rayon'), [])
  // A call that only begins the work is too short for a sample.
  /** @type {Span[]} */
  const bundling = [
    [
      `main app.js:1 > ${loader} > (anonymous) node_modules/rolldown/index.js:1 > ${loader} > dlopen`,
      2,
    ],
    ['bundle build.js:4 > generate node_modules/rolldown/index.js:9', 3],
    ['other build.js:9 > join node_modules/paths/index.js:9', 5],
  ]
  assert.deepEqual(await starters(bundling, rayon, 'rayon'), ['rolldown bundle:4'])
  assert.deepEqual(await starters(bundling.slice(0, 1), rayon, 'rayon'), [])
  assert.deepEqual(await starters([...resizing.slice(0, 1), ...bundling], rayon, 'rayon'), [])
  // An addon of the program's own.
  const own = [['crunch app.js:7 > (native addon)', 3]]
  assert.deepEqual(await starters(/** @type {Span[]} */ (own), rayon, 'rayon'), [
    '(own code) crunch:7',
  ])
})

test('a table tells the native threads that did much', async () => {
  const file = write([[PBKDF2, 2]])
  const text = (await cli(['report', file])).stdout
  assert.match(text, /^native threads, by CPU time \(% of 432 ms of CPU time\)$/m)
  assert.match(text, / 400 ms +92\.6% .* 4 {2}libuv pool +\S*pbkdf2 by hash \(/)
  assert.match(
    (await cli(['report', '--markdown', file])).stdout,
    /\| `libuv pool` \| `crypto\.pbkdf2 by hash \(.*login\.js:9\)` \| 400 ms \| 4 \| 92\.6% \|/,
  )
  const little = write([['work app.js:1', 900]], [used(500, [['libuv-worker', 4, 50_000]])])
  assert.doesNotMatch((await cli(['report', little])).stdout, /native threads, by CPU time/)
})
