'use strict'

// What a recorder writes for the label of a recording.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { run, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

/**
 * Runs a program that has `prof` and `record(options)`, and prints its files.
 * @param {string} source @param {Parameters<typeof run>[1]} [options]
 */
async function record(source, options) {
  const program = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
    const files = []
    const record = (options) => {
      prof.start({ interval: 200, ...options })
      spin(10)
      files.push(...prof.stop().files)
    }
    ${source}
    process.on('exit', () => console.log(JSON.stringify(files)))`
  const result = await run(['-e', program], { preload: null, ...options })
  assert.equal(result.stderr, '')
  assert.equal(result.code, 0)
  /** @type {string[]} */
  const files = JSON.parse(result.stdout)
  const traceOf = (/** @type {string} */ file) =>
    result.traces.find((trace) => trace.file === file) ?? assert.fail(`${file} was not read`)
  const names = files.map((file) => path.relative(result.cwd, file))
  return { ...result, files, names, traceOf }
}

/** Returns the name and the label of each thread in a report. @param {string | string[]} inputs */
async function threadsOf(inputs) {
  const { processes } = await report(inputs)
  return processes.flatMap(({ threads }) => threads.map(({ name, label }) => [name, label]))
}

/** Returns the names that a trace gives its thread, without that for DevTools. @param {any} trace */
const namesOf = (trace) =>
  trace.events
    .filter((/** @type {any} */ { name }) => name === 'thread_name')
    .map((/** @type {any} */ { args }) => args.name.replace(/^.* - /s, ''))
    .filter((/** @type {string} */ name) => name !== 'CrRendererMain')

/** Labels, with the file names and the thread names that they give. @type {[string | undefined, string, string][]} */
const LABELS = [
  [' parser: big file ', 'parser-big-file-001', 'main: parser: big file'],
  ['', 'unlabelled-002', 'main'],
  [' \n ', 'unlabelled-003', 'main'],
  ['../../up', 'up-004', 'main: ../../up'],
  ['line\nbreak "\\', 'line-break-005', 'main: line break "\\'],
  ['🚀', 'unlabelled-006', 'main: 🚀'],
  ['x'.repeat(300), `${'x'.repeat(100)}-007`, `main: ${'x'.repeat(79)}…`],
  [undefined, 'unlabelled-008', 'main'],
]
/** @type {ReturnType<typeof record> | undefined} */
let labelled

/** Records with each of {@link LABELS}, with one in both formats, and without a label: once. */
function recordLabels() {
  labelled ??= record(
    `for (const label of ${JSON.stringify(LABELS.map(([label]) => label ?? null))}) {
      record({ label: label ?? undefined, name: '%L-%N' })
    }
    record({ label: 'both', name: '%L.%P.%T', format: 'trace,cpuprofile' })
    record({ name: '%L' })`,
  )
  return labelled
}

test('a label names the file, the thread and the metadata', async () => {
  const { files, traceOf, pid } = await recordLabels()
  const trace = traceOf(files[0])
  assert.equal(trace.metadata.recordingLabel, 'parser: big file')
  assert.deepEqual(namesOf(trace), ['main', 'main: parser: big file'])
  assert.equal(trace.processLabel, `node: -e [parser: big file] (pid ${pid})`)
  assert.deepEqual(await threadsOf(files[0]), [['main: parser: big file', 'parser: big file']])
  const [{ command, name }] = (await report(files[0])).processes
  assert.deepEqual([command, name], ['node -e', 'node'])
})

test('an empty label is none, and a strange one is safe in names', async () => {
  const { files, names, traces, traceOf } = await recordLabels()
  const expected = LABELS.map(([, name]) => `${name}.trace.json`)
  assert.deepEqual(names.slice(0, LABELS.length), expected)
  assert.equal(names.at(-1), 'unlabelled.trace.json')
  assert.equal(traces.length, LABELS.length + 2)
  for (const [index, [label, , thread]] of LABELS.entries()) {
    const trace = traceOf(files[index])
    assert.equal(namesOf(trace).at(-1), thread)
    assert.equal(trace.metadata.recordingLabel, label?.trim() || undefined)
    assert.equal((await threadsOf(files[index]))[0][0], thread)
  }
})

test('a .cpuprofile has the label too', async () => {
  const { files, names, pid } = await recordLabels()
  const both = names.slice(LABELS.length, -1)
  assert.deepEqual(both, [`both.${pid}.0.trace.json`, `both.${pid}.0.cpuprofile`])
  const inputs = files.slice(LABELS.length, -1)
  assert.deepEqual(await threadsOf(inputs), [['main: both', 'both']])
  assert.deepEqual(await threadsOf(inputs[1]), [['main: both', 'both']])
})

test('the variable of the name has the placeholder too, and there is none for the label', async () => {
  const { names } = await record(`record({ label: 'a b' })`, {
    env: { CPU_PROF_NAME: 'sub/%L', CPU_PROF_LABEL: 'other' },
  })
  assert.deepEqual(names, ['sub/a-b.trace.json'])
})

test('the workers and the segments of a recording have its label', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const { files, traces } = await record(`
    const { Worker } = require('node:worker_threads')
    prof.start({ label: 'pool', name: '%L.%T.%N', keep: '1s', flushInterval: 50 })
    const source = \`require(${JSON.stringify(JSON.stringify(path.join(FIXTURES, 'spin.js'))).slice(1, -1)}).spin(1000)\`
    const worker = new Worker(source, { eval: true, name: 'cruncher' })
    worker.on('exit', () => files.push(...prof.stop().files))`)
  const workers = traces.filter(({ tid }) => tid === 1)
  assert.ok(workers.length > 1, `${workers.length} segments`)
  for (const trace of traces) {
    assert.match(path.basename(trace.file), /^pool\.\d\.\d{3}\.trace\.json$/)
    assert.equal(trace.metadata.recordingLabel, 'pool')
    if (trace.tid === 1) assert.equal(namesOf(trace).at(-1), 'worker 1: cruncher: pool')
  }
  assert.deepEqual(await threadsOf(files), [
    ['main: pool', 'pool'],
    ['worker 1: cruncher: pool', 'pool'],
  ])
})
