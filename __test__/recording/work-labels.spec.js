'use strict'

// Labels of work: each sample has the labels of its asynchronous context.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { assertLabels, countLabels, innermost } = require('../helpers/labelled.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT, NEEDS_TO_SHARE_THE_SIGNAL } = require('../helpers/source.js')

const [MAJOR] = process.versions.node.split('.').map(Number)

const options = {
  skip: process.platform !== 'linux' && 'labels are recorded on Linux',
}

/** The files of the package that label. */
const OWN = /\/lib\/labels(\/\w+)?\.js$/

/** How Node keeps the asynchronous context: by flag, the one that the version does not do by itself. */
const FLAGS = { 22: '--experimental-async-context-frame', 24: '--no-async-context-frame' }
const KINDS = [
  [],
  ...(FLAGS[/** @type {22 | 24} */ (MAJOR)] ? [[FLAGS[/** @type {22 | 24} */ (MAJOR)]]] : []),
]

/** A profiler that has a handler of the sampling signal, too. */
const PPROF = path.join(PACKAGE, 'node_modules', '@datadog', 'pprof')

function skipBesidePprof() {
  try {
    require(PPROF)
    return options.skip
  } catch {
    return '@datadog/pprof has no binary for this Node'
  }
}

const START = `
  const prof = require(${JSON.stringify(PACKAGE)})
  const { label, setLabels } = prof
  const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))});
  const MS = 400
`

/**
 * Runs a program, and returns its traces and what it prints as JSON.
 * @param {string} source @param {Parameters<typeof run>[1] & { warns?: RegExp }} [given]
 */
async function runProgram(source, { warns = /^$/, ...given } = {}) {
  const result = await run(['-e', `${START} ${source}`], { preload: null, ...given })
  assert.match(result.stderr, warns)
  assert.equal(result.code, 0)
  return { ...result, output: result.stdout === '' ? undefined : JSON.parse(result.stdout) }
}

for (const [flags, args] of [...KINDS.map((flags) => [flags, []]), [[], ['8']]]) {
  const kind = `${flags.join(' ') || 'as Node does'}, ${args[0] ?? 'no'} other storages`
  test(`a function has the labels that are known to be its own (${kind})`, options, async () => {
    const { stderr, code, traces } = await run([...flags, 'labelled.js', '5000', '20', ...args], {
      env: { CPU_PROF_INTERVAL: '500' },
    })
    assert.equal(stderr, '')
    assert.equal(code, 0)
    const [trace] = traces
    assert.equal(countLabels(trace).wrong, 0)
    // V8 takes samples without a signal while it compiles the functions, the last of them within two seconds.
    const { right, none } = countLabels(trace, trace.samples.length / 2)
    assert.ok(right >= 100 && right >= 0.99 * (right + none), `${right} of ${right + none}`)
    // The functions of label() and of its hooks are not the program's.
    const ours = [...trace.nodes.values()].filter(({ callFrame }) => OWN.test(callFrame.url))
    assert.deepEqual(ours, [])
  })
}

test('labels add up, and end with the function or the context', options, async () => {
  const { output, traces } = await runProgram(`
    function outer() { return spin(MS) }
    function inner() { return spin(MS) }
    function again() { return spin(MS) }
    function later() { return spin(MS) }
    function rest() { return spin(MS) }
    function only() { return spin(MS) }
    function none() { return spin(MS) }
    function without() { return spin(MS) }
    prof.start()
    const results = []
    const done = label({ route: '/a', tenant: 't1' }, async () => {
      outer()
      results.push(label({ route: '/b', size: 12, cached: true }, () => { inner(); return 'value' }))
      again()
      await new Promise((resolve) => setTimeout(resolve, 1))
      later()
      setLabels({ user: 'u', route: undefined })
      rest()
      label({ route: '', tenant: '' }, only)
      label({ route: '', tenant: '', user: '' }, none)
      return 'promised'
    })
    without()
    done.then((value) => {
      results.push(value)
      prof.stop()
      console.log(JSON.stringify(results))
    })
  `)
  assert.deepEqual(output, ['value', 'promised'])
  const [trace] = traces
  const outer = { route: '/a', tenant: 't1' }
  assertLabels(trace, 'outer', outer)
  assertLabels(trace, 'inner', { cached: 'true', route: '/b', size: '12', tenant: 't1' })
  assertLabels(trace, 'again', outer)
  assertLabels(trace, 'later', outer)
  assertLabels(trace, 'rest', { ...outer, user: 'u' })
  assertLabels(trace, 'only', { user: 'u' })
  assertLabels(trace, 'none', undefined)
  assertLabels(trace, 'without', undefined)
})

