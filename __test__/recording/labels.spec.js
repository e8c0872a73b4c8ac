'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')

/**
 * Runs a program that has `prof`, `spin(ms)` and `record(options, ms)`, and prints its files.
 * @param {string} source @param {Parameters<typeof run>[1]} [options]
 */
async function record(source, options) {
  const program = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
    const files = []
    const record = (options, ms = 60) => {
      prof.start({ interval: 200, ...options })
      spin(ms)
      files.push(...prof.stop().files)
    }
    ${source}
    process.on('exit', () => console.log(JSON.stringify(files)))`
  const result = await run(['-e', program], { preload: null, ...options })
  assert.equal(result.stderr, '')
  assert.equal(result.code, 0)
  /** @type {string[]} */
  const files = JSON.parse(result.stdout)
  return { ...result, files, names: files.map((file) => path.relative(result.cwd, file)) }
}

/** Returns the name and the label of each thread in a report. @param {string | string[]} inputs */
async function threadsOf(inputs) {
  const { processes } = await report(inputs)
  return processes.flatMap(({ threads }) => threads.map(({ name, label }) => [name, label]))
}

/** Returns the names that a trace gives its threads. @param {any} trace */
const namesOf = (trace) =>
  trace.events
    .filter((/** @type {any} */ { name }) => name === 'thread_name')
    .map((/** @type {any} */ { args }) => args.name.replace(/^.* - /, ''))

test('a label names the file, the thread and the metadata', async () => {
  const { files, names, traces, cwd } = await record(
    `record({ label: ' parser: big file ', name: '%L.%N' })`,
  )
  assert.deepEqual(names, ['parser-big-file.001.trace.json'])
  assert.equal(traces[0].metadata.recordingLabel, 'parser: big file')
  assert.deepEqual(await threadsOf(files), [['main: parser: big file', 'parser: big file']])
  const { stdout } = await cli(['report', ...names], { cwd })
  assert.match(stdout, /\n {2}node -e: parser: big file \(\d+\) /)
  const markdown = await cli(['report', ...names, '--markdown'], { cwd })
  assert.match(markdown.stdout, /node -e: parser: big file/)
  const [{ command, name }] = (await report(files)).processes
  assert.deepEqual([command, name], ['node -e', 'node'])
})

test('a thread has no label unless all its recordings have the same', async () => {
  const { files } = await record(`
    record({ label: 'one' })
    record({ label: 'two' })
    record({ label: 'two' })
    record()`)
  const [one, two, again, none] = files
  const merged = path.join(temporaryDirectory(), 'merged.json')
  for (const [inputs, label] of /** @type {[string[], string | undefined][]} */ ([
    [[one], 'one'],
    [[none], undefined],
    [[two, again], 'two'],
    [[one, two], undefined],
    [[two, none], undefined],
    [[none, two], undefined],
    [files, undefined],
    [[one, one], 'one'],
  ])) {
    const expected = [[label === undefined ? 'main' : `main: ${label}`, label]]
    const what = inputs.map((file) => files.indexOf(file)).join()
    assert.deepEqual(await threadsOf(inputs), expected, what)
    for (const slice of [{}, { from: 0 }]) {
      await merge(inputs, merged, slice)
      assert.deepEqual(await threadsOf(merged), expected, `merged ${what}`)
      const [{ command }] = (await report(merged)).processes
      assert.equal(command, 'node -e')
    }
  }
  await merge(files, merged)
  const text = fs.readFileSync(merged, 'utf8')
  assert.doesNotMatch(text, /recordingLabel|main: |\[two\]/)
})

test('an empty label is none, and a strange one is safe in names', async () => {
  const labels = ['', ' \n ', '../../up', 'line\nbreak "\\', '🚀', 'x'.repeat(300)]
  const { files, names, traces } = await record(
    `for (const label of ${JSON.stringify(labels)}) record({ label, name: '%L-%N' }, 20)
     record({ name: '%L' }, 20)`,
  )
  assert.deepEqual(names, [
    'unlabelled-001.trace.json',
    'unlabelled-002.trace.json',
    'up-003.trace.json',
    'line-break-004.trace.json',
    'unlabelled-005.trace.json',
    `${'x'.repeat(100)}-006.trace.json`,
    'unlabelled.trace.json',
  ])
  assert.equal(traces.length, files.length)
  const shown = []
  for (const file of files) shown.push((await threadsOf(file))[0][0])
  assert.deepEqual(shown, [
    'main',
    'main',
    'main: ../../up',
    'main: line break "\\',
    'main: 🚀',
    `main: ${'x'.repeat(79)}…`,
    'main',
  ])
})

test('the variable of the name has the placeholder too, and there is none for the label', async () => {
  const { names } = await record(`record({ label: 'a b' })`, {
    env: { CPU_PROF_NAME: 'sub/%L', CPU_PROF_LABEL: 'other' },
  })
  assert.deepEqual(names, ['sub/a-b.trace.json'])
})

test('a .cpuprofile has the label too', async () => {
  const { files, names } = await record(
    `record({ label: 'both', name: '%L.%P.%T', format: 'trace,cpuprofile' })`,
  )
  const [name] = names[0].split('.trace')
  assert.match(name, /^both\.\d+\.0$/)
  assert.deepEqual(names, [`${name}.trace.json`, `${name}.cpuprofile`])
  assert.deepEqual(await threadsOf(files), [['main: both', 'both']])
  assert.deepEqual(await threadsOf(files[1]), [['main: both', 'both']])
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
