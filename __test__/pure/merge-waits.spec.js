'use strict'

// The times that threads waited for a core, in merged traces.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { check, merge } = require('../..')
const { temporaryDirectory } = require('../helpers/files.js')
const { readMerged } = require('../helpers/merged.js')
const { waited, writeTrace } = require('../helpers/written.js')

const START = 1e9
const WORK = /** @type {[string, number][]} */ ([['work a.js:1', 2000]])

/** Writes two threads of a process and a process of another container with the same pid. Each waits twice. */
function write() {
  const dir = temporaryDirectory()
  const threads = [{}, { tid: 1, script: 'w.js' }, { processKey: 'other', label: 'other' }]
  threads.forEach((thread, index) => {
    const name = `${thread.label ?? 'app'} (pid 7) - ${index === 1 ? 'worker 1' : 'main'}`
    const events = [waited(name, START, [500, 1000]), waited(name, START, [1000, 1500])]
    const recorded = { processKey: 'one', ...thread, start: START, spans: WORK, events }
    writeTrace(path.join(dir, `${index}.trace.json`), recorded)
  })
  return dir
}

/** Merges files, and returns the tracks of the waits with their starts, milliseconds. @param {string} input @param {object} [options] */
async function merged(input, options) {
  const file = path.join(temporaryDirectory(), 'out.json')
  await merge(input, file, options)
  const [{ problems }] = (await check(file)).files
  assert.deepEqual(problems, [])
  const { events, threads } = await readMerged(file)
  const waits = events.filter((/** @type {any} */ { cat }) => cat === 'cpu-prof.waiting')
  for (const { pid, tid } of waits) {
    assert.ok(
      threads.some((/** @type {any} */ thread) => thread.pid === pid && thread.tid === tid),
      `${pid} ${tid}`,
    )
  }
  /** @type {Record<string, number[]>} */
  const starts = {}
  for (const { args } of waits) {
    const { track, start } = args.data
    starts[track] = [...(starts[track] ?? []), (start - START) / 1000]
  }
  return { file, starts }
}

test('a merge keeps them, with the names of their threads', async () => {
  const once = await merged(write())
  assert.deepEqual(once.starts, {
    'app (pid 7) - main': [500, 1000],
    'app (pid 7) - worker 1': [500, 1000],
    'other (pid 7) #2 - main': [500, 1000],
  })
  const again = await merged(once.file)
  assert.deepEqual(again.starts, once.starts)
})

test('filters take those of their threads, and a slice those that end in it', async () => {
  const dir = write()
  const { file } = await merged(dir)
  for (const input of [dir, file]) {
    const worker = await merged(input, { thread: 'w.js' })
    assert.deepEqual(worker.starts, { 'app (pid 7) - worker 1': [500, 1000] })
    const slice = await merged(input, { process: 'app', thread: 'main', from: 700, to: 1200 })
    assert.deepEqual(slice.starts, { 'app (pid 7) - main': [500] })
  }
})