test('labels of the whole program are not those of its waits', options, async () => {
  const { traces } = await runProgram(`
    function work() { return spin(MS) }
    prof.start()
    setLabels({ all: true })
    let rounds = 0
    const timer = setInterval(() => {
      label({ round: rounds }, () => {})
      work()
      if (++rounds < 3) return
      clearInterval(timer)
      prof.stop()
    }, 100)
  `)
  const [trace] = traces
  assertLabels(trace, 'work', { all: 'true' })
  const waits = trace.samples.filter(({ node }) => node.callFrame.functionName === '(idle)')
  assert.ok(waits.length > 0)
  assert.ok(waits.every(({ labels }) => labels === undefined))
})

test('work that began before the recording has its labels', options, async () => {
  const { traces } = await runProgram(`
    function before() { return spin(MS) }
    function after() { return spin(MS) }
    label({ n: 1 }, async () => {
      await null
      prof.start()
      before()
      await label({ n: 2 }, async () => { await null; after() })
      prof.stop()
      prof.start()
      after()
      prof.stop()
    })
  `)
  assert.equal(traces.length, 2)
  // Without frames, labels are seen from the next label on.
  const hasFrames = MAJOR >= 24
  if (hasFrames) assertLabels(traces[0], 'before', { n: '1' })
  assertLabels(traces[0], 'after', { n: '2' })
  if (hasFrames) assertLabels(traces[1], 'after', { n: '1' })
})

test('workers have labels of their own', options, async () => {
  const { traces } = await runProgram(
    `
    const { Worker } = require('node:worker_threads')
    const code = ${JSON.stringify(`${START}
      function unlabelled() { return spin(MS) }
      function labelled() { return spin(MS) }
      require('node:worker_threads').parentPort.once('message', () => {
        unlabelled()
        label({ in: 'worker' }, labelled)
      })
    `)}
    function main() { return spin(MS) }
    label({ in: 'main' }, () => {
      new Worker(code, { eval: true }).postMessage('')
      main()
    })`,
    { preload: ['--require', PACKAGE] },
  )
  const [main, worker] = traces
  assertLabels(main, 'main', { in: 'main' })
  assertLabels(worker, 'unlabelled', undefined)
  assertLabels(worker, 'labelled', { in: 'worker' })
})

test('a .cpuprofile has the labels', options, async () => {
  const { cwd } = await runProgram(`
    function work() { return spin(MS) }
    prof.start({ format: 'cpuprofile' })
    label({ route: '/a' }, work)
    prof.stop()
  `)
  const [file] = fs.readdirSync(cwd).filter((name) => name.endsWith('.cpuprofile'))
  const profile = readCpuProfile(path.join(cwd, file))
  assert.equal(profile.labels.length, profile.samples.length)
  const ids = new Set(profile.labels.filter((/** @type {number} */ id) => id !== 0))
  assert.deepEqual(Object.keys(profile.labelSets), [...ids].map(String))
  assert.deepEqual(Object.values(profile.labelSets), [{ route: '/a' }])
})

test('each file of a recording in segments has the label sets it needs', {
  skip: options.skip || NEEDS_INTERRUPT,
}, async () => {
  const { traces } = await runProgram(`
    function work() { return spin(200) }
    prof.start({ maxSize: '64K', flushInterval: 50, interval: 100 })
    for (let i = 0; i < 20; i++) label({ route: '/a' }, work)
    prof.stop()
  `)
  assert.ok(traces.length > 1)
  // readTrace() fails for a sample whose set the file lacks.
  for (const trace of traces.slice(0, -1)) {
    assert.ok(trace.samples.some(({ labels }) => labels?.route === '/a'))
  }
})

test('a set that is used again and again stays, whatever comes between', options, async () => {
  const { traces } = await runProgram(
    `function steady() { return spin(MS) }
    const empty = () => {}
    prof.start()
    for (let i = 0; i < 200_000; i++) {
      label({ n: 'new ' + i }, empty)
      if (i % 10 === 0) label({ n: 'steady' }, empty)
    }
    label({ n: 'steady' }, steady)
    prof.stop()`,
    // Some of the many sets are sampled, and forgotten before the writer asks for them.
    { warns: pattern`^(${messages.manyLabels}.*\n)?$` },
  )
  assertLabels(traces[0], 'steady', { n: 'steady' })
})

