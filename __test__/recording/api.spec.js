'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { messages, pattern } = require('../helpers/messages.js')
const {
  run,
  readTrace,
  temporaryDirectory,
  FIXTURES,
  PACKAGE,
  SOURCE,
} = require('../helpers/run.js')
const { assertSeen } = require('../helpers/work.js')

const START = `
  const prof = require(${JSON.stringify(PACKAGE)})
  const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))});
`

/**
 * Runs a program and parses its stdout as JSON.
 * @param {string} source @param {Parameters<typeof run>[1]} [options]
 */
async function runJson(source, options) {
  const result = await run(['-e', `${START} ${source}`], { preload: null, ...options })
  assert.equal(result.stderr, '')
  assert.equal(result.code, 0)
  return { ...result, output: JSON.parse(result.stdout) }
}

test('only the code between start() and stop() is recorded', async () => {
  const { output, traces, cwd, pid } = await runJson(`
    function before() { return spin() }
    function between() { return spin(1000) }
    function after() { return spin() }
    before()
    const states = [prof.isRecording()]
    const times = [performance.now()]
    prof.start()
    times.push(performance.now())
    states.push(prof.isRecording())
    between()
    times.push(performance.now())
    const recording = prof.stop()
    times.push(performance.now())
    states.push(prof.isRecording())
    after()
    console.log(JSON.stringify({ recording, states, times }))
  `)
  assert.deepEqual(output.states, [false, true, false])
  assert.equal(traces.length, 1)
  const [trace] = traces
  const share = (/** @type {string} */ name) =>
    trace.totalShare(({ functionName }) => functionName === name)
  assert.ok(share('between') > 0.5, `${share('between')}`)
  assert.equal(share('before') + share('after'), 0)
  assert.ok(trace.ended)

  const { recording } = output
  assert.deepEqual(recording.files, [trace.file])
  assert.equal(path.dirname(trace.file), cwd)
  assert.equal(recording.samples, trace.samples.length)
  assert.equal(recording.nodes, trace.nodes.size)
  // The duration is counted in whole microseconds.
  const [starts, started, stops, stopped] = output.times
  assert.ok(recording.durationMs > stops - started - 0.01, `${recording.durationMs}`)
  assert.ok(recording.durationMs < stopped - starts + 0.01, `${recording.durationMs}`)
  assert.equal(recording.droppedSamples, 0)
  assert.equal(recording.threadId, 0)
  assert.equal(recording.pid, pid)
  assert.equal(recording.source, SOURCE)
})

test('a file is complete when stop() returns', async () => {
  const { output } = await runJson(`
    prof.start({ interval: 200 })
    spin(50)
    const { files } = prof.stop()
    const text = require('node:fs').readFileSync(files[0], 'utf8')
    console.log(JSON.stringify(JSON.parse(text).traceEvents.at(-1).name))
  `)
  assert.equal(output, 'trace.end')
})

test('options override the environment, for one recording only', async () => {
  const dir = temporaryDirectory()
  const { output } = await runJson(
    `
    const files = []
    for (const options of [{ interval: 500, dir: 'own', name: 'a%N' }, { name: 'b' }, undefined]) {
      prof.start(options)
      spin(30)
      files.push(...prof.stop().files)
    }
    console.log(JSON.stringify(files))
  `,
    { cwd: dir, env: { CPU_PROF_INTERVAL: '250', CPU_PROF_NAME: 'env-%N' } },
  )
  assert.deepEqual(
    output.map((/** @type {string} */ file) => path.relative(dir, file)),
    ['own/a001.trace.json', 'b.trace.json', 'env-003.trace.json'],
  )
  const intervals = []
  for (const file of output) intervals.push((await readTrace(file)).metadata.intervalUs)
  assert.deepEqual(intervals, [500, 250, 250])
})

