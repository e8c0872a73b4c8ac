'use strict'

// What `cpu-prof check` says of files of this and of other tools.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const test = require('node:test')
const { check, convert, merge } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { filesIn, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/files.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const FOREIGN = path.join(FIXTURES, 'foreign')

/** @type {Span[]} */
const SPANS = [
  ['(program)', 20],
  ['main main.js:1 > work work.js:3@5', 300],
  ['(garbage collector)', 30],
  ['main main.js:1 > (anonymous) node:fs:7 > read', 40],
  ['(idle)', 200],
]

test('recordings, their merged trace and Node’s own profiles have no problem', async () => {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  const worker = { tid: 1, script: 'worker.js', start: 1e9 + 50_000 }
  const recordings = [
    writeTrace(at('main.trace.json'), { spans: SPANS, exitCode: 0 }),
    writeTrace(at('worker.trace.json'), { ...worker, spans: SPANS }),
    writeTrace(at('killed.trace.json'), { pid: 8, spans: SPANS, isKilled: true }),
  ]
  const profile = writeProfile(at('main.cpuprofile'), SPANS)
  const merged = at('merged.json.gz')
  await merge(recordings, merged)
  const converted = (await convert(recordings, at('converted.cpuprofile'))).files
  assert.equal(converted.length, 3)
  const ofNode = filesIn(FOREIGN, '.cpuprofile.gz').filter((file) => /\/node-\d/.test(file))
  assert.equal(ofNode.length, 5)

  const inputs = [...recordings, profile, merged, ...converted, ...ofNode]
  const { files, failed } = await check(inputs)
  assert.deepEqual(failed, [])
  assert.deepEqual(
    files.map(({ file }) => file),
    inputs,
  )
  for (const { file, problems, samples, profiles, loads, kind } of files) {
    assert.deepEqual(problems, [], file)
    assert.ok(loads)
    assert.equal(kind, file.includes('.cpuprofile') ? 'cpuprofile' : 'trace', file)
    assert.equal(profiles, file === merged ? 3 : 1, file)
    if (!ofNode.includes(file)) assert.equal(samples, 590 * profiles, file)
    assert.ok(samples > 0, file)
  }
})

test('files of other tools can be loaded', async () => {
  // A folder's `.log` files are not taken for traces.
  const { files, failed } = await check([FOREIGN, ...filesIn(FOREIGN, '.log.gz')])
  assert.deepEqual(failed, [])
  const paths = files.map(({ file }) => file)
  assert.deepEqual(paths.sort(), filesIn(FOREIGN, '.gz'))
  for (const { file, problems, loads } of files)
    assert.ok(loads, `${file} ${JSON.stringify(problems)}`)
})

test('the command lists problems by line and field, and fails for an error or a file that cannot be loaded', async () => {
  const cwd = temporaryDirectory()
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    fs.writeFileSync(path.join(cwd, name), text)
  const good = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'
  const wrong = '{"ph":"Q","name":"a","pid":1,"tid":1,"ts":1}'
  write('good.json', `[${good}]`)
  write('odd.json', `{"traceEvents":[\n${good},\n${Array(9).fill(wrong).join(',\n')}\n]}`)
  write('cut.json', `{"traceEvents":[\n${good},\n{"ph":`)

  const clean = await cli(['check', 'good.json'], { cwd })
  assert.deepEqual([clean.code, clean.stderr], [0, ''])
  assert.equal(
    clean.stdout,
    'good.json: a trace of 1 event, 0 profiles and 0 samples: no problem\n',
  )
  const odd = await cli(['check', 'odd.json'], { cwd })
  assert.equal(odd.code, 1)
  assert.match(odd.stdout, /^odd\.json: a trace of 10 events, .*: 9 errors\n/)
  assert.match(odd.stdout, /\n {2}error {2}line 3 {2}ph {2}'Q' is not a phase\n/)
  assert.match(odd.stdout, /line 7 {2}ph {2}'Q' is not a phase \(and 4 more\)\n$/)
  write('text.json', `[${good.replace('"pid":1', '"pid":"1"')}]`)
  const warned = await cli(['check', 'text.json'], { cwd })
  assert.equal(warned.code, 0)
  assert.match(warned.stdout, /^text\.json: .*: 1 warning\n/)
  const cut = await cli(['check', 'good.json', 'cut.json'], { cwd })
  assert.equal(cut.code, 1)
  assert.match(
    cut.stdout,
    /\ncut\.json: cannot be loaded\n {2}fatal {2}line 3 {2}the file is cut off/,
  )
  const missing = await cli(['check', 'missing.json'], { cwd })
  assert.equal(missing.code, 1)
  assert.match(missing.stdout, /^missing\.json: /)
  const json = await cli(['check', '-', '--json'], { cwd, input: `[${wrong}]` })
  assert.equal(JSON.parse(json.stdout).files[0].problems[0].field, 'ph')
  const empty = await cli(['check', fs.mkdtempSync(path.join(cwd, 'empty-'))], { cwd })
  assert.equal(empty.code, 1)
  assert.match(empty.stderr, /no trace to check/)
  await assert.rejects(check(/** @type {any} */ ([])), /^TypeError: cpu-prof: inputs/)
})

/** A text of `mb` megabytes that repeats a piece. @param {string} piece @param {number} mb */
const repeated = (piece, mb) => piece.repeat((mb * 1e6) / piece.length)

const EVENT = '{"ph":"i","name":"a","pid":1,"tid":1,"ts":1}'
const NODES = '"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"startTime":1,"endTime":2'
/**
 * Texts that a parser turns into many times as much memory, each with its limit in megabytes.
 * @type {Record<string, [string, number]>}
 */
const BOMBS = {
  events: [`[${repeated(`${EVENT},`, 90)}${EVENT}]`, 120],
  lists: [`[${EVENT.replace('}', `,"args":{"x":[${repeated('[],', 60)}[]]}}`)}]`, 300],
  samples: [`{"samples":[${repeated('1,', 90)}1],${NODES}}`, 150],
  nodes: [
    `{"x":[${repeated('{},', 50)}{}],"nodes":[{"callFrame":{}},${repeated('{},', 20)}{}]}`,
    150,
  ],
}

