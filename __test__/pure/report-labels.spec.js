'use strict'

// Labels of samples in the tools: tables, filters, conversions, and what a killed process was working for.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, compare, convert, merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

/** @param {string} route @param {string} tenant */
const of = (route, tenant) => ({ labels: { route, tenant } })
const TABLE = 'main app.js:1 > report app.js:9 > renderTable table.js:2'

/** A server that works for two routes and two tenants: a second of work. @type {Span[]} */
const SERVER = [
  ['(idle)', 100],
  ['main app.js:1 > users app.js:5', 150, of('/users/:id', 't1')],
  ['main app.js:1 > users app.js:5', 50, of('/users/:id', 't2')],
  ['main app.js:1 > boot app.js:2', 100],
  [TABLE, 400, of('/report', 't1')],
  ['main app.js:1 > report app.js:9', 170, of('/report', 't1')],
  ['(garbage collector)', 30, of('/report', 't1')],
  [`${TABLE} > parse`, 100, { ...of('/report', 't2'), cpuMs: 50 }],
]

/** Writes the trace of the server. @param {Parameters<typeof writeTrace>[1]} [recorded] */
function write(recorded) {
  return writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), { spans: SERVER, ...recorded })
}

/** Returns the names of labels with their milliseconds of work. @param {import('../../index.js').Report} result */
const work = ({ labels }) => labels.map(({ name, selfMs }) => [name, Math.round(selfMs)])

test('labels have their work, by whole sets and by one key', async () => {
  const file = write()
  const whole = await report(file)
  assert.deepEqual(whole.labelKeys, ['route', 'tenant'])
  assert.equal(whole.labelKey, 'route')
  const byRoute = await report(file, { by: 'label:route' })
  assert.deepEqual(byRoute.labels, whole.labels)
  assert.deepEqual(work(whole), [
    ['/report', 650],
    ['/users/:id', 200],
    ['(no route)', 100],
  ])
  const [first, , none] = whole.labels
  assert.deepEqual([first.labels, none.labels], [{ route: '/report' }, {}])
  assert.equal(Math.round(first.blockedMs), 50)
  // The time of a built-in counts for the function that called it.
  assert.deepEqual(
    [first.hottest?.name, Math.round(first.hottest?.selfMs ?? 0)],
    ['renderTable', 450],
  )
  const sets = await report(file, { by: 'label' })
  assert.equal(sets.labelKey, undefined)
  assert.deepEqual(work(sets), [
    ['route=/report · tenant=t1', 600],
    ['route=/users/:id · tenant=t1', 150],
    ['(no labels)', 100],
    ['route=/report · tenant=t2', 50],
    ['route=/users/:id · tenant=t2', 50],
  ])
  assert.equal((await report(file, { by: 'label', top: 2 })).labels.length, 2)
  assert.deepEqual(
    (await report(file, { by: 'label:nothing' })).labels.map(({ name }) => name),
    ['(no nothing)'],
  )
})

test('the work of all labels is the work of the report', async () => {
  const { labels, totals } = await report(write(), { by: 'label' })
  const sum = labels.reduce((ms, { selfMs }) => ms + selfMs, 0)
  assert.equal(Math.round(sum), Math.round(totals.javascriptMs + totals.nativeMs + totals.gcMs))
})

test('labels change nothing else of a report', async () => {
  const bare = SERVER.map(([stack, ms, { labels: _, ...counters } = {}]) => [stack, ms, counters])
  const options = { tree: true, details: 5, stalls: 50, top: 100 }
  const [labelled, other] = await Promise.all([
    report(write(), options),
    report(write({ spans: /** @type {Span[]} */ (bare) }), options),
  ])
  const { labels, labelKey, labelKeys, sentence, ...rest } = labelled
  assert.deepEqual([other.labels, other.labelKey, other.labelKeys], [[], undefined, []])
  assert.ok(labels.length > 0 && labelKey && labelKeys.length > 0 && sentence)
  const { labels: _, labelKeys: __, sentence: ___, ...expected } = other
  assert.deepEqual(rest, expected)
})