const WRONG_OPTIONS = /** @type {const} */ ([
  ['{ intervall: 100 }', 'TypeError', /intervall is not an option/],
  ['{ toString: 1 }', 'TypeError', /toString is not an option/],
  ['{ interval: "100" }', 'TypeError', /interval must be a number, not a string/],
  ['{ dir: null }', 'TypeError', /dir must be a string, not null/],
  ['{ label: 7 }', 'TypeError', /label must be a string, not 7/],
  ['null', 'TypeError', /options must be an object, not null/],
  ['"fast"', 'TypeError', /options must be an object/],
  ['{ interval: 0 }', 'RangeError', /interval=0 is not valid/],
  ['{ interval: NaN }', 'RangeError', /interval=NaN is not valid/],
  ['{ interval: 100.5 }', 'RangeError', /interval=100.5 is not valid/],
  ['{ flushInterval: 1e9 }', 'RangeError', /flushInterval=1000000000 is not valid/],
  ['{ format: "pprof" }', 'RangeError', /format=pprof is not valid/],
  ['{ name: "up/.." }', 'RangeError', /name=up\/.. is not valid/],
  ['{ maxSize: "1K" }', 'RangeError', /maxSize=1K is not valid/],
  ['{ keep: "ever" }', 'RangeError', /keep=ever is not valid/],
  ['{ ignoreList: "maybe" }', 'RangeError', /ignoreList=maybe is not valid/],
])

/** Resolves with the errors of all wrong options, which one program gets in turn. @type {Promise<any> | undefined} */
let wrongOptions

function tryWrongOptions() {
  wrongOptions ??= runJson(`
    (async () => {
      const all = []
      for (const options of [${WRONG_OPTIONS.map(([options]) => options).join()}]) {
        const errors = []
        for (const call of [() => prof.start(options), () => prof.profile(() => 0, options)]) {
          const { name, message } = await Promise.resolve().then(call).then(() => 'none', (error) => error)
          errors.push([name, message, prof.isRecording(), require('node:fs').readdirSync('.')])
          if (prof.isRecording()) prof.stop()
        }
        all.push(errors)
      }
      console.log(JSON.stringify(all))
    })()
  `)
  return wrongOptions
}

for (const [index, [options, type, message]] of WRONG_OPTIONS.entries()) {
  test(`start(${options}) and profile() with these options throw, and record nothing`, async () => {
    const { output, files } = await tryWrongOptions()
    assert.equal(output[index].length, 2)
    for (const [name, text, isRecording, existing] of output[index]) {
      assert.equal(name, type)
      assert.match(text, message)
      assert.equal(isRecording, false)
      assert.deepEqual(existing, [])
    }
    assert.deepEqual(files, [])
  })
}

test('an error about a wrong variable names the variable', async () => {
  const source = `try { prof.start() } catch ({ name, message }) { console.log(JSON.stringify([name, message])) }`
  const { output } = await runJson(source, { env: { CPU_PROF_INTERVAL: 'fast' } })
  assert.equal(output[0], 'RangeError')
  assert.match(output[1], /CPU_PROF_INTERVAL=fast is not valid/)
})

test('start() throws if its directory cannot be created', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'file'), '')
  const { output } = await runJson(
    `try { prof.start({ dir: 'file/sub' }) } catch ({ name, message }) {
       console.log(JSON.stringify([name, message, prof.isRecording()]))
     }`,
    { cwd },
  )
  assert.equal(output[0], 'Error')
  assert.match(output[1], pattern`${messages.notCreated} .*file/sub`)
  assert.equal(output[2], false)
})

test('a second start() and a stop() without start() throw and change nothing', async () => {
  const { output, traces } = await runJson(`
    const errors = []
    const attempt = (call) => { try { call() } catch (error) { errors.push(error.message) } }
    attempt(() => prof.stop())
    prof.start()
    attempt(() => prof.start())
    spin(50)
    prof.stop()
    attempt(() => prof.stop())
    console.log(JSON.stringify(errors))
  `)
  assert.equal(output.length, 3)
  assert.match(output[0], pattern`${messages.startFirst}`)
  assert.match(output[1], pattern`${messages.stopFirst}`)
  assert.equal(output[2], output[0])
  assert.equal(traces.length, 1)
  assert.ok(traces[0].ended)
})

