'use strict'

// Merges traces that this project did not write: of Chrome, and of tools with unusual events.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge } = require('../..')
const { temporaryDirectory } = require('../helpers/files.js')
const { recording } = require('../helpers/written.js')
const { analyze } = require('../helpers/trace.js')

/** Merges files by name. @param {Record<string, any>} files texts, or values for JSON @param {Parameters<typeof merge>[2]} [options] */
async function mergeFiles(files, options) {
  const dir = temporaryDirectory()
  const inputs = Object.entries(files).map(([name, content]) => {
    const file = path.join(dir, name)
    fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  })
  const output = path.join(dir, 'out', 'trace.json')
  const result = await merge(inputs, output, options)
  const json = JSON.parse(fs.readFileSync(output, 'utf8'))
  return { result, json, events: /** @type {any[]} */ (json.traceEvents) }
}

const MAIN_FRAME = '8ABA1D'
const FRAME = 'F6E5D4'

/** Returns the events of a page with a frame in a process of its own. */
function page() {
  const cat = 'disabled-by-default-devtools.timeline'
  const frame = (/** @type {any} */ data) => ({ name: '', persistentIds: true, ...data })
  const main = frame({
    frame: MAIN_FRAME,
    url: 'https://page/',
    processId: 50,
    isInPrimaryMainFrame: true,
    isOutermostMainFrame: true,
  })
  const below = frame({ frame: FRAME, parent: MAIN_FRAME, url: 'https://ad/', processId: 60 })
  const instant = { ph: 'I', s: 't', cat }
  const task = { ph: 'X', name: 'RunTask', cat: 'disabled-by-default-devtools.timeline', dur: 400 }
  const name = (/** @type {number} */ pid, /** @type {string} */ text) => [
    { ph: 'M', cat: '__metadata', name: 'process_name', pid, tid: 0, ts: 0, args: { name: text } },
    {
      ph: 'M',
      cat: '__metadata',
      name: 'thread_name',
      pid,
      tid: pid + 1,
      ts: 0,
      args: { name: 'CrRendererMain' },
    },
  ]
  return [
    ...name(50, 'Renderer'),
    ...name(60, 'Renderer'),
    // Chrome writes such events: they do not count for the bounds.
    { ph: 'N', name: 'odd', cat: 'x', pid: 50, tid: 51, ts: 1000, id: '0x1' },
    {
      ...instant,
      name: 'TracingStartedInBrowser',
      pid: 40,
      tid: 41,
      ts: 900_000,
      args: { data: { frameTreeNodeId: 1, persistentIds: true, frames: [main] } },
    },
    {
      ...instant,
      name: 'FrameCommittedInBrowser',
      pid: 40,
      tid: 41,
      ts: 950_000,
      args: { data: below },
    },
    {
      ph: 'R',
      name: 'navigationStart',
      cat: 'blink.user_timing',
      pid: 50,
      tid: 51,
      ts: 960_000,
      args: {
        frame: MAIN_FRAME,
        data: {
          documentLoaderURL: 'https://page/',
          isLoadingMainFrame: true,
          isOutermostMainFrame: true,
          navigationId: 'NAV',
        },
      },
    },
    { ...task, pid: 50, tid: 51, ts: 970_000 },
    { ...task, pid: 60, tid: 61, ts: 980_000 },
  ]
}

/** Returns what DevTools' parser reads from a trace about pages. @param {any[]} events */
async function metaOf(events) {
  const { Meta, Renderer } = await analyze(events)
  const processes = [...Renderer.processes].map(([pid, { url, isOnMainFrame, threads }]) => [
    pid,
    url,
    isOnMainFrame,
    [...threads].map(([tid, thread]) => [tid, thread.name, thread.entries.length]),
  ])
  const { traceBounds, mainFrameId, mainFrameURL, mainFrameNavigations } = Meta
  const frames = [...Meta.rendererProcessesByFrame.keys()]
  return { traceBounds, mainFrameId, mainFrameURL, mainFrameNavigations, frames, processes }
}

test("a page's trace comes out as it went in", async () => {
  const before = page()
  const { json, events, result } = await mergeFiles({ 'page.json': { traceEvents: before } })
  assert.deepEqual(await metaOf(events), await metaOf(before))
  assert.equal(events.length, before.length)
  assert.equal(json.metadata.modifications, undefined)
  assert.deepEqual(result.notes, [])
})

