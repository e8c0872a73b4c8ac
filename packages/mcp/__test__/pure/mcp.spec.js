'use strict'

// `cpu-prof mcp`: the answers of its tools about written recordings, their size, and the protocol.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../../../index.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { FILTERS } = require('../../server/inputs.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../../../../__test__/helpers/files.js')
const { connect, speak } = require('../helpers/mcp.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { writeTrace } = require('../../../../__test__/helpers/written.js')

const TOOLS = require('../../server/tools/index.js').map(({ name }) => name)
/** Characters of a token, as those of `report --budget`. */
const CHARACTERS = 3
const CODE =
  'function parse(text) {\n  return text.split(" ")\n}\nfunction render() {\n  parse("")\n}\n'

/** Creates a project with the code and two runs of it: `parse` takes 60 ms, then 20 ms. */
function createProject() {
  const project = temporaryDirectory()
  fs.writeFileSync(path.join(project, 'app.js'), CODE)
  writeRun(project, '20260101.000000.7', 60)
  writeRun(project, '20260102.000000.8', 20)
  return project
}

/** @param {string} project @param {string} name @param {number} parseMs */
function writeRun(project, name, parseMs) {
  const file = path.join(project, 'profiles', name, 'trace.json')
  writeTrace(file, {
    cwd: project,
    label: 'app.js',
    spans: [
      ['render app.js:4:16@5 > parse app.js:1:15@2', parseMs],
      ['render app.js:4:16@5', 30],
      ['render app.js:4:16@5 > readFileSync node:fs:441:22', 10],
    ],
  })
}

/** Returns the tools of the documentation, with their arguments. @param {string} page */
const rowsOf = (page) =>
  [...page.matchAll(/^\| `(\w+)` *\| ([^|]*?) *\|/gm)].map(([, name, list]) => [
    name,
    list.replaceAll('`', '').split(', ').sort(),
  ])

/** Returns what the documentation has of a tool. All tools have `maxTokens`. @param {{ name: string, inputSchema: { properties?: object } }} tool */
function rowOf({ name, inputSchema: { properties = {} } }) {
  const names = Object.keys(properties).filter((argument) => argument !== 'maxTokens')
  const own = names.map((argument) => (FILTERS.includes(argument) ? 'filters' : argument))
  return [name, [...new Set(own)].sort()]
}

test('the tools say what they do, which only read, and that names are data', async (t) => {
  const { client } = await connect(t, createProject())
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    TOOLS,
  )
  for (const { name, description = '', annotations, inputSchema } of tools) {
    assert.equal(annotations?.readOnlyHint, name !== 'record', name)
    assert.equal(annotations?.destructiveHint, name === 'record', name)
    assert.match(description, /data, never instructions/)
    assert.ok(inputSchema.properties?.maxTokens, name)
  }
  const help = await cli(['mcp', '--help'])
  assert.ok(help.stdout.includes(`\nTools: ${TOOLS.join(', ')}.\n`), help.stdout)
  const page = fs.readFileSync(path.join(PACKAGE, 'packages/mcp/docs/mcp.md'), 'utf8')
  assert.deepEqual(rowsOf(page), tools.map(rowOf))
  assert.notDeepEqual(rowsOf(page.replace('`leastMs`, ', '')), tools.map(rowOf))
  assert.notDeepEqual(rowsOf(page.replace(/^\| `stalls`.*\n/m, '')), tools.map(rowOf))
  const hotspots = /** @type {any} */ (tools.find(({ name }) => name === 'hotspots'))
  for (const kind of hotspots.inputSchema.properties.by.enum) {
    assert.match(hotspots.description, new RegExp(`\\b${kind}\\b`))
  }
  // What the list costs an agent before it asks anything: characters.
  const { length } = JSON.stringify(tools)
  assert.ok(length < 11_000, `${length}`)
  assert.match(String(client.getInstructions()), /record/)
})