test('profile() returns the result of a function or of its promise', async () => {
  const { output, traces } = await runJson(`
    (async () => {
      const now = await prof.profile(() => { spin(); return 'now' })
      const later = await prof.profile(async () => { await null; spin(); return 'later' })
      console.log(JSON.stringify([now, later]))
    })()
  `)
  assert.deepEqual(
    output.map((/** @type {any} */ each) => each.result),
    ['now', 'later'],
  )
  const files = output.map((/** @type {any} */ each) => each.recording.files[0]).sort()
  assert.deepEqual(files, traces.map((trace) => trace.file).sort())
  for (const trace of traces) assertSeen(trace, 'spin')
})

test('profile() rejects with the error of its function and stops', async () => {
  const { output, traces } = await runJson(`
    (async () => {
      const error = new Error('my own')
      const same = []
      for (const fn of [
        () => { throw error },
        async () => { await null; throw error },
        () => { prof.stop(); throw error },
      ]) {
        await prof.profile(fn).catch((reason) => same.push(reason === error, prof.isRecording()))
      }
      await prof.profile(7).catch(({ name, message }) => same.push(name, message))
      console.log(JSON.stringify(same))
    })()
  `)
  assert.deepEqual(output.slice(0, 6), [true, false, true, false, true, false])
  assert.equal(output[6], 'TypeError')
  assert.match(output[7], pattern`${messages.takesFunction} 7`)
  assert.equal(traces.length, 3)
})

test('stop() ends the recording that the preload started', async () => {
  const { output, traces } = await runJson(
    `
    spin()
    const { samples, files } = prof.stop()
    prof.start()
    spin(50)
    console.log(JSON.stringify({ samples, files, next: prof.stop().files }))
  `,
    { preload: ['--require', PACKAGE] },
  )
  assert.equal(traces.length, 2)
  assert.ok(output.samples > 0)
  assertSeen(traces[0], 'spin')
  assert.deepEqual(
    [...output.files, ...output.next].sort(),
    traces.map((trace) => trace.file).sort(),
  )
})

test('a recording without stop() is finished when its thread ends', async () => {
  const { traces, output } = await runJson(`
    const { Worker } = require('node:worker_threads')
    prof.start({ workers: false })
    spin(100)
    const code = ${JSON.stringify(START)} + 'prof.start(); spin(100); prof.stop(); prof.start(); spin(100)'
    new Worker(code, { eval: true }).on('exit', (exit) => console.log(JSON.stringify({ exit })))
  `)
  assert.equal(output.exit, 0)
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1, 1],
  )
  for (const trace of traces) assert.ok(trace.ended)
})

test('stop() reports samples lost to a full disk, and the program runs on', async (t) => {
  if (!fs.existsSync('/dev/full')) return t.skip('there is no /dev/full')
  const { stdout, code, stderr } = await run(
    [
      '-e',
      `${START}
       prof.start({ flushInterval: 10 })
       spin()
       const { samples, droppedSamples, files } = prof.stop()
       console.log(JSON.stringify({ samples, droppedSamples, files: files.length }))`,
    ],
    {
      preload: null,
      // 8 blocks of 512 bytes have room for the head and a few flushes.
      under: ['sh', '-c', 'ulimit -f 8; exec "$@"', 'sh'],
    },
  )
  assert.equal(code, 0)
  assert.match(stderr, pattern`^cpu-prof: ${messages.notWritten} .*\n$`)
  const output = JSON.parse(stdout)
  assert.ok(output.droppedSamples > 0)
  assert.equal(output.files, 1)
})
