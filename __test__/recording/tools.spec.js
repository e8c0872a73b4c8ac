'use strict'

// Each tool reads what was really recorded. What a tool makes of its input is tested on written data,
// in pure specs.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, compare, convert, merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { readMerged } = require('../helpers/merged.js')
const { run, filesIn } = require('../helpers/run.js')

/** @type {Promise<{ cwd: string, pid: any, at: (name: string) => string }> | undefined} */
let recorded

/** Records a program of three threads once, in both formats. */
function record() {
  recorded ??= recordOnce()
  return recorded
}

async function recordOnce() {
  const { cwd, pid, code, stderr } = await run(['workers.js', 'natural'], {
    env: { CPU_PROF_FORMAT: 'trace,cpuprofile' },
  })
  assert.deepEqual([code, stderr], [0, ''])
  fs.mkdirSync(path.join(cwd, 'out'))
  return { cwd, pid, at: (/** @type {string} */ name) => path.join(cwd, 'out', name) }
}

const LABELS = ['main', 'worker 1: workers.js', 'worker 2: workers.js']

test('a report has the threads, and the functions of the program', async () => {
  const { cwd, pid } = await record()
  const { processes, functions, failed } = await report(cwd)
  assert.deepEqual(failed, [])
  assert.deepEqual(
    processes.map((each) => [each.pid, each.threads.map(({ name }) => name)]),
    [[pid, LABELS]],
  )
  assert.ok(functions.some(({ name }) => name === 'crunch'))
  const traces = filesIn(cwd, '.trace.json')
  const text = await cli(['report', ...traces], { cwd })
  assert.deepEqual([text.code, text.stderr], [0, ''])
  assert.match(text.stdout, /worker 2: workers\.js/)
  const page = await cli(['report', ...traces, '--html', '-'], { cwd })
  assert.deepEqual([page.code, page.stderr], [0, ''])
  assert.match(page.stdout, /^<!doctype html>/)
})

test('the trace and the .cpuprofile of each thread give the same report', async () => {
  const { cwd } = await record()
  const all = { top: Number.POSITIVE_INFINITY }
  for (const trace of filesIn(cwd, '.trace.json')) {
    const [ofTrace, ofProfile] = [trace, trace.replace('.trace.json', '.cpuprofile')].map((file) =>
      report(file, all),
    )
    const sorted = (/** @type {any[]} */ rows) => rows.map((row) => JSON.stringify(row)).sort()
    const rows = async (/** @type {Promise<import('../../index.js').Report>} */ result) =>
      // A .cpuprofile has no counters of the system, which tell blocked time from work.
      sorted((await result).functions.map(({ name, file, line }) => ({ name, file, line })))
    assert.deepEqual(await rows(ofTrace), await rows(ofProfile))
  }
})

test('a merged trace has the threads, and is the same again when it is merged', async () => {
  const { cwd, at } = await record()
  const { threads, notes } = await merge(cwd, at('all.json'))
  assert.equal(threads, LABELS.length)
  assert.match(notes.join(), /same recordings.*\.cpuprofile/)
  const merged = await readMerged(at('all.json'))
  for (const thread of merged.threads) {
    assert.equal(
      thread.totalShare((/** @type {any} */ { functionName }) => functionName === 'crunch') > 0,
      thread.tid > 0,
    )
  }
  await merge(at('all.json'), at('again.json.gz'))
  const again = await readMerged(at('again.json.gz'))
  assert.deepEqual(
    again.threads.map((/** @type {any} */ { samples }) => samples.length),
    merged.threads.map((/** @type {any} */ { samples }) => samples.length),
  )
})

test('each format is converted', async () => {
  const { cwd, at } = await record()
  const { files } = await convert(cwd, at('x.cpuprofile'))
  assert.equal(files.length, LABELS.length)
  await convert(cwd, at('x.collapsed'))
  assert.match(fs.readFileSync(at('x.collapsed'), 'utf8'), /worker 1: workers\.js;.*crunch.* \d+\n/)
  await convert(cwd, at('x.speedscope.json'))
  const { profiles } = JSON.parse(fs.readFileSync(at('x.speedscope.json'), 'utf8'))
  assert.equal(profiles.length, LABELS.length)
})

test('check finds no problem', async () => {
  const { cwd } = await record()
  const { files, failed } = await check(
    filesIn(cwd, '.trace.json').concat(filesIn(cwd, '.cpuprofile')),
  )
  assert.deepEqual(failed, [])
  assert.equal(files.length, 2 * LABELS.length)
  for (const { file, problems, loads, samples } of files) {
    const wrong = problems.filter(({ severity }) => severity !== 'warning')
    assert.deepEqual([file, wrong, loads, samples > 0], [file, [], true, true])
  }
})

test('a recording does not differ from itself', async () => {
  const { cwd } = await record()
  const { rows } = await compare([cwd], [cwd])
  assert.ok(rows.some(({ name }) => name === 'crunch'))
  assert.ok(rows.every(({ changed, difference }) => !changed && difference === 0))
})

test("Node's own trace events know the threads by the ids that recordings tell", async () => {
  const categories = ['--trace-event-categories', 'node.fs.sync,v8']
  const { cwd, code, pid, traces } = await run([...categories, 'workers.js', 'natural'])
  assert.equal(code, 0)
  const known = new Map(traces.map(({ metadata, tid }) => [metadata.osThreadId, tid]))
  assert.deepEqual([known.size, known.get(pid)], [LABELS.length, 0])
  const log = path.join(cwd, 'node_trace.1.log')
  const events = JSON.parse(fs.readFileSync(log, 'utf8')).traceEvents
  const calls = events.filter((/** @type {any} */ { name }) => name.startsWith('fs.sync.'))
  assert.ok(calls.length > 0)
  for (const { tid } of calls)
    assert.ok(known.has(tid), `${tid} is not one of ${[...known.keys()]}`)
})
