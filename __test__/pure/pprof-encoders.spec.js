'use strict'

// pprof as other tools write it: any order of fields, any name, with any values, beside recordings.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { check, convert, merge, report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages } = require('../helpers/messages.js')
const { ORDERS, bytes, encoded, number } = require('../helpers/pprof-fields.js')
const { writeTrace } = require('../helpers/written.js')

const MS = 1e6
const GO = {
  samples: [
    { stack: ['main.main', 'main.alpha'], values: [60, 600 * MS] },
    { stack: ['main.main', 'main.beta'], values: [40, 400 * MS] },
  ],
  file: '/srv/app/main.go',
}
const HEAP = {
  samples: [{ stack: ['main.main'], values: [5, 4096] }],
  types: ['inuse_objects/count', 'inuse_space/bytes'],
  period: '524288 bytes',
}

/** @param {string} dir @param {string} name @param {Buffer} contents */
function write(dir, name, contents) {
  const file = path.join(dir, name)
  fs.writeFileSync(file, name.endsWith('.gz') ? zlib.gzipSync(contents) : contents)
  return file
}

/** @param {string | string[]} inputs */
async function selfTimes(inputs) {
  const { functions } = await report(inputs, { top: Infinity })
  return Object.fromEntries(
    functions.filter(({ selfMs }) => selfMs > 0).map(({ name, selfMs }) => [name, selfMs]),
  )
}

const orders = /** @type {(keyof typeof ORDERS)[]} */ (Object.keys(ORDERS))

test('pprof is read whatever the order of its fields, its name and its compression', async () => {
  const dir = temporaryDirectory()
  const names = ['a.cpuprofile', 'a.prof', 'a.pprof', 'a.pb', 'a.pb.gz', 'a.cpuprofile.gz', 'cpu']
  for (const order of orders) {
    for (const isPacked of [true, false]) {
      const contents = encoded({ ...GO, order, isPacked })
      for (const name of names) {
        const times = await selfTimes(write(dir, name, contents))
        const message = `${order} ${isPacked ? 'packed' : 'plain'} ${name}`
        assert.deepEqual(times, { 'main.alpha': 600, 'main.beta': 400 }, message)
      }
    }
  }
})

test('a folder has pprof of any name, and names what it refuses', async () => {
  const dir = temporaryDirectory()
  write(dir, 'cpu.out', encoded({ ...GO, order: 'go' }))
  write(dir, '1-cpuprofile.pb.gz', encoded({ ...GO, order: 'go' }))
  write(dir, 'profile', zlib.gzipSync(encoded({ ...GO, order: 'libdatadog' })))
  write(dir, '1-memprofile.pb.gz', encoded({ ...HEAP, order: 'goOthers' }))
  write(dir, 'heap', encoded({ ...HEAP, order: 'goOthers' }))
  write(dir, 'model.pb', bytes(1, [bytes(1, 'conv1'), bytes(2, 'Conv2D')]))
  write(dir, 'notes.txt', Buffer.from('no profile'))
  write(dir, 'package.json', Buffer.from('{"name":"x"}'))
  const { processes, failed } = await report(dir)
  assert.deepEqual(processes.map(({ name }) => name).sort(), [
    '1-cpuprofile.pb.gz',
    'cpu.out',
    'profile',
  ])
  const refused = Object.fromEntries(
    failed.map(({ file, reason }) => [path.basename(file), reason]),
  )
  assert.deepEqual(Object.keys(refused).sort(), ['1-memprofile.pb.gz', 'heap', 'model.pb'])
  for (const name of ['1-memprofile.pb.gz', 'heap']) {
    assert.match(refused[name], /heap profile.*inuse_space\/bytes/)
  }
  assert.ok(refused['model.pb'].includes(messages.notJson))
  const merged = await merge(dir, path.join(temporaryDirectory(), 'a.json'))
  assert.equal(merged.processes, 3)
  assert.ok(merged.failed.some(({ file }) => file.endsWith('heap')))
  const { files } = await check(dir)
  assert.ok(files.some(({ file }) => file.endsWith('cpu.out')))
})

