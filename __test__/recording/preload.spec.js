'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { targetName } = require('../../lib/addon.js')
const { fileName } = require('../../scripts/targets.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { assertSeen } = require('../helpers/work.js')
const { NEEDS_OTHER_ADDONS_UNNAMED } = require('../helpers/source.js')

const SPIN = path.join(FIXTURES, 'spin.js')
const ADDON = fileName('cpu-prof', targetName())
const REGISTER = path.join(PACKAGE, 'register.js')

/** Checks that the trace is finished and contains spin(). @param {any} trace */
function assertSpinRecorded(trace) {
  assert.ok(trace.ended)
  assertSeen(trace, 'spin')
}

/** @type {ReturnType<typeof run> | undefined} */
let recording

/** Records ending.js, once. */
const recorded = () => {
  recording ??= run(['ending.js'])
  return recording
}

/** Writes a program that starts two workers, which end at once. */
function workersProgram() {
  const file = path.join(temporaryDirectory(), 'two.js')
  fs.writeFileSync(
    file,
    `const { Worker, isMainThread } = require('node:worker_threads')
    if (isMainThread) for (let i = 0; i < 2; i++) new Worker(__filename)`,
  )
  return file
}

test('--require records the main thread', async () => {
  const { traces, code, pid } = await recorded()
  assert.equal(code, 0)
  assert.equal(traces.length, 1)
  assertSpinRecorded(traces[0])
  assert.equal(traces[0].tid, 0)
  assert.match(
    path.basename(traces[0].file),
    new RegExp(`^CPU\\.\\d{8}\\.\\d{6}\\.${pid}\\.0\\.001\\.trace\\.json$`),
  )
  assert.equal(fs.statSync(traces[0].file).mode & 0o777, 0o600)
})

test('frames have the URL, line and column of their function', async () => {
  const { traces } = await recorded()
  const spin = [...traces[0].nodes.values()].find((node) => node.callFrame.functionName === 'spin')
  assert.equal(spin.callFrame.url, pathToFileURL(SPIN).href)
  const lines = fs.readFileSync(SPIN, 'utf8').split('\n')
  const text = lines[spin.callFrame.lineNumber].slice(spin.callFrame.columnNumber)
  assert.match(text, /^\(ms\) \{/)
})

test("time in another addon's functions is not shown under a function name of this addon", {
  skip: NEEDS_OTHER_ADDONS_UNNAMED,
}, async () => {
  // V8 does not distinguish the functions of Node-API addons, so this addon can stand for another.
  const program = `
    const addon = require(${JSON.stringify(path.join(PACKAGE, ADDON))})
    const workedMs = () => process.cpuUsage().user / 1000
    const enough = workedMs() + 300
    while (workedMs() < enough) for (let i = 0; i < 1e4; i++) addon.cpuProfIsRecording()`
  const file = path.join(temporaryDirectory(), 'calls.js')
  fs.writeFileSync(file, program)
  const { traces } = await run([file])
  assertSeen(traces[0], '(native addon)')
  const own = new Set(Object.keys(require(path.join(PACKAGE, ADDON))))
  const names = [...traces[0].nodes.values()]
    .filter(({ callFrame }) => callFrame.url === '')
    .map(({ callFrame }) => callFrame.functionName)
  assert.deepEqual(
    names.filter((name) => own.has(name)),
    [],
  )
})

test('ES modules are recorded with --require and with --import', async (t) => {
  const file = path.join(temporaryDirectory(), 'main.mjs')
  fs.writeFileSync(file, `import spin from ${JSON.stringify(SPIN)}\nspin.spin()\n`)
  assertSpinRecorded((await run([file])).traces[0])
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major === 18 && minor < 18) return t.skip('this Node has no --import')
  const imported = await run([file], { preload: ['--import', REGISTER] })
  assert.equal(imported.traces.length, 1, imported.stderr)
  assertSpinRecorded(imported.traces[0])
})

test('--import records workers too', async () => {
  const { traces } = await run([workersProgram()], { preload: ['--import', REGISTER] })
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1, 2],
  )
})

test('-e is recorded', async () => {
  const { traces, pid } = await run(['-e', `require(${JSON.stringify(SPIN)}).spin()`, 'word'])
  assertSpinRecorded(traces[0])
  assert.equal(traces[0].processLabel, `node: -e word (pid ${pid})`)
})

test('standard input is recorded', async () => {
  const { traces, code } = await run(['-'])
  assert.equal(code, 0)
  assert.equal(traces.length, 1)
})

test('a program that requires register.js is recorded from then on', async () => {
  const file = path.join(temporaryDirectory(), 'main.js')
  fs.writeFileSync(
    file,
    `require(${JSON.stringify(REGISTER)})\nrequire(${JSON.stringify(SPIN)}).spin()`,
  )
  const { traces } = await run([file], { preload: null })
  assert.equal(traces.length, 1)
  assertSpinRecorded(traces[0])
})

test('requiring the package in ordinary code does not start a recording', async () => {
  const code = `process.stdout.write(String(require(${JSON.stringify(PACKAGE)}).isRecording()))`
  const { files, stdout } = await run(['-e', code], { preload: null })
  assert.deepEqual(files, [])
  assert.equal(stdout, 'false')
  const recorded = await run(['-e', code])
  assert.equal(recorded.stdout, 'true')
  assert.equal(recorded.files.length, 1)
})

test('loading the package twice in one thread records once', async () => {
  const twice = await run(['-e', '0'], {
    preload: ['--require', PACKAGE, '--require', REGISTER, '--require', PACKAGE],
  })
  assert.equal(twice.traces.length, 1)
})

test('a second module registry in the thread, as in jest, records once', async () => {
  // A second registry has its own process object and module cache, so only the addon can know that
  // the thread is already recorded.
  const source = `
    const addon = { exports: {} }
    process.dlopen(addon, require.resolve(${JSON.stringify(path.join(PACKAGE, ADDON))}))
    const { execArgv, version, argv } = process
    const thread = { threadId: 0, name: '', execArgv, version, lib: '' }
    const done = addon.exports.cpuProfRecord(thread, argv)
    process.stdout.write(String(done && addon.exports.cpuProfIsRecording()))
  `
  const { traces, stdout } = await run(['-e', source])
  assert.equal(stdout, 'true')
  assert.equal(traces.length, 1)
})

test('two copies of the package record once, in every thread', async () => {
  const copy = temporaryDirectory()
  for (const file of fs.readdirSync(PACKAGE)) {
    if (/\.(js|json|node)$/.test(file)) {
      fs.copyFileSync(path.join(PACKAGE, file), path.join(copy, file))
    }
  }
  fs.cpSync(path.join(PACKAGE, 'lib'), path.join(copy, 'lib'), { recursive: true })
  const { traces } = await run([workersProgram()], {
    preload: ['--require', PACKAGE, '--require', copy],
  })
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1, 2],
  )
})

test('an addon that cannot be loaded: one line on stderr, and the program runs', async () => {
  const broken = temporaryDirectory()
  for (const file of ['index.js', 'lib', 'package.json']) {
    fs.cpSync(path.join(PACKAGE, file), path.join(broken, file), { recursive: true })
  }
  const { code, stderr, files } = await run(['ending.js', 'exit', '10'], {
    preload: ['--require', broken],
  })
  assert.equal(code, 3)
  assert.match(stderr, pattern`^${messages.notProfiling}the addon .* is not built: .*\n$`)
  assert.deepEqual(files, [])
})
