'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { seededRandom } = require('../helpers/random.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const PRELOAD = `--require ${JSON.stringify(PACKAGE)}`

const WORKERS = Number(process.env.WORKERS ?? 200)

/** Parses complete traces and returns their events. @param {string[]} files */
function parse(files) {
  return files.map((file) => {
    try {
      return JSON.parse(fs.readFileSync(file, 'utf8')).traceEvents
    } catch (error) {
      throw new Error(`${file}: ${error}`)
    }
  })
}

/** Returns the number of traces that were finished. @param {any[][]} traces */
const endedCount = (traces) => traces.filter((events) => events.at(-1).name === 'trace.end').length

/** From Node 24 on, resident memory differs by a tenth between runs, also without the profiler. */
const ROUNDS = Number.parseInt(process.versions.node, 10) >= 24 ? 3 : 1

/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]

test(`${WORKERS} short workers leave one trace each and do not leak memory`, async (t) => {
  /** @type {number[][]} */
  const rss = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const args = ['churn.js', 'return', String(WORKERS), '50']
    const [plain, result] = await Promise.all([
      run(args, { preload: null }),
      run(args, { read: 20 }),
    ])
    assert.equal(result.code, 0)
    assert.equal(result.stderr, '')
    const outputs = [plain, result].map(({ stdout }) => JSON.parse(stdout))
    assert.deepEqual(outputs[1].codes, outputs[0].codes)
    assert.equal(result.files.length, WORKERS + 1)
    assert.equal(endedCount(parse(result.files)), WORKERS + 1)
    for (const [i, output] of outputs.entries()) rss[i].push(output.rss / 2 ** 20)
  }
  const [plainMb, recordedMb] = rss.map(median)
  t.diagnostic(`resident: ${recordedMb.toFixed()} MB, unprofiled ${plainMb.toFixed()} MB`)
  // From Node 24 on, the medians of the unprofiled program alone differ by a fifth.
  const most = ROUNDS === 1 ? 1.1 : 1.25
  assert.ok(recordedMb < most * plainMb, `${recordedMb} MB, ${plainMb} MB unprofiled`)
})

test('workers that end in different ways leave finished traces', async () => {
  const { code, stderr, stdout, files } = await run(['churn.js', 'mixed', '120', '20'], {
    read: 20,
  })
  assert.equal(code, 0)
  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout).codes, { 0: 90, 7: 30 })
  const traces = parse(files)
  assert.equal(traces.length, 151)
  assert.equal(endedCount(traces), 151)
})

test('workers terminated at random moments, even while they start, leave finished traces', async (t) => {
  const seed = Math.floor(seededRandom(t)() * 2 ** 32)
  const args = ['churn.js', 'terminate', '200', '20', String(seed)]
  const { code, stderr, files } = await run(args, { read: 20 })
  assert.equal(code, 0)
  assert.equal(stderr, '')
  const traces = parse(files)
  // Every second worker is terminated once it works, so it has a trace, as the main thread has.
  assert.ok(traces.length > 100 && traces.length <= 201, `${traces.length} traces`)
  assert.equal(endedCount(traces), traces.length)
})

test('a main thread that exits while 40 workers are busy leaves finished traces', async () => {
  const { code, stderr, files } = await run(['churn.js', 'leave', '40', '40'], {
    read: 20,
  })
  assert.equal(code, 3)
  assert.equal(stderr, '')
  assert.equal(files.length, 41)
  assert.equal(endedCount(parse(files)), 41)
})

test('a hundred simultaneous child processes leave one trace each', async () => {
  const source = `
    const { spawn } = require('node:child_process')
    let left = 100
    for (let i = 0; i < 100; i++) {
      const args = ['-e', 'process.exitCode = ' + (i % 3)]
      spawn(process.execPath, args, { stdio: 'inherit' }).on('exit', (code) => {
        if (code !== i % 3) console.log('exit code', code)
        if (--left === 0) console.log('all')
      })
    }`
  const { stdout, stderr, files } = await run(['-e', source], {
    preload: null,
    env: { NODE_OPTIONS: PRELOAD },
    read: 20,
  })
  assert.equal(stderr, '')
  assert.equal(stdout, 'all\n')
  assert.equal(files.length, 101)
  assert.equal(endedCount(parse(files)), 101)
})

test('cluster workers that end in three ways leave finished traces', async () => {
  const file = path.join(temporaryDirectory(), 'cluster.js')
  fs.writeFileSync(
    file,
    `const cluster = require('node:cluster')
     const { spin } = require(${SPIN})
     if (cluster.isPrimary) {
       let restarts = 0
       const fork = () => {
         const worker = cluster.fork()
         const how = restarts % 3
         worker.on('message', () => {
           if (how === 0) worker.process.kill('SIGTERM')
           if (how === 1) worker.disconnect()
           if (how === 2) worker.send('leave')
         })
         worker.on('exit', (code, signal) => {
           console.log(how, code, signal)
           if (++restarts < 6) fork()
         })
       }
       fork()
     } else {
       require('node:http').createServer(() => {}).listen(0)
       process.on('message', () => process.exit(4))
       spin(20)
       process.send('ready')
     }`,
  )
  const env = { NODE_OPTIONS: PRELOAD, CPU_PROF_FLUSH_INTERVAL: '60000' }
  const plain = await run([file], { preload: null })
  const { traces, ...ending } = await run([file], { preload: null, env })
  const { code, signal, stdout, stderr } = ending
  const expected = { code: 0, signal: null, stdout: plain.stdout, stderr: '' }
  assert.deepEqual({ code, signal, stdout, stderr }, expected)
  assert.equal(traces.length, 7)
  for (const trace of traces) assert.ok(trace.ended, trace.processLabel)
})