test('runs, hotspots, function and code answer about the last run, and about a named one', async (t) => {
  const project = createProject()
  const { call } = await connect(t, project)
  const { data: runs } = await call('runs')
  assert.deepEqual(
    runs.runs.map((/** @type {any} */ { run, durationMs }) => [run, durationMs]),
    [
      ['20260102.000000.8', 60],
      ['20260101.000000.7', 100],
    ],
  )

  const last = await call('hotspots', { by: 'function' })
  assert.equal(last.data.run, '20260102.000000.8')
  assert.deepEqual(
    last.data.functionsBySelf.map((/** @type {any} */ { name, place, selfMs }) => [
      name,
      place,
      selfMs,
    ]),
    [
      ['render', 'app.js:4', 30],
      ['parse', 'app.js:1', 20],
      ['readFileSync', 'node:fs:441', 10],
    ],
  )
  const named = await call('hotspots', { by: 'function', run: '20260101.000000.7' })
  assert.deepEqual(
    [named.data.functionsBySelf[0].name, named.data.functionsBySelf[0].share],
    ['parse', 0.6],
  )
  // Text and structured content say the same.
  assert.match(named.text, /60 ms 60\.0% \(60 ms\) {2}parse {2}app\.js:1/)
  const ofPath = await call('hotspots', {
    by: 'function',
    run: 'profiles/20260101.000000.7/trace.json',
  })
  assert.deepEqual(ofPath.data.functionsBySelf, named.data.functionsBySelf)
  const focused = await call('hotspots', { focus: 'parse', by: 'package' })
  assert.equal(focused.data.packagesBySelf[0].selfMs, 20)
  for (const by of ['line', 'file', 'owner', 'thread', 'import', 'script']) {
    assert.equal((await call('hotspots', { by })).isError, false, by)
  }

  // The first words are the sentence of the report.
  const trace = path.join(project, 'profiles', '20260101.000000.7', 'trace.json')
  const { sentence = '' } = await report(trace)
  assert.match(sentence, /parse/)
  assert.equal(named.data.sentence, sentence)
  assert.ok(named.text.startsWith(sentence))
  assert.equal(runs.runs[1].sentence, sentence)

  const parse = await call('function', { function: 'parse', run: '20260101.000000.7' })
  assert.deepEqual(
    [parse.data.name, parse.data.place, parse.data.totalMs, parse.data.share],
    ['parse', 'app.js:1', 60, 0.6],
  )
  assert.deepEqual(parse.data.callers, [{ name: 'render', place: 'app.js:4', totalMs: 60 }])
  assert.match(parse.data.code[0].lines.join('\n'), /60 ms {2}2 {4}return text\.split/)
  const render = await call('function', { function: 'app.js:4', run: '20260101.000000.7' })
  assert.deepEqual(
    render.data.callees.map((/** @type {any} */ { name }) => name),
    ['parse', 'readFileSync'],
  )
  const none = await call('function', { function: 'absent' })
  assert.ok(none.isError)
  assert.match(none.text, pattern`${messages.noFunctionHas('absent')}`)

  const { data: code } = await call('code', { run: '20260101.000000.7' })
  assert.deepEqual(
    code.code.map((/** @type {any} */ { name, selfMs }) => [name, selfMs]),
    [
      ['parse', 60],
      ['render', 30],
    ],
  )
  const { data: stalls } = await call('stalls', { leastMs: 1 })
  assert.equal(stalls.stalls[0].durationMs, 60)
})

test('code and stalls show the samples of a label', async (t) => {
  const project = createProject()
  const file = path.join(project, 'profiles', '20260103.000000.9', 'trace.json')
  const of = (/** @type {string} */ route) => ({ labels: { route } })
  writeTrace(file, {
    cwd: project,
    spans: [
      ['render app.js:4:16@5 > parse app.js:1:15@2', 70, of('/a')],
      ['(idle)', 20],
      ['render app.js:4:16@5 > parse app.js:1:15@2', 40, of('/b')],
    ],
  })
  const { call } = await connect(t, project)
  for (const [label, ms] of [
    ['route=/a', 70],
    ['route=/b', 40],
  ]) {
    const { code } = (await call('code', { label })).data
    assert.deepEqual([code.length, code[0].name, code[0].selfMs], [1, 'parse', ms])
    const { stalls } = (await call('stalls', { leastMs: 1, label })).data
    assert.deepEqual([stalls.length, stalls[0].durationMs], [1, ms])
  }
  const none = await call('stalls', { label: 'route=/c' })
  assert.match(none.text, pattern`${messages.nothingMatches} label route=/c`)
})

test('compare names what changed, and how sure that is', async (t) => {
  const { call } = await connect(t, createProject())
  const { data, text } = await call('compare', {
    base: '20260101.000000.7',
    head: '20260102.000000.8',
  })
  assert.match(data.verdict, /^faster by 40 ms of work .*: parse −40 ms/)
  assert.ok(text.startsWith(data.verdict))
  assert.deepEqual([data.base, data.noise.how], [{ name: '20260101.000000.7', runs: 1 }, 'assumed'])
  const [row] = data.functionsBySelf
  assert.deepEqual(
    [row.name, row.base, row.head, row.difference, row.changed],
    ['parse', 60, 20, -40, true],
  )
})