test('too long, too many and wrong labels', options, async () => {
  const { output, traces } = await runProgram(
    `
    function long() { return spin(MS) }
    function many() { return spin(MS) }
    function held() { return spin(MS) }
    function forgotten() { return spin(MS) }
    function known() { return spin(MS) }
    prof.start()
    label({ n: 'known' }, () => {})
    const later = async () => { await null; forgotten() }
    const idle = [1, 2, 3].map((number) => label({ n: 'idle ' + number }, later))
    label({ n: 'held' }, () => {
      const empty = () => {}
      for (let i = 0; i < 200_000; i++) label({ n: 'new ' + i }, empty)
      held()
    })
    label({ n: 'known' }, known)
    // After the many sets above: the writer asks for the set of a sample up to a flush later.
    for (let i = 0; i < 20_000; i++) label({ n: i }, () => {})
    label({ n: 20_000 }, many)
    const set = Object.fromEntries(Array.from({ length: 20 }, (_, i) => ['k' + (10 + i), i]))
    label({ ['x'.repeat(100)]: 'y'.repeat(1000), ...set }, long)
    Promise.all(idle).then(() => prof.stop())
    const errors = []
    for (const wrong of [{ a: null }, { a: {} }, { a: 1n }, null, 'a', [1]]) {
      try { label(wrong, () => errors.push('called')) } catch (error) { errors.push(error.name) }
      try { setLabels(wrong) } catch (error) { errors.push(error.name) }
    }
    try { label({ a: 1 }) } catch (error) { errors.push(error.message) }
    try { label({ a: 1 }, () => { throw new Error('own') }) } catch (error) { errors.push(error.message) }
    console.log(JSON.stringify(errors))
  `,
    { warns: pattern`^${messages.manyLabels}` },
  )
  assert.deepEqual(output, [
    ...Array(12).fill('TypeError'),
    `cpu-prof: label() ${messages.takesFunction} undefined`,
    'own',
  ])
  const [trace] = traces
  const set = trace.samples.find(
    ({ node, labels }) => labels && innermost(trace, node, /^long$/),
  )?.labels
  assert.equal(Object.keys(/** @type {object} */ (set)).length, 16)
  assertLabels(trace, 'many', { n: '20000' })
  assertLabels(trace, 'held', { n: 'held' })
  // A set that a sample had before is in the trace, and needs no memory. Those three had one at most.
  const inForgotten = trace.samples.filter(
    ({ node, labels }) => labels && innermost(trace, node, /^forgotten$/),
  )
  assert.ok(inForgotten.some(({ labels }) => labels?.['(too many)'] === 'true'))
  for (const { labels } of inForgotten) {
    assert.match(JSON.stringify(labels), /^\{"(n":"idle \d|\(too many\)":"true)"\}$/)
  }
  assertLabels(trace, 'known', { n: 'known' })
})

test('a program without labels pays nothing', options, async () => {
  const { stdout } = await run(
    [
      '-p',
      `JSON.stringify([
        Object.keys(require.cache).filter((file) => /lib.labels/.test(file)),
        process.moduleLoadList.filter((name) => /async_local_storage|async_context_frame$/.test(name)).length,
      ])`,
    ],
    { env: { CPU_PROF_DIR: '.' } },
  )
  const plain = await run(
    [
      '-p',
      `process.moduleLoadList.filter((name) => /async_local_storage|async_context_frame$/.test(name)).length`,
    ],
    { preload: null },
  )
  assert.deepEqual(JSON.parse(stdout), [[], Number(plain.stdout)])
})

test('the first label does not make later contexts slower', options, async () => {
  const { output } = await runProgram(`
    const storage = new (require('node:async_hooks').AsyncLocalStorage)()
    /** CPU time of a block of calls: the median of several. */
    const time = () => {
      const blocks = Array.from({ length: 9 }, () => {
        const before = process.cpuUsage().user
        for (let i = 0; i < 20_000; i++) storage.run(i, () => {})
        return process.cpuUsage().user - before
      })
      return blocks.sort((a, b) => a - b)[4]
    }
    const before = time()
    label({ a: 1 }, () => {})
    console.log(JSON.stringify([before, time()]))
  `)
  const [before, after] = output
  // With the hundred storages of the proof in the context, this was forty times as long.
  assert.ok(after < 10 * before + 10_000, `${before} and ${after} µs`)
})

test('another profiler of the process is left alone', {
  skip: skipBesidePprof() || NEEDS_TO_SHARE_THE_SIGNAL,
}, async () => {
  const { code, stderr, traces } = await run(
    [
      '-e',
      `${START}
      const { time } = require(${JSON.stringify(PPROF)})
      const settings = { durationMillis: 60_000, intervalMicros: 1000, withContexts: true }
      function first() { return spin(MS) }
      function second() { return spin(MS) }
      const record = (fn) => {
        prof.start()
        label({ a: 1 }, fn)
        prof.stop()
      }
      record(first)
      time.start(settings)
      record(second)
      record(second)
      time.stop()
      record(first)`,
    ],
    { preload: null },
  )
  assert.equal(code, 0)
  assert.match(stderr, /^cpu-prof: labels are not recorded: [^\n]* without them\n$/)
  assertLabels(traces[0], 'first', { a: '1' })
  for (const trace of traces.slice(1, 3)) assertLabels(trace, 'second', undefined)
  assertLabels(traces[3], 'first', { a: '1' })
})

test('label() works where nothing can be recorded', async () => {
  const { output } = await runProgram(`
    const { AsyncLocalStorage } = require('node:async_hooks')
    const results = [label({ a: 1 }, () => 1)]
    setLabels({ a: 2 })
    console.log(JSON.stringify(results))
  `)
  assert.deepEqual(output, [1])
})