test('beside a recording, a page keeps its frames, and the recording has a frame below', async () => {
  const before = page()
  const { events } = await mergeFiles({
    'own.json': recording({ start: 910_000 }),
    'page.json': { traceEvents: before },
  })
  const [one, other] = [await metaOf(before), await metaOf(events)]
  assert.equal(other.mainFrameId, one.mainFrameId)
  assert.equal(other.mainFrameURL, one.mainFrameURL)
  assert.deepEqual(other.mainFrameNavigations, one.mainFrameNavigations)
  const pids = other.processes.map(([pid]) => pid)
  assert.deepEqual(pids.sort(), [50, 60, 7].sort())
  const own = other.processes.find(([pid]) => pid === 7)
  assert.equal(own?.[1], 'app: (pid 7)')
})

test('of two pages the second has its frames below the first', async () => {
  const { events, result } = await mergeFiles({
    'a.json': { traceEvents: page() },
    'b.json': { traceEvents: page() },
  })
  const starts = events.filter(({ name }) => name === 'TracingStartedInBrowser')
  assert.equal(starts.length, 1)
  const { mainFrameURL, processes } = await metaOf(events)
  assert.equal(mainFrameURL, 'https://page/')
  assert.equal(processes.length, 4)
  assert.equal(new Set(processes.map(([pid]) => pid)).size, 4)
  assert.equal(result.notes.filter((note) => /its process \d+ has the pid/.test(note)).length, 3)
})

test('each slice of a page names its frames', async () => {
  const { events } = await mergeFiles({ 'page.json': { traceEvents: page() } }, { from: 975 })
  const { mainFrameURL, processes } = await metaOf(events)
  assert.equal(mainFrameURL, 'https://page/')
  assert.deepEqual(
    processes.filter(([, , , threads]) => threads.length > 0).map(([pid]) => pid),
    [60],
  )
})

test('ids of unrelated files stay apart, those of one file stay together', async () => {
  const span = (/** @type {string} */ ph, /** @type {number} */ ts, /** @type {any} */ more) => ({
    ph,
    cat: 'build',
    name: 'span',
    pid: 5,
    tid: 1,
    ts,
    ...more,
  })
  const file = {
    traceEvents: [
      span('b', 1000, { id: '0x1' }),
      span('e', 2000, { id: '0x1' }),
      span('b', 1000, { id2: { local: '0x2' } }),
      span('e', 2000, { id2: { local: '0x2' } }),
      span('s', 1000, { id: 3 }),
      span('f', 2000, { id: 3 }),
      span('X', 1000, { bind_id: '0x4', dur: 5, flow_out: true }),
      span('N', 1000, { id: '0x5' }),
      span('I', 1000, { args: { of: { id_ref: '0x5' } } }),
      span('C', 1000, { id: 'counter' }),
      span('X', 1000, { sf: 7, dur: 5 }),
    ],
    stackFrames: { 7: { name: 'leaf', parent: '8' }, 8: { name: 'root' } },
  }
  const { events, json } = await mergeFiles({ 'a.json': file, 'b.json': file })
  const count = file.traceEvents.length
  const [one, two] = [events.slice(0, count), events.slice(count, 2 * count)]
  assert.deepEqual(one, file.traceEvents)
  const ids = (/** @type {any[]} */ list) =>
    list.map(
      ({ id, id2, bind_id, args, sf }) => id2?.local ?? bind_id ?? args?.of.id_ref ?? sf ?? id,
    )
  const [first, second] = [ids(one), ids(two)]
  for (const [i, id] of first.entries()) {
    if (two[i].ph === 'C') assert.equal(second[i], id)
    else assert.ok(!first.includes(second[i]), `${second[i]}`)
    for (const [j, other] of first.entries()) {
      assert.equal(second[i] === second[j], id === other, `${i} and ${j}`)
    }
  }
  for (const event of two) {
    let { sf } = event
    const names = []
    while (sf !== undefined) {
      names.push(json.stackFrames[sf].name)
      sf = json.stackFrames[sf].parent
    }
    if (event.sf !== undefined) assert.deepEqual(names, ['leaf', 'root'])
  }
})

test('process ids of all forms stay apart', async () => {
  const task = (/** @type {any} */ pid) => ({
    ph: 'X',
    name: 'task',
    pid,
    tid: 1,
    ts: 5000,
    dur: 9,
  })
  const { events, result } = await mergeFiles({
    'a.json': [task(0), task(-1), task('7'), task('main')],
    'b.json': [task(0), task(7), task('main')],
  })
  const pids = events.filter(({ name }) => name === 'task').map(({ pid }) => pid)
  assert.ok(
    pids.every((pid) => Number.isInteger(pid) && pid >= 0),
    pids.join(),
  )
  assert.equal(new Set(pids).size, 7)
  assert.equal(pids[0], 0)
  assert.equal(pids[2], 7)
  assert.equal(result.processes, 7)
})
