'use strict'

// What else is in a process: coverage, another profiler that reads labels, another allocator, and a kernel that
// refuses system calls.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { assertLabels } = require('../helpers/labelled.js')
const { run, preloadable, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const {
  isInspector,
  NEEDS_TO_READ_NOTHING,
  NEEDS_TO_SHARE_THE_SIGNAL,
} = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

const [MAJOR] = process.versions.node.split('.').map(Number)
const LINUX = process.platform !== 'linux' && 'labels are recorded on Linux'
const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const PPROF = path.join(PACKAGE, 'node_modules', '@datadog', 'pprof')
const REFUSE = path.join(PACKAGE, 'target', 'debug', 'examples', 'librefused_calls.so')

/** Where Debian, Fedora and Alpine have jemalloc. `JEMALLOC` names another place. */
const JEMALLOC = [
  ...(process.env.JEMALLOC ? [process.env.JEMALLOC] : []),
  ...['x86_64-linux-gnu/', 'aarch64-linux-gnu/', ''].map((at) => `/usr/lib/${at}libjemalloc.so.2`),
  '/usr/lib64/libjemalloc.so.2',
].find((file) => fs.existsSync(file))

/** Works in the main thread and in a worker, each with a label. */
const LABELLED = `
  const { Worker, isMainThread } = require('node:worker_threads')
  const { label } = require(${JSON.stringify(PACKAGE)})
  const { spin } = require(${SPIN})
  function allocate() {
    return Array.from({ length: 300 }, (_, i) => [Buffer.alloc(50_000), JSON.parse('{"a":[' + i + ']}')])
  }
  function work() { return [allocate(), spin(300), allocate()].length }
  label({ part: isMainThread ? 'main' : 'worker' }, work)
  if (isMainThread) new Worker(__filename).on('exit', (code) => console.log('worker ended with', code))`

/** @param {string} categories */
const needsV8 = (categories) =>
  isInspector && categories !== 'cpu' && 'the inspector source has no native frames'

/** @param {string} source */
function program(source) {
  const file = path.join(temporaryDirectory(), 'main.js')
  fs.writeFileSync(file, source)
  return file
}

/** Checks the labels of both threads of {@link LABELLED}. @param {any[]} traces */
function assertBothLabelled(traces) {
  const threads = traces.filter(({ tid }) => tid < 2)
  assert.deepEqual(
    threads.map(({ tid, ended }) => [tid, ended]),
    [
      [0, true],
      [1, true],
    ],
  )
  for (const [at, trace] of threads.entries()) {
    assertSeen(trace, 'work')
    if (LINUX === false && !isInspector)
      assertLabels(trace, 'work', { part: ['main', 'worker'][at] })
  }
}

test('NODE_V8_COVERAGE counts the same calls beside a recording, in both threads', async () => {
  const file = program(`
    const { Worker, isMainThread } = require('node:worker_threads')
    const { spin } = require(${SPIN})
    function seven() { return 7 }
    function never() { return 8 }
    for (let i = 0; i < 7; i++) seven()
    spin(200)
    if (isMainThread) new Worker(__filename).on('exit', () => console.log('done'))`)
  const counts = (/** @type {string} */ folder) =>
    fs.readdirSync(folder).map((name) => {
      const { result } = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'))
      const own = result.find((/** @type {any} */ { url }) => url.endsWith('/main.js'))
      const of = (/** @type {string} */ wanted) =>
        own.functions.find((/** @type {any} */ { functionName }) => functionName === wanted)
      return [of('seven').ranges[0].count, of('never').ranges[0].count]
    })
  const cwd = temporaryDirectory()
  const env = { NODE_V8_COVERAGE: path.join(cwd, 'coverage') }
  const { traces, stdout, complaint } = await runUnharmed([file], { cwd, env })
  assert.equal(stdout, 'done\n')
  assert.equal(complaint, '')
  // Two files of the run without the profiler, and two of that with it.
  const expected = [7, 0]
  assert.deepEqual(counts(env.NODE_V8_COVERAGE), [expected, expected, expected, expected])
  assert.deepEqual(
    traces.map(({ tid, ended }) => [tid, ended]),
    [
      [0, true],
      [1, true],
    ],
  )
  for (const trace of traces) assertSeen(trace, 'spin')
})

/** Ours starts with `a` and stops with `A`, the other one with `b` and `B`. */
const ORDERS = ['abAB', 'abBA', 'baAB', 'baBA', 'aAbB', 'bBaA', 'abAaABb', 'abBbAB', 'baABaA']

function skipBesidePprof() {
  try {
    require(PPROF)
    return LINUX
  } catch {
    return '@datadog/pprof has no binary for this Node'
  }
}

/** The ways in which the other profiler finds its own labels. From Node 22 on it reads them as ours does. */
for (const settings of [{ withContexts: true }, { withContexts: true, useCPED: true }]) {
  const skip =
    skipBesidePprof() ||
    NEEDS_TO_SHARE_THE_SIGNAL ||
    ('useCPED' in settings && MAJOR < 22 && 'Node has no such map')
  const kind = Object.keys(settings).join(', ')
  test(`two profilers that read labels, in each order (${kind})`, { skip }, async () => {
    for (const order of ORDERS) {
      const source = `
        const prof = require(${JSON.stringify(PACKAGE)})
        const { spin } = require(${SPIN})
        const { time } = require(${JSON.stringify(PPROF)})
        const theirs = []
        const settings = { durationMillis: 60_000, intervalMicros: 1000, ...${JSON.stringify(settings)} }
        const steps = {
          a: () => prof.start(),
          A: () => prof.stop(),
          b: () => time.start(settings),
          B: () => theirs.push(time.stop().stringTable.strings.includes('work')),
        }
        function work() { return spin(100) }
        prof.label({ a: 1 }, () => { for (const step of '${order}') { steps[step](); work() } })
        console.log(JSON.stringify(theirs))`
      const { code, stdout, stderr, traces } = await run(['-e', source], { preload: null })
      assert.equal(code, 0, `${order}: ${stderr}`)
      assert.ok(!JSON.parse(stdout).includes(false), `${order}: ${stdout}`)
      assert.match(stderr, /^(cpu-prof: labels [^\n]* without them\n)?$/, order)
      assert.equal(traces.length, order.split('a').length - 1)
      for (const trace of traces) {
        assertSeen(trace, 'work')
        // No label, or the right one.
        const labelled = trace.samples.filter(({ labels }) => labels !== undefined)
        for (const { labels } of labelled) assert.deepEqual(labels, { a: '1' }, order)
        assert.ok(stderr !== '' || labelled.length > 0, order)
      }
    }
  })
}

for (const categories of ['cpu', 'cpu,native']) {
  const skip =
    LINUX ||
    needsV8(categories) ||
    (JEMALLOC === undefined && 'this machine has no jemalloc (JEMALLOC names a file)')
  test(`jemalloc instead of the system's allocator (${categories})`, { skip }, async () => {
    const env = { LD_PRELOAD: preloadable(String(JEMALLOC)), CPU_PROF_CATEGORIES: categories }
    const { traces, complaint } = await runUnharmed([program(LABELLED)], { env })
    assert.equal(complaint, '')
    assertBothLabelled(traces)
  })
}

const SANDBOXES = [
  { refused: 'timer_create,process_vm_readv', categories: 'cpu', says: /^$/ },
  { refused: 'process_vm_readv', categories: 'cpu,native', says: /^$/ },
  {
    refused: 'timer_create,process_vm_readv',
    categories: 'cpu,native',
    says: /^cpu-prof: native threads .* \(a sandbox can forbid timer_create\); /,
  },
]
for (const { refused, categories, says } of SANDBOXES) {
  const skip = LINUX || needsV8(categories) || NEEDS_TO_READ_NOTHING
  test(`a kernel that refuses ${refused} (${categories})`, { skip }, async () => {
    const before = program(`
      if (require('node:worker_threads').isMainThread) {
        process.dlopen({ exports: {} }, ${JSON.stringify(REFUSE)})
      }`)
    const { traces, complaint } = await runUnharmed([program(LABELLED)], {
      before: ['--require', before],
      env: { REFUSED: refused, CPU_PROF_CATEGORIES: categories },
    })
    assert.match(complaint, says)
    assertBothLabelled(traces)
  })
}