test('the sentence names the label and its function, where these say most', async () => {
  assert.equal(
    (await report(write())).sentence,
    `68 % ${messages.ofWork} for route /report, mostly renderTable (table.js:2).`,
  )
  // One label for all of the work says nothing.
  const [, , , , ...one] = SERVER
  assert.match(
    (await report(write({ spans: one }))).sentence ?? '',
    pattern`^\d+ % ${messages.ofWork} renderTable`,
  )
  // Nor does a label where one function has more of the work.
  const shared = /** @type {Span[]} */ ([
    [TABLE, 500, of('/a', 't')],
    [TABLE, 450, of('/b', 't')],
  ])
  assert.match(
    (await report(write({ spans: shared }))).sentence ?? '',
    pattern`^100 % ${messages.ofWork} renderTable`,
  )
})

test('a filter by labels means the same in all tools', async () => {
  const file = write()
  const at = (/** @type {string} */ name) => path.join(path.dirname(file), name)
  for (const [label, names, ms] of /** @type {const} */ ([
    ['route=/report', ['/report'], 650],
    ['ROUTE=/Report', ['/report'], 650],
    [['route=/report', 'tenant=t1'], ['/report'], 600],
    [['route=/report', 'route='], ['/report', '(no route)'], 750],
    // What is left has no labels at all.
    ['tenant=', [], 100],
  ])) {
    const options = { label: /** @type {string[]} */ ([label].flat()) }
    const filtered = await report(file, { ...options, by: 'label:route' })
    assert.deepEqual(
      filtered.labels.map(({ name }) => name),
      names,
    )
    const { javascriptMs, nativeMs, gcMs } = filtered.totals
    assert.equal(Math.round(javascriptMs + nativeMs + gcMs), ms)
    await merge(file, at('out/merged.json'), options)
    const merged = await report(at('out/merged.json'), { by: 'label:route' })
    assert.deepEqual(merged.labels.map(({ name }) => name).sort(), [...names].sort())
    await convert(file, at('out/a.cpuprofile'), options)
    const converted = await report(at('out/a.cpuprofile'), { by: 'label:route' })
    assert.deepEqual(converted.labels.map(({ name }) => name).sort(), [...names].sort())
  }
  await assert.rejects(report(file, { label: 'route=/nothing' }), /matches label route=\/nothing/)
  const { stdout } = await cli(['report', file, '--label', 'tenant=t2', '--by', 'label', '--json'])
  assert.deepEqual(
    work(JSON.parse(stdout)).map(([name]) => name),
    ['route=/report · tenant=t2', 'route=/users/:id · tenant=t2'],
  )
  const wrong = await cli(['report', file, '--label', 'route'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, pattern`${messages.keyAndValue}: route=/users`)
})

test('a .cpuprofile keeps labels there and back, and collapsed stacks have them as a frame', async () => {
  const file = write()
  const at = (/** @type {string} */ name) => path.join(path.dirname(file), name)
  const expected = work(await report(file, { by: 'label' }))
  await convert(file, at('out/a.cpuprofile'))
  const { labels, labelSets, samples } = JSON.parse(fs.readFileSync(at('out/a.cpuprofile'), 'utf8'))
  assert.equal(labels.length, samples.length)
  assert.equal(Object.keys(labelSets).length, 4)
  // A .cpuprofile cannot tell time that was blocked.
  const sum = (/** @type {(string | number)[][]} */ rows) =>
    Object.fromEntries(
      rows.map(([name, ms]) => [name, name === 'route=/report · tenant=t2' ? 0 : ms]),
    )
  const converted = await report(at('out/a.cpuprofile'), { by: 'label' })
  assert.deepEqual(sum(work(converted)), sum(expected))
  const { files } = await check(at('out/a.cpuprofile'))
  assert.deepEqual(files[0].problems, [])

  await convert(file, at('out/a.folded'))
  const lines = fs.readFileSync(at('out/a.folded'), 'utf8').split('\n')
  assert.ok(
    lines.includes(
      'app (pid 7) - main;route=/report · tenant=t1;main (/project/app.js:1);report (/project/app.js:9);renderTable (/project/table.js:2) 400000',
    ),
    lines.join('\n'),
  )
  assert.ok(
    lines.some((line) => line.startsWith('app (pid 7) - main;main (/project/app.js:1);boot')),
  )
})

test('processes that use one id for other labels stay apart, in a folder and in its merge', async () => {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  for (const [pid, route] of /** @type {const} */ ([
    [7, '/a'],
    [8, '/b'],
  ])) {
    const spans = /** @type {Span[]} */ ([['work a.js:1', 100 * (pid - 6), { labels: { route } }]])
    const recorded = { pid, processStartMs: pid, spans }
    writeTrace(at(`in/${pid}.trace.json`), recorded)
    writeTrace(at(`in/${pid}.1.trace.json`), { ...recorded, tid: 1, firstLabel: 5 })
  }
  const expected = [
    ['/b', 400],
    ['/a', 200],
  ]
  assert.deepEqual(work(await report(at('in'))), expected)
  await merge(at('in'), at('out.json'))
  assert.deepEqual(work(await report(at('out.json'))), expected)
})

test('unsound labels leave the samples as they are, and check names them', async () => {
  const file = write()
  const text = fs.readFileSync(file, 'utf8')
  const expected = await report(file)
  for (const [from, to, problem] of /** @type {[RegExp, string, RegExp][]} */ ([
    [/"labels":\[[^\]]*\]/g, '"labels":"x"', /a list of the ids/],
    [/"labels":\[[^\]]*\]/g, '"labels":[1,2]', /2 labels for \d+ samples/],
    [/"labels":\[/g, '"labels":[null,', /a list of the ids/],
    [/"labelSets":\{/g, '"labelSets":[],"other":{', /have to be an object/],
    [/"labelSets":\{/g, '"labelSets":5,"other":{', /have to be an object/],
    [/"route":"\/report"/g, '"route":{"x":1}', /has to be a text/],
    [/"labelSets":/g, '"sets":', /no label set has the id 1/],
  ])) {
    const broken = path.join(path.dirname(file), 'broken', 'a.trace.json')
    fs.mkdirSync(path.dirname(broken), { recursive: true })
    fs.writeFileSync(broken, text.replace(from, to))
    const result = await report(broken)
    assert.deepEqual(result.functions, expected.functions, `${to}`)
    assert.deepEqual([result.failed, result.repaired, result.notes], [[], [], []])
    const [{ problems }] = (await check(broken)).files
    assert.ok(
      problems.some(({ message }) => problem.test(message)),
      `${to}: ${JSON.stringify(problems)}`,
    )
  }
})

test('thousands of sets and huge texts are read, and shown shortly', async () => {
  const spans = Array.from({ length: 3000 }, (_, n) => {
    const labels = { id: `${n} ${'x'.repeat(2000)}`, route: n % 2 ? '/odd' : '/even\u001b[31m' }
    return /** @type {Span} */ (['work a.js:1', 1, { labels }])
  })
  const file = write({ spans })
  const result = await report(file, { top: 5000, by: 'label' })
  assert.equal(result.labels.length, 3000)
  assert.ok(result.labels.every(({ labels }) => labels.id.length === 256))
  const { stdout } = await cli(['report', file])
  assert.match(stdout, /work by route/)
  assert.ok(
    !stdout.includes('\u001b'),
    'a control character of a label does not reach the terminal',
  )
})

test('a killed process tells what it was working for, the oldest first', async () => {
  const http = (/** @type {string} */ text) => ({ labels: { http: text } })
  const spans = /** @type {Span[]} */ ([
    ['old app.js:2', 100, http('GET /old')],
    ['(idle)', 600],
    ['render app.js:3', 300, http('GET /report')],
    ['(idle)', 300],
    ['render app.js:3', 200, http('GET /report')],
    ['users app.js:4', 100, http('GET /users')],
    ['render app.js:3', 200, http('GET /report')],
  ])
  const inFlight = [
    ['GET /report', 1100],
    ['GET /users', 300],
  ]
  const found = (/** @type {import('../../index.js').Report} */ { processes: [{ inFlight }] }) =>
    inFlight?.map(({ labels, ms }) => [labels.http, Math.round(ms)])
  const broken = write({ spans, isKilled: true })
  assert.deepEqual(found(await report(broken)), inFlight)
  const text = (await cli(['report', broken])).stdout
  const line = `in flight at ${messages.endOfRecording}: GET /report for 1.10 s, GET /users for 300 ms`
  // The line is folded.
  assert.ok(text.replaceAll('\n', ' ').includes(line), text)
  const markdown = (await cli(['report', broken, '--markdown'])).stdout
  assert.match(markdown, pattern`in flight at ${messages.endOfRecording}: GET`)

  const killed = write({ spans, signal: 'SIGKILL' })
  const result = await report(killed)
  assert.deepEqual([result.processes[0].signal, found(result)], ['SIGKILL', inFlight])
  assert.match((await cli(['report', killed])).stdout, /^in flight at SIGKILL: GET \/report for 1/m)
  // A merged trace tells the same, and a slice before the end nothing.
  const merged = path.join(path.dirname(killed), 'out', 'merged.json')
  await merge(killed, merged)
  assert.deepEqual(found(await report(merged)), inFlight)
  assert.equal(found(await report(killed, { to: 500 })), undefined)
  assert.deepEqual(found(await report(killed, { from: -150 })), [['GET /report', 150]])
  assert.equal(found(await report(write({ spans, exitCode: 0 }))), undefined)
  assert.equal(
    found(await report(write({ spans: [...spans, ['(idle)', 501]], isKilled: true }))),
    undefined,
  )
})

test('what hangs is named with its time, and the rest is counted', async () => {
  const of = (/** @type {number} */ n) => ({ labels: { route: `/${n}`, tenant: 't' } })
  const spans = [1, 2, 3, 4, 5].map((n) => /** @type {Span} */ (['work app.js:2', 100, of(n)]))
  const dir = temporaryDirectory()
  const facts = { spans, label: 'app.js', isKilled: true }
  writeTrace(path.join(dir, 'a.trace.json'), { ...facts, pid: 7 })
  writeTrace(path.join(dir, 'b.trace.json'), { spans: [['work app.js:2', 500]], pid: 8 })
  const { stdout } = await cli(['report', dir])
  const line =
    `in flight in app.js (pid 7) at ${messages.endOfRecording}: route=/1 · tenant=t for 500 ms, ` +
    'route=/2 · tenant=t for 400 ms, route=/3 · tenant=t for 300 ms, and 2 more'
  assert.ok(stdout.replaceAll('\n', ' ').includes(`${line} `), stdout)
  assert.equal(stdout.match(/in flight/g)?.length, 1)
})

test('a .cpuprofile that has ended has nothing in flight', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  writeProfile(file, SERVER, { facts: { pid: 7, threadId: 0 } })
  const { labels, processes } = await report(file)
  assert.equal(labels[0].name, '/report')
  assert.equal(processes[0].inFlight, undefined)
})

test('the table of labels is printed, and a wrong key is told', async () => {
  const file = write()
  const { stdout } = await cli(['report', file, '--by', 'label:route'])
  assert.match(stdout, /work by route \(% of 950 ms of work\)/)
  assert.match(stdout, /650 ms +68\.4%.*\/report +renderTable \(table\.js:2\)/)
  const wrong = await cli(['report', file, '--by', 'label:nothing'])
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /no sample has a label 'nothing'; the keys are route, tenant/)
  const none = await cli(['report', write({ spans: [['work a.js:1', 50]] }), '--by', 'label'])
  assert.match(none.stderr, pattern`${messages.noLabels}: the program has to label its work`)
  const markdown = (await cli(['report', file, '--by', 'label:tenant', '--markdown'])).stdout
  assert.match(markdown, /\| `t1` \| `renderTable \(table\.js:2\)` \| 750 ms \|/)
})

test('a comparison tells which label became slower, and a rule can limit it', async () => {
  const dir = temporaryDirectory()
  const side = (/** @type {string} */ name, /** @type {number} */ ms) => {
    for (const run of [1, 2, 3]) {
      const spans = /** @type {Span[]} */ ([
        ['users app.js:5', 300 + run, of('/users', 't1')],
        ['report app.js:9', ms + run, of('/report', 't1')],
      ])
      writeTrace(path.join(dir, name, `run-${run}`, 'a.trace.json'), { spans })
    }
    return path.join(dir, name)
  }
  const [base, head] = [side('base', 200), side('head', 400)]
  const failOn = ['label:route=/report>10%', 'label:route=/users>10%']
  const { rows, rules } = await compare(base, head, { failOn })
  const row = rows.find(({ kind, name }) => kind === 'label' && name === 'route=/report')
  assert.ok(row?.changed)
  assert.deepEqual([Math.round(row.base), Math.round(row.head)], [202, 402])
  assert.deepEqual(
    rules.map(({ broken }) => broken),
    [true, false],
  )
  const { stdout } = await cli(['compare', base, head])
  assert.match(stdout, /labels, by the work for them/)
})
