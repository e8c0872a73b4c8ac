'use strict'

// JSON that is no CPU profile, although it has members of the same names; profiles by clocks that have nothing in
// common; and forms of other times, which check looks into.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, merge, report } = require('../..')
const { temporaryDirectory } = require('../helpers/files.js')

/** Returns a folder of files. @param {Record<string, unknown>} files */
function folder(files) {
  const dir = temporaryDirectory()
  for (const [name, content] of Object.entries(files)) {
    fs.writeFileSync(path.join(dir, name), JSON.stringify(content))
  }
  return dir
}

/** Returns a call frame. @param {string} functionName @param {string} [url] */
function callFrame(functionName, url = '') {
  return { functionName, scriptId: url ? '9' : '0', url, lineNumber: url ? 4 : -1, columnNumber: 0 }
}

/** Returns a profile of 300 ms. @param {number} startTime @param {string} [url] @param {string} [name] */
function profile(startTime, url = '/srv/a.js', name = 'work') {
  const samples = Array.from({ length: 300 }, () => 2)
  return {
    nodes: [
      { id: 1, callFrame: callFrame('(root)'), children: [2] },
      { id: 2, callFrame: callFrame(name, url) },
    ],
    startTime,
    endTime: startTime + 300_000,
    samples,
    timeDeltas: samples.map(() => 1000),
  }
}

/** Data of other kinds, each with the words that say what it is. @type {[string, unknown, RegExp][]} */
const OTHERS = [
  [
    'graph.json',
    { nodes: [{ id: 1, name: 'web' }, { id: 2 }], edges: [{ from: 1, to: 2 }] },
    /without call frames/,
  ],
  [
    'model.json',
    {
      nodes: [
        { id: 0, children: [1] },
        { id: 1, selfTime: 9 },
      ],
      samples: [1, 1],
      timeDeltas: [0, 1000],
      startTime: 0,
    },
    /without call frames/,
  ],
  ['empty.json', { nodes: [], links: [] }, /without call frames/],
  ['query.json', { head: { vars: ['a'] }, results: { bindings: [] } }, /without call frames/],
  [
    'a.heapprofile',
    {
      head: { callFrame: callFrame('(root)'), selfSize: 0, id: 1, children: [] },
      samples: [{ size: 1, nodeId: 1, ordinal: 1 }],
    },
    /heap profile/,
  ],
  [
    'a.heapsnapshot',
    {
      snapshot: { meta: {}, node_count: 1 },
      nodes: [9, 1, 1],
      edges: [],
      samples: [],
      strings: [''],
    },
    /heap snapshot/,
  ],
  [
    'a.heaptimeline',
    {
      snapshot: { meta: {} },
      nodes: [9, 1],
      edges: [],
      trace_tree: [],
      samples: [0, 5],
      strings: [],
    },
    /heap timeline/,
  ],
]

for (const [name, content, what] of OTHERS) {
  test(`${name} is refused in one line that says what it is`, async () => {
    const dir = folder({ [name]: content, 'one.cpuprofile': profile(5e9) })
    const file = path.join(dir, name)
    const output = path.join(dir, 'out', 'trace.json')
    for (const read of [() => report(file), () => merge(file, output)]) {
      await assert.rejects(read, (/** @type {Error} */ { message }) => {
        assert.match(message, what)
        assert.ok(!message.trim().slice(message.indexOf(name)).includes('\n'), message)
        return true
      })
    }
    const [{ problems, loads }] = (await check(file)).files
    assert.deepEqual([problems.length, loads], [1, false])
    assert.match(problems[0].message, what)
    // Beside a profile, the file is left out and named.
    const both = await report([file, path.join(dir, 'one.cpuprofile')])
    assert.deepEqual(
      [both.processes.length, both.failed.map((each) => path.basename(each.file))],
      [1, [name]],
    )
    const { failed } = await merge([file, path.join(dir, 'one.cpuprofile')], output)
    assert.deepEqual(
      failed.map((each) => path.basename(each.file)),
      [name],
    )
    assert.ok(both.durationMs < 400, `${both.durationMs}`)
    if (!name.startsWith('a.')) {
      const all = await report(dir)
      assert.ok(all.failed.some((each) => path.basename(each.file) === name))
    }
  })
}

test('a merged trace beside a graph is no copy', async () => {
  const dir = folder({ 'one.cpuprofile': profile(5e9) })
  await merge(path.join(dir, 'one.cpuprofile'), path.join(dir, 'trace.json'))
  fs.rmSync(path.join(dir, 'one.cpuprofile'))
  fs.writeFileSync(path.join(dir, 'graph.json'), JSON.stringify({ nodes: [{ id: 1 }] }))
  assert.equal((await report(dir)).processes.length, 1)
})