for (const [name, [text, limit]] of Object.entries(BOMBS)) {
  const skip = process.platform === 'linux' ? false : 'the peak of the memory is read from /proc'
  test(`a check of many ${name} in a small file needs little memory`, { skip }, () => {
    const file = path.join(temporaryDirectory(), 'bomb.json.gz')
    fs.writeFileSync(file, zlib.gzipSync(text, { level: 1 }))
    const program = `
      const { check } = require(${JSON.stringify(PACKAGE)})
      check(process.argv[1]).then(({ files: [file] }) => {
        const status = require('node:fs').readFileSync('/proc/self/status', 'utf8')
        const mb = Number.parseInt(status.split('VmHWM:')[1]) / 1e3
        console.log(JSON.stringify({ mb, problems: file.problems.length, kind: file.kind }))
      })`
    const run = spawnSync(process.execPath, ['-e', program, file], { encoding: 'utf8' })
    const { mb, problems, kind } = JSON.parse(run.stdout)
    assert.equal(kind, name === 'events' || name === 'lists' ? 'trace' : 'cpuprofile')
    assert.ok(problems < 20, `${problems} problems`)
    assert.ok(mb < limit, `${mb} MB`)
  })
}

test('a fault of the text is told before all others', async () => {
  const cases = {
    'utf8.json': [Buffer.from('{"traceEvents":[\n{"name":"\xff"}]}', 'latin1'), /line 2|UTF-8/],
    'cut.json.gz': [zlib.gzipSync(`[${EVENT}]`).subarray(0, -12), /cut off/],
    'more.json': [`[${EVENT}] 7`, /not JSON/],
  }
  const dir = temporaryDirectory()
  for (const [name, [text, expected]] of Object.entries(cases)) {
    const file = path.join(dir, name)
    fs.writeFileSync(file, /** @type {any} */ (text))
    const { problems, loads } = (await check(file)).files[0]
    assert.equal(loads, false, name)
    assert.match(problems[0].message, /** @type {RegExp} */ (expected))
    fs.rmSync(file)
  }
})