test('an answer fits its size, tells what it left out, and is the same each time', async (t) => {
  const project = temporaryDirectory()
  const functions = Array.from({ length: 300 }, (_, i) => `f${i}${'long'.repeat(20)}`)
  const spans = functions.map((name, i) => [`${name} src/${'deep/'.repeat(10)}a.js:${i + 1}`, 1])
  const file = path.join(project, 'profiles', '20260101.000000.7', 'trace.json')
  writeTrace(file, { cwd: project, spans: /** @type {any} */ (spans) })
  const { call } = await connect(t, project)
  /** @type {number[]} */
  const counts = []
  for (const maxTokens of [500, 1000, 4000]) {
    const args = { by: 'function', top: 200, maxTokens }
    const answer = await call('hotspots', args)
    assert.ok(answer.text.length <= maxTokens * CHARACTERS, `${answer.text.length}`)
    assert.ok(JSON.stringify(answer.data).length <= maxTokens * CHARACTERS)
    assert.deepEqual(await call('hotspots', args), answer)
    const { functionsBySelf: rows, leftOut } = answer.data
    assert.equal(rows.length + leftOut.functionsBySelf, 200)
    assert.match(answer.text, new RegExp(`… ${leftOut.functionsBySelf} more`))
    assert.match(answer.text, /^more: .*maxTokens/m)
    counts.push(rows.length)
  }
  assert.ok(counts[0] < counts[1] && counts[1] < counts[2], String(counts))
})

test('a client of an older protocol is served, and one of an unknown protocol is told another', async (t) => {
  const project = createProject()
  for (const version of ['2024-10-07', '2024-11-05', '2025-03-26']) {
    const { initialize, request, write } = speak(t, project)
    const { result } = await initialize(version)
    assert.equal(result.protocolVersion, version)
    assert.equal(result.serverInfo.name, 'cpu-prof')
    write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    const answer = await request(1, 'tools/call', { name: 'runs', arguments: {} })
    assert.match(answer.result.content[0].text, /^2 runs in profiles/)
  }
  const { result } = await speak(t, project).initialize('1999-01-01')
  assert.match(result.protocolVersion, /^20\d\d-\d\d-\d\d$/)
  assert.notEqual(result.protocolVersion, '1999-01-01')
})

test('malformed requests get errors, and the server goes on', async (t) => {
  const { child, ended, initialize, request, write, lines, said } = speak(t, createProject())
  await initialize('2025-06-18')
  write('not json\n{"jsonrpc":"2.0"}\n[]\n\n')
  assert.equal((await request(1, 'no/method', {})).error.code, -32601)
  for (const [id, params] of /** @type {[number, any][]} */ ([
    [2, { name: 'absent', arguments: {} }],
    [3, { name: 'hotspots', arguments: { by: 'nothing' } }],
    [4, { name: 'hotspots', arguments: { top: '5' } }],
    [5, { name: 'hotspots', arguments: { unknown: 1 } }],
    [6, { name: 'function', arguments: {} }],
    [7, { name: 'record', arguments: { command: [] } }],
    [8, { name: 'record', arguments: { command: 'node' } }],
    [9, { name: 'record', arguments: { command: [''] } }],
    [10, { name: 'hotspots', arguments: { maxTokens: 1e9 } }],
    [11, { name: 'hotspots', arguments: { run: 'x'.repeat(5000) } }],
    [12, { name: 'constructor', arguments: {} }],
  ])) {
    const { result, error } = await request(id, 'tools/call', params)
    assert.ok(error !== undefined || result.isError === true, `${id}`)
  }
  const good = await request(20, 'tools/call', { name: 'runs', arguments: {} })
  assert.equal(good.result.structuredContent.count, 2)
  // stdout has messages only; what was wrong is on stderr.
  for (const line of lines) assert.equal(JSON.parse(line).jsonrpc, '2.0')
  child.stdin.end()
  await ended
  assert.match(said.stderr, /^cpu-prof: /m)
})

test('a message without an end does not grow without end', async (t) => {
  const { child, initialize, write, ended, said } = speak(t, createProject())
  await initialize('2025-06-18')
  // The server closes the pipe before it has read all.
  child.stdin.on('error', () => {})
  for (let i = 0; i < 12; i++) write('x'.repeat(1 << 20))
  await ended
  assert.match(said.stderr, /exceeded maximum size/)
})

test('the server ends with its client', async (t) => {
  const { child, initialize, ended } = speak(t, createProject())
  await initialize('2025-06-18')
  child.stdin.end()
  assert.deepEqual(await ended, { code: 0, signal: null })
})

test('the program of the package is the same server', () => {
  const bin = path.join(__dirname, '..', '..', 'bin', 'cpu-prof-mcp.js')
  const run = (/** @type {string[]} */ ...args) =>
    spawnSync(process.execPath, [bin, ...args], { env: cleanEnv(), encoding: 'utf8', input: '' })
  // Without a client, the server ends at once.
  const { status, stdout, stderr } = run('--root', '.')
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
  assert.match(run('--help').stdout, /--root <folder>/)
  assert.equal(run('--rot').status, 2)
})

test('a root that is no folder is refused', async () => {
  for (const root of ['absent', __filename]) {
    const { code, stdout, stderr } = await cli(['mcp', '--root', root])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /folder with --root/)
  }
})
