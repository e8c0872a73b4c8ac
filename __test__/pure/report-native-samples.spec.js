'use strict'

// Native functions and sampled native threads in reports, on recordings with known times.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Frame} Frame */
/** @typedef {import('../helpers/written.js').Recorded} Recorded */

const ALL = { top: Number.POSITIVE_INFINITY }
const OPENSSL = '/usr/lib/libcrypto.so.3'
const LIBVIPS = '/p/node_modules/sharp/libvips-cpp.so.8'
/** The least id that a native thread has in a trace. */
const FIRST = 10_000_000

/** @param {string} module @param {string[]} names @returns {Frame[]} */
const native = (module, ...names) => names.map((name) => ({ name, module }))

/** A thread of libuv's pool that hashes for some of a second. @param {number} id @param {number} ms @returns {Recorded} */
const pool = (id, ms) => ({
  tid: FIRST + id,
  thread: `libuv-worker (${id})`,
  spans: [
    ['(idle)', 100],
    [native(OPENSSL, 'PKCS5_PBKDF2_HMAC', 'sha512_block'), 0.75 * ms],
    [native(OPENSSL, 'PKCS5_PBKDF2_HMAC', 'OPENSSL_cleanse'), 0.25 * ms],
    ['(idle)', 900 - ms],
  ],
})

/** @type {Recorded} */
const MAIN = {
  spans: [
    ['hash a.js:3', 20],
    ['(idle)', 980, { nativeMs: 1200 }],
  ],
}

/** @param {Recorded[]} recordings */
function write(recordings) {
  const dir = temporaryDirectory()
  return recordings.map((recorded, index) =>
    writeTrace(path.join(dir, `${index}.trace.json`), { label: 'app.js', ...recorded }),
  )
}

test('the sentence names the module and the function of native threads', async () => {
  const { stdout } = await cli(['report', ...write([MAIN, pool(41, 800), pool(42, 400)])])
  assert.match(
    stdout,
    /^98 % of the CPU went to native threads, mostly OpenSSL \(sha512_block\)\.\n/,
  )
})

test('a native thread has a row, and what it was not asked to do is no idle time', async () => {
  const files = write([MAIN, pool(41, 800)])
  const { totals, processes } = await report(files)
  const [main, thread] = processes[0].threads
  assert.deepEqual([thread.name, thread.threadId], ['libuv-worker (41)', FIRST + 41])
  assert.deepEqual([main.idleMs, thread.idleMs, totals.idleMs], [980, 0, 980])
  assert.deepEqual([thread.nativeMs, totals.nativeMs], [800, 800])
})

test('the end waits for native threads by their name', async () => {
  const merged = path.join(temporaryDirectory(), 'merged.json')
  await merge(write([MAIN, pool(41, 800), pool(42, 800)]), merged)
  const { chain } = await report(merged)
  assert.deepEqual(
    chain?.map(({ phase }) => phase),
    [undefined, '2 native threads: libuv-worker', undefined],
    JSON.stringify(chain),
  )
})

test('modules have the time of native threads; functions without a table are one', async () => {
  const spans = /** @type {import('../helpers/written.js').Span[]} */ ([
    [native(LIBVIPS, 'libvips-cpp.so.8~0x10'), 200],
    [native(LIBVIPS, 'libvips-cpp.so.8~0x24'), 300],
    [native(LIBVIPS, 'libvips-cpp.so.8+0x90'), 100],
  ])
  const files = write([MAIN, { tid: FIRST + 9, thread: 'vips worker (9)', spans }])
  const { modules, functions } = await report(files, ALL)
  assert.deepEqual(
    modules?.map(({ name, selfMs }) => [name, selfMs]),
    [['libvips-cpp', 600]],
  )
  const ofModule = functions.filter(({ file }) => file === LIBVIPS)
  assert.deepEqual(
    ofModule.map(({ name, selfMs }) => [name, selfMs]),
    [
      ['libvips-cpp.so.8 (no table)', 500],
      ['libvips-cpp.so.8+0x90', 100],
    ],
  )
  const { stdout } = await cli(['report', ...files])
  assert.match(stdout, /mostly libvips-cpp\./)
  assert.match(stdout, / \S*\.8\+0x90 /)
})

test('a line of JavaScript has the time of the native functions that it calls', async () => {
  const parse = { name: 'load', file: 'a.js', line: 2 }
  const spans = /** @type {import('../helpers/written.js').Span[]} */ ([
    [[{ ...parse, at: 5 }], 100],
    [[parse, { name: 'v8::internal::JsonParse', module: '/usr/bin/node', at: 5 }], 300],
    [[parse, { name: 'v8::internal::Sort', module: '/usr/bin/node', at: 7 }], 200],
    [[parse, { name: 'memcpy', module: '/usr/lib/libc.so.6' }], 50],
  ])
  const files = write([{ spans }])
  const merged = path.join(temporaryDirectory(), 'merged.json')
  await merge(files, merged)
  for (const input of [files, [merged]]) {
    const { lines } = await report(input, ALL)
    assert.deepEqual(
      lines.map(({ name, line, selfMs }) => [name, line, selfMs]),
      [
        ['load', 5, 400],
        ['load', 7, 200],
        ['memcpy', 0, 50],
      ],
    )
  }
})

test('a pprof profile keeps native threads apart', async () => {
  const dir = temporaryDirectory()
  const files = write([MAIN, pool(41, 800), pool(42, 400)])
  const file = path.join(dir, 'a.pb.gz')
  await convert(files, file)
  const { processes } = await report(file)
  assert.deepEqual(
    processes[0].threads.map(({ name, threadId, nativeMs }) => [name, threadId, nativeMs]).sort(),
    [
      ['libuv-worker (41)', FIRST + 41, 800],
      ['libuv-worker (42)', FIRST + 42, 400],
      ['main', 0, 0],
    ],
  )
})