for (const starts of [
  [0, 2.5e9],
  [1.2e9, 3.7e9],
  [0, 2.5e9, 2.5001e9],
  [0, 9e11],
]) {
  test(`starts at ${starts} make no long run`, async () => {
    const files = Object.fromEntries(
      starts.map((start, index) => [`${index}.cpuprofile`, profile(start)]),
    )
    const dir = folder(files)
    const { durationMs, processes, sentence } = await report(dir)
    assert.ok(durationMs < 1000, `${durationMs}`)
    assert.equal(processes.length, starts.length)
    assert.ok(!sentence?.includes('waited'), `${sentence}`)
    const output = path.join(dir, 'out', 'trace.json')
    await merge(dir, output)
    assert.ok((await report(output)).durationMs < 1000)
  })
}

test('profiles with a pause of seconds between them are one run', async () => {
  const dir = folder({ 'a.cpuprofile': profile(5e9), 'b.cpuprofile': profile(5.01e9) })
  assert.ok((await report(dir)).durationMs > 10_000)
})

/** Returns a trace of Chrome before version 66, or of webpack. @param {unknown} cpuProfile @param {object[]} [before] */
function whole(cpuProfile, before = []) {
  const event = { ph: 'I', pid: 7, tid: 7, ts: 5.3e6, cat: 'disabled-by-default-devtools.timeline' }
  return [...before, { ...event, name: 'CpuProfile', args: { data: { cpuProfile } } }]
}

test('check looks into the events that hold whole profiles', async () => {
  const good = profile(5e6)
  const bad = {
    ...good,
    samples: [99, ...good.samples.slice(1)],
    timeDeltas: good.timeDeltas.slice(1),
  }
  const dir = folder({
    'a.json': whole(good),
    'b.json': whole(bad),
    'c.json': whole({ samples: [] }),
  })
  const { files } = await check(dir)
  assert.deepEqual([files[0].profiles, files[0].samples, files[0].problems], [1, 300, []])
  const told = files.map(({ problems }) => problems.map(({ message }) => message).join('\n'))
  assert.match(told[1], /unknown node 99/)
  assert.match(told[1], /299 times for 300 samples/)
  assert.match(told[2], /needs the nodes/)
})

test('a trace of webpack lacks frames: check says so, and a merge adds them', async () => {
  const cat = 'disabled-by-default-devtools.timeline'
  const instant = { ph: 'I', s: 't', cat, pid: 7, tid: 7, ts: 5e6 }
  const frames = [{ frame: '0xfff', url: 'webpack', name: '' }]
  const before = [
    {
      ...instant,
      name: 'TracingStartedInPage',
      id: 1,
      args: { data: { sessionId: '-1', page: '0xfff', frames } },
    },
    { ...instant, name: 'TracingStartedInBrowser', id: 2, args: { data: { sessionId: '-1' } } },
  ]
  const dir = folder({ 'events.json': whole(profile(5e6), before) })
  const file = path.join(dir, 'events.json')
  const isOfFrames = (/** @type {any} */ { message }) => /frames is not iterable/.test(message)
  const [{ problems }] = (await check(file)).files
  assert.deepEqual(
    problems.filter(isOfFrames).map(({ severity }) => severity),
    ['error'],
  )
  const output = path.join(dir, 'out', 'trace.json')
  await merge(file, output)
  assert.deepEqual((await check(output)).files[0].problems, [])
  const events = JSON.parse(fs.readFileSync(output, 'utf8')).traceEvents
  const starts = events.filter((/** @type {any} */ { name }) => name === 'TracingStartedInBrowser')
  assert.deepEqual(
    starts.map((/** @type {any} */ { args }) => args.data.frames.length),
    [1],
  )
})

test('an empty profile did not wait', async () => {
  const empty = { nodes: [], samples: [], timeDeltas: [], startTime: 5e6, endTime: 7.7e6 }
  const { sentence } = await report(folder({ 'e.cpuprofile': empty }))
  assert.match(sentence ?? '', /^The profile has no samples: .* in the 2\.7 s is not known\.$/)
})

test('files of Node before version 16 are no own code', async () => {
  const dir = folder({
    'old.cpuprofile': profile(5e9, 'internal/modules/cjs/loader.js', 'Module._load'),
    'bare.cpuprofile': profile(5e9, 'net.js', 'onread'),
    'mapped.cpuprofile': {
      ...profile(5e9, 'util.js', 'work'),
      nodes: [
        { id: 1, callFrame: callFrame('(root)'), children: [3] },
        { id: 3, callFrame: callFrame('main', 'src/main.js'), children: [2] },
        { id: 2, callFrame: callFrame('work', 'util.js') },
      ],
    },
  })
  const first = async (/** @type {string} */ name) =>
    (await report(path.join(dir, name))).functions[0]
  const places = []
  for (const name of ['old.cpuprofile', 'bare.cpuprofile', 'mapped.cpuprofile']) {
    const { file, package: owner } = await first(name)
    places.push([file, owner])
  }
  assert.deepEqual(places, [
    ['node:internal/modules/cjs/loader', 'node:'],
    ['node:net', 'node:'],
    ['util.js', '(own code)'],
  ])
})