test('other files of protobuf are no pprof', async () => {
  const dir = temporaryDirectory()
  for (const [name, contents] of Object.entries({
    // TracePacket: timestamp, sequence, track event.
    perfetto: bytes(1, [number(8, 123_456_789), number(10, 1), bytes(11, [number(9, 1)])]),
    otlpTraces: bytes(1, [bytes(1, [bytes(1, [bytes(1, 'service.name')])])]),
    otlpProfiles: Buffer.concat([
      bytes(1, [bytes(2, [bytes(2, [bytes(1, [number(1, 1)])])])]),
      bytes(2, [bytes(5, ''), bytes(5, 'cpu')]),
    ]),
    samplesAlone: bytes(2, [number(1, 1), number(2, 5)]),
  })) {
    await assert.rejects(report(write(dir, `${name}.pb`, contents)), (/** @type {any} */ error) => {
      assert.ok(error.message.includes(messages.notJson), error.message)
      return true
    })
  }
})

test('what a tool wrote itself is reported with the recordings, at its time', async () => {
  const dir = temporaryDirectory()
  const startMs = Date.parse('2026-03-04T05:06:07.000Z')
  writeTrace(path.join(dir, 'a.trace.json'), {
    label: 'build.js',
    spans: [
      ['work /r/a.js:1', 100],
      ['(idle)', 1900, { childrenMs: 1000 }],
    ],
    flushMs: 500,
  })
  const trace = path.join(dir, 'a.trace.json')
  // The header tells the time of day.
  const text = fs.readFileSync(trace, 'utf8')
  const metadata = `{"metadata":{"startTime":"${new Date(startMs).toISOString()}",`
  fs.writeFileSync(trace, text.replace('{"metadata":{', metadata))
  const tool = {
    ...GO,
    order: /** @type {const} */ ('go'),
    timeMs: startMs + 500,
    durationMs: 1000,
  }
  write(dir, 'esbuild.cpuprofile', encoded(tool))
  const expected = { work: 100, 'main.alpha': 600, 'main.beta': 400 }

  const { processes, durationMs, notes, sentence } = await report(dir)
  assert.deepEqual(await selfTimes(dir), expected)
  assert.deepEqual(
    processes.map(({ name, startMs }) => [name, startMs]),
    [
      ['build.js', 0],
      ['esbuild.cpuprofile', 500],
    ],
  )
  assert.equal(durationMs, 2000)
  assert.deepEqual(
    processes.map(({ threads }) => [threads[0].javascriptMs, threads[0].nativeMs]),
    [
      [100, 0],
      [0, 1000],
    ],
  )
  // That pprof has no time line, and nothing of several machines.
  assert.equal(notes.length, 1)
  // The program other than Node has a profile.
  assert.match(sentence ?? '', /^55 % of the work is main\.alpha/)
  const alone = await report(trace)
  assert.match(alone.sentence ?? '', /have no profile/)

  const merged = path.join(temporaryDirectory(), 'all.json')
  await merge(dir, merged)
  assert.deepEqual((await check(merged)).files[0].problems, [])
  const again = await report(merged)
  assert.deepEqual(await selfTimes(merged), expected)
  assert.deepEqual([again.durationMs, again.processes.length], [2000, 2])

  // What was converted from the recordings is a copy of them.
  const copies = temporaryDirectory()
  fs.copyFileSync(trace, path.join(copies, 'a.trace.json'))
  await convert(trace, path.join(copies, 'a.pb'))
  assert.deepEqual(await selfTimes(copies), { work: 100 })
  // A tool's run of another day is on another clock.
  write(dir, 'esbuild.cpuprofile', encoded({ ...tool, timeMs: startMs + 86_400_000 }))
  assert.match((await report(dir)).notes.join(), /several machines/)
})

test('a period that cannot be is not used', async () => {
  const dir = temporaryDirectory()
  const counts = [60, 40].map((count, index) => ({ ...GO.samples[index], values: [count] }))
  const options = { ...GO, samples: counts, types: ['samples/count'] }
  /** @param {import('../helpers/pprof-fields.js').Encoded} encodedAs */
  const read = (encodedAs) => report(write(dir, 'x.pb', encoded(encodedAs)))
  const times = (/** @type {import('../../index.js').Report} */ { functions }) =>
    functions.filter(({ selfMs }) => selfMs > 0).map(({ selfMs }) => selfMs)
  const guessed = /only counts samples.*shares are true/

  const plausible = await read({ ...options, period: '10 milliseconds', durationMs: 5000 })
  assert.deepEqual([times(plausible), plausible.durationMs], [[600, 400], 5000])
  assert.doesNotMatch(plausible.notes.join(), guessed)
  for (const period of ['1000000000 milliseconds', '100 hertz']) {
    const scaled = await read({ ...options, period, durationMs: 5000 })
    assert.deepEqual([times(scaled), scaled.durationMs], [[3000, 2000], 5000], period)
    assert.match(scaled.notes.join(), guessed)
  }
  const unknown = await read({ ...options, period: '1000000000 milliseconds' })
  assert.deepEqual([times(unknown), unknown.durationMs], [[600, 400], 1000])
  // The file has times, which need no period.
  const timed = await read({ ...GO, period: '1000000000 milliseconds', durationMs: 5000 })
  assert.deepEqual([times(timed), timed.durationMs], [[600, 400], 5000])
  const note = await merge(path.join(dir, 'x.pb'), path.join(dir, 'x.json'))
  assert.doesNotMatch(note.notes.join(), guessed)
})

test('in a profile of a native program, functions without a file are its own code', async () => {
  const dir = temporaryDirectory()
  const samples = [
    { stack: ['main@/srv/server', 'app::parse(int)@/srv/server'], values: [60, 600 * MS] },
    { stack: ['main@/srv/server', 'malloc@/usr/lib/libc.so.6'], values: [40, 400 * MS] },
  ]
  /** @param {import('../helpers/pprof-fields.js').Encoded} options @param {string} [name] */
  const read = (options, name = 'x.prof') => report(write(dir, name, encoded(options)))
  const named = await read({ samples })
  assert.match(named.sentence ?? '', /^60 % of the work is app::parse\(int\), called by main/)
  assert.deepEqual(
    named.owners.map(({ kind, selfMs }) => [kind, selfMs]),
    [['own code', 1000]],
  )
  assert.deepEqual([named.totals.nativeMs, named.totals.javascriptMs], [1000, 0])
  assert.deepEqual(Object.fromEntries(named.functions.map(({ name, package: of }) => [name, of])), {
    main: '(own code)',
    'app::parse(int)': '(own code)',
    malloc: '(native)',
  })
  const addresses = await read({ samples, hasNames: false })
  assert.match(addresses.sentence ?? '', /^60 % of the work is server\+0x1010/)
  const unknown = await read({ samples, file: 'Unknown', types: ['cpu/count', 'x/count'] })
  assert.match(unknown.sentence ?? '', /^60 % of the work is app::parse\(int\), called by main/)
  // All of it is in a library.
  const library = samples.map((sample) => ({ ...sample, stack: ['f@/x/libx.so', 'g@/x/libx.so'] }))
  assert.match((await read({ samples: library })).sentence ?? '', /^100 % of the work is g/)
  // In a profile of V8, such functions are V8's.
  const script = await read({ samples, file: '/srv/a.js' })
  assert.deepEqual(
    script.packages.map(({ name }) => name),
    ['(own code)'],
  )
  const mixed = [
    { stack: ['JSON.parse'], values: [1, 10 * MS] },
    { stack: ['(program)'], values: [1, MS] },
  ]
  const { packages } = await read({ samples: mixed })
  assert.deepEqual(
    packages.map(({ name }) => name),
    ['(native)'],
  )
  // A conversion keeps whose the code is.
  await convert(path.join(dir, 'x.prof'), path.join(dir, 'x.json'))
  await read({ samples })
  for (const ending of ['.json', '.cpuprofile', '.pb']) {
    const output = path.join(temporaryDirectory(), `x${ending}`)
    await convert(path.join(dir, 'x.prof'), output)
    const { sentence } = await report(output)
    assert.match(sentence ?? '', /60 % of the work is app::parse/, ending)
  }
})
