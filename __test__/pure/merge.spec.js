'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../..')
const { readMerged } = require('../helpers/merged.js')
const { recording } = require('../helpers/written.js')
const { run, temporaryDirectory, filesIn, FIXTURES, PACKAGE } = require('../helpers/run.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** A program with two workers, and a child process with arguments. */
const FAMILY = `
  const { Worker, isMainThread } = require('node:worker_threads')
  const { spin } = require(${SPIN})
  spin(150)
  if (isMainThread && process.argv[2] === undefined) {
    require('node:child_process').fork(__filename, ['child', 'one'])
    for (let i = 0; i < 2; i++) new Worker(__filename)
  }
`

test('a merge contains all processes and threads, with names, in one frame', async () => {
  const dir = temporaryDirectory()
  const script = path.join(dir, 'family.js')
  fs.writeFileSync(script, FAMILY)
  const { pid, traces } = await run([script], {
    preload: null,
    cwd: dir,
    env: { NODE_OPTIONS: `--require ${JSON.stringify(PACKAGE)}` },
  })
  assert.equal(traces.length, 4)
  const output = path.join(dir, 'made', 'trace.json')
  const result = await merge(dir, output, { exit: { pid: Number(pid), code: 0, signal: null } })
  const expected = { files: [output], inputs: 4, processes: 2, threads: 4 }
  assert.deepEqual({ ...result, ...expected }, result)
  assert.equal(result.bytes, fs.statSync(output).size)
  assert.deepEqual([result.repaired, result.failed, result.notes], [[], [], []])

  const { frames, threads, processes } = await readMerged(output)
  const child = traces.find((trace) => trace.pid !== pid)?.pid
  assert.deepEqual(
    frames.map(({ processId, url }) => [processId, url]),
    [
      [pid, `family.js: (pid ${pid})`],
      [child, `family.js: child one (pid ${child})`],
    ],
  )
  // DevTools shows all processes of one frame as 'Main'.
  assert.equal(frames[1].frame, frames[0].frame)
  assert.deepEqual([frames[0].parent, frames[1].parent], [undefined, undefined])
  const names = threads.map((/** @type {any} */ thread) => [thread.pid, thread.tid, thread.name])
  assert.deepEqual(
    names.sort(),
    [
      [pid, 0, 'CrRendererMain'],
      [pid, 1, `family.js (pid ${pid}) - worker 1: family.js`],
      [pid, 2, `family.js (pid ${pid}) - worker 2: family.js`],
      [child, 0, 'CrRendererMain'],
    ].sort(),
  )
  for (const thread of threads) {
    assert.ok(thread.totalMs((/** @type {any} */ frame) => frame.functionName === 'spin') > 50)
  }
  const [first, second] = processes
  assert.deepEqual([first.exitCode, first.signal, second.exitCode], [0, null, 0])
  assert.deepEqual([second.pid, second.ppid, second.node], [child, pid, process.version])
  assert.deepEqual(second.argv.slice(1), [script, 'child', 'one'])
  assert.deepEqual(first.threads, [0, 1, 2])

  // A merged trace can be merged again, to a compressed file. A merge of the folder with both
  // leaves the merged trace out.
  const again = path.join(dir, 'again.json.gz')
  assert.equal((await merge(output, again)).threads, 4)
  const once = await readMerged(again)
  assert.deepEqual(once.frames, frames)
  assert.equal(once.threads.length, 4)
  const all = await merge(dir, path.join(dir, 'all.json'))
  assert.deepEqual([all.inputs, all.threads], [4, 4])
  assert.match(all.notes.join(), /left out merged traces.*again\.json\.gz/)
})

/** Returns a profile's samples as lines of a time and a stack. @param {any} thread @param {number} startUs */
function moments(thread, startUs) {
  let time = startUs
  return thread.samples.map((/** @type {any} */ { us, node }) => {
    time += us
    let stack = ''
    for (let at = node; at.parent !== undefined; at = thread.nodes.get(at.parent)) {
      const { functionName, url, lineNumber } = at.callFrame
      stack += ` < ${functionName} ${url}:${lineNumber}`
    }
    return `${time}${stack}`
  })
}

test('recordings of one thread become one profile, with gaps between the recordings', async () => {
  const source = `
    const { start, stop } = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${SPIN})
    for (let i = 0; i < 3; i++) {
      start()
      spin(100)
      stop()
      const end = Date.now() + 300
      while (Date.now() < end);
    }
  `
  const { cwd, traces } = await run(['-e', source], { preload: null })
  assert.equal(traces.length, 3)
  const output = path.join(cwd, 'out.json')
  const { threads } = await merge(cwd, output)
  assert.equal(threads, 1)
  const [thread] = (await readMerged(output)).threads
  const all = moments(thread, thread.startUs)
  const isGap = (/** @type {string} */ moment) => /^\d+$/.test(moment)
  assert.deepEqual(
    all.filter((/** @type {string} */ moment) => !isGap(moment)),
    traces.flatMap((trace) => moments(trace, trace.startUs)),
  )
  assert.deepEqual(
    all.filter(isGap).map((/** @type {string} */ moment) => Number.parseInt(moment, 10)),
    traces.slice(0, -1).map((trace) => trace.events.at(-1).ts),
  )
})

test('a slice contains only the time between from and to', async () => {
  const { cwd, traces } = await run(['ending.js', 'natural', '900'])
  const output = path.join(cwd, 'slice.json')
  await merge(traces[0].file, output, { from: 300, to: 600 })
  const [thread] = (await readMerged(output)).threads
  const start = traces[0].startUs
  assert.equal(thread.startUs, start + 300_000)
  const [from, to] = [start + 300_000, start + 600_000]
  const all = moments(traces[0], start)
  const at = (/** @type {string} */ moment) => Number.parseInt(moment, 10)
  // The slice begins with the last sample before it, and ends with an empty stack.
  const before = all.filter((/** @type {string} */ moment) => at(moment) < from).at(-1)
  assert.deepEqual(moments(thread, thread.startUs), [
    before.replace(/^\d+/, String(from)),
    ...all.filter((/** @type {string} */ moment) => at(moment) >= from && at(moment) < to),
    String(to),
  ])
  await assert.rejects(merge(traces[0].file, output, { from: 60_000 }), /nothing was recorded/)
  assert.equal((await merge(traces[0].file, output, { split: true })).files.length, 1)
})

test("Node's own .cpuprofile files can be merged, and both formats of a recording count once", async () => {
  const { cwd, pid } = await run(['workers.js', 'natural'], { preload: ['--cpu-prof'] })
  assert.equal(filesIn(cwd, '.cpuprofile').length, 3)
  const output = path.join(cwd, 'out.json')
  assert.equal((await merge(cwd, output)).threads, 3)
  const { threads, frames } = await readMerged(output)
  assert.equal(frames[0].url, `node: (pid ${pid})`)
  const names = threads.map((/** @type {any} */ { tid, name }) => [tid, name])
  assert.deepEqual(names.sort(), [
    [0, 'CrRendererMain'],
    [1, `node (pid ${pid}) - worker 1`],
    [2, `node (pid ${pid}) - worker 2`],
  ])
  for (const thread of threads.slice(1)) {
    assert.ok(thread.totalMs((/** @type {any} */ f) => f.functionName === 'spin') > 100)
  }

  const both = await run(['ending.js'], { env: { CPU_PROF_FORMAT: 'trace,cpuprofile' } })
  const result = await merge(both.cwd, path.join(both.cwd, 'out.json'))
  assert.deepEqual([result.inputs, result.threads], [1, 1])
  assert.match(result.notes.join(), /same recordings.*\.cpuprofile/)
})

test('invalid arguments are rejected', async () => {
  const { cwd, files } = await run(['ending.js'])
  const output = path.join(cwd, 'out.json')
  /** @type {any} */
  const wrong = merge
  for (const [args, message] of /** @type {[any[], RegExp][]} */ ([
    [[5, output], /inputs must be/],
    [[files, ''], /output must be a file's path, not an empty string/],
    [[[], output], /inputs must be a path, or an array of at least one path, not an empty array/],
    [[files, output, { from: Number.NaN }], /from must be a number of milliseconds, not NaN/],
    [[files, output, { from: '-1s' }], /from must be a number of milliseconds, not a string/],
    [[files, output, { from: -5, to: -5 }], /from \(-5\) must be less/],
    [[files, output, { from: 5, to: 5 }], /from \(5\) must be less/],
    [[files, output, { split: 1 }], /split must be/],
    [[files, output, { exit: {} }], /exit must be/],
    [[files, output, { form: 1 }], /form is not an option of merge\(\)/],
  ])) {
    await assert.rejects(wrong(...args), message)
  }
  assert.ok(!fs.existsSync(output))
})

/** Writes files into a folder, and merges the folder. @param {Record<string, string | Buffer>} files @param {any} [options] */
async function mergeFiles(files, options) {
  const dir = temporaryDirectory()
  for (const [name, content] of Object.entries(files))
    fs.writeFileSync(path.join(dir, name), content)
  const output = path.join(dir, 'out', 'trace.json')
  const result = await merge(dir, output, options)
  return { dir, output, result, ...(await readMerged(output)) }
}

test('processes with the same pid, from different containers, stay separate', async () => {
  const { result, frames, threads, events, processes } = await mergeFiles({
    'a.json': recording({ label: 'one', processStartMs: 5 }),
    'b.json': recording({ label: 'two', processStartMs: 6, start: 1.5e9 }),
    'b1.json': recording({ label: 'two', processStartMs: 6, start: 1.6e9, tid: 1 }),
  })
  assert.deepEqual([result.processes, result.threads], [2, 3])
  assert.match(result.notes.join(), /pid 7 .*#2/)
  assert.deepEqual(
    frames.map((frame) => frame.url),
    ['one: (pid 7)', 'two: (pid 7) #2'],
  )
  const other = frames[1].processId
  assert.ok(other !== 7 && threads.some((/** @type {any} */ { pid }) => pid === other))
  assert.equal(threads.at(-1).name, 'two (pid 7) #2 - worker 1')
  assert.equal(processes[1].ownPid, 7)
  // The track of the processes is on no process.
  for (const { pid, name } of events) {
    assert.ok(pid === 7 || pid === other || (pid === 0 && name === 'TimeStamp'))
  }

  // If the process start is unknown, two recordings of a thread that overlap mean two processes.
  const unknown = recording({ label: 'three' }).replace('"processStartMs":5,', '')
  const again = recording({ start: 1e9 + 5000 }).replace(/,"boot":"b","processStartMs":5/, '')
  const overlapping = await mergeFiles({
    'a.json': unknown.replace(/,"boot":"b","processStartMs":5/, ''),
    'b.json': again,
  })
  assert.equal(overlapping.result.processes, 2)
})

test('times of another machine are kept, and a note names the file', async () => {
  const { result, threads, json } = await mergeFiles({
    'a.json': recording(),
    'b.json': recording({ pid: 8, boot: 'c', start: 5e12 }),
    'c.json': recording({ pid: 9, start: 2e9 }),
  })
  assert.match(result.notes.join(), /another machine.*b\.json$/)
  const { window, child } = json.metadata.modifications.initialBreadcrumb
  assert.deepEqual([window.min, window.max], [1e9, 5e12 + 20_000])
  assert.deepEqual([child.window.min, child.window.max], [1e9, 2e9 + 20_000])
  assert.deepEqual(
    threads.map((/** @type {any} */ { startUs }) => startUs).sort(),
    [1e9, 2e9, 5e12],
  )
})

test('cut and compressed files are read, and unreadable files are listed with a reason', async () => {
  const { gzipSync } = require('node:zlib')
  const whole = recording({ pid: 1 })
  const cut = recording({ pid: 2 })
  const half = gzipSync(recording({ pid: 4, functions: ['a'.repeat(9000), 'b'] }))
  const { result, threads } = await mergeFiles({
    'whole.json': whole,
    'cut.json': cut.slice(0, cut.indexOf('"trace.end"')),
    'gzip.json': gzipSync(recording({ pid: 3 })),
    'half.json.gz': half.subarray(0, half.length - 30),
    'empty.json': '',
    'package.json': '{"name":"x"}',
    'list.json': '[{"a":1}]',
    'text.json': 'hello',
    'early.json': whole.slice(0, whole.indexOf('"Profile"')),
    'cut.cpuprofile': '{"nodes":[{"id":1',
    'odd.cpuprofile': '{"nodes":5,"startTime":1e9,"endTime":2e9,"samples":[],"timeDeltas":[]}',
  })
  const names = (/** @type {string[]} */ files) => files.map((file) => path.basename(file))
  assert.deepEqual(names(result.repaired), ['cut.json', 'half.json.gz'])
  const failed = result.failed.map(({ file, reason }) => `${path.basename(file)}: ${reason}`)
  const reasons = [
    /^cut\.cpuprofile: .*cut off/,
    /^early\.json: .*before its first sample/,
    /^empty\.json: the file is empty/,
    /^list\.json: .*"ph"/,
    /^odd\.cpuprofile: .*no nodes/,
    /^package\.json: .*no list of trace events/,
    /^text\.json: .*not a JSON object/,
  ]
  assert.equal(failed.length, reasons.length, failed.join('\n'))
  for (const [i, reason] of reasons.entries()) assert.match(failed[i], reason)
  const pids = threads.map((/** @type {any} */ { pid }) => pid)
  assert.deepEqual(pids.sort(), [1, 2, 3, 4])
})

test('equal labels get the folder, also when merged traces are merged', async () => {
  const build = (/** @type {number} */ pid, /** @type {string} */ cwd) =>
    recording({ pid, cwd, label: 'build', start: 1e9 + pid, processStartMs: pid })
  const { dir, frames } = await mergeFiles({
    'a.json': build(7, '/r/packages/a'),
    'b.json': build(8, '/r/packages/b'),
    'c.json': recording({ pid: 9, cwd: '/r', label: 'turbo', processStartMs: 9 }),
  })
  const labels = (/** @type {any[]} */ list) => list.map(({ url }) => url).sort()
  const expected = ['build: · packages/a (pid 7)', 'build: · packages/b (pid 8)', 'turbo: (pid 9)']
  assert.deepEqual(labels(frames), expected)
  const merged = path.join(dir, 'out', 'trace.json')
  const { processes } = await report(merged)
  assert.deepEqual(processes.map(({ command }) => command).sort(), ['build', 'build', 'turbo'])

  const again = path.join(dir, 'again.json')
  await merge([merged], again)
  assert.deepEqual(labels((await readMerged(again)).frames), expected)
  const own = path.join(dir, 'own.json')
  fs.writeFileSync(own, build(8, '/r/packages/b'))
  await merge([path.join(dir, 'a.json'), own], merged)
  assert.deepEqual(labels((await readMerged(merged)).frames), [
    'build: · a (pid 7)',
    'build: · b (pid 8)',
  ])
})

test('events of other tools keep all fields, except a pid that is already used', async () => {
  const odd = { ph: '?', pid: 1, tid: 5, ts: 1e9 + 0.5, name: 'odd', sf: 3, deep: [{ a: '}' }] }
  const slice = { ph: 'X', pid: 1, tid: 5, ts: 1e9 + 100, dur: 5000, name: 'build "x"', cat: 'c' }
  const named = { ph: 'M', pid: 1, tid: 5, name: 'process_name', args: { name: 'bazel' } }
  const other = { traceEvents: [named, slice, odd], stackFrames: { 3: { name: 'f' } }, samples: [] }
  const list = JSON.stringify([slice, null, {}, 5, odd], null, 1)
  const { json, events, frames, result } = await mergeFiles({
    'a.json': recording(),
    'b.json': JSON.stringify(other, null, 2),
    'c.json': list.slice(0, -1),
    'd.json': `${list.slice(0, -1)},{"ph":"X","pid":`,
  })
  assert.deepEqual(result.failed, [])
  assert.deepEqual(
    result.repaired.map((file) => path.basename(file)),
    ['d.json'],
  )
  assert.deepEqual(json.stackFrames, other.stackFrames)
  assert.deepEqual(json.samples, [])
  const passed = events.filter((/** @type {any} */ event) => event.name === 'odd')
  const pids = passed.map((/** @type {any} */ event) => event.pid)
  assert.equal(new Set(pids).size, 3)
  // The stack frames of several files have ids of their own.
  const stackFrames = passed.map((/** @type {any} */ event) => event.sf)
  assert.deepEqual(stackFrames, [3, '1.3', '2.3'])
  for (const event of passed) assert.deepEqual({ ...event, pid: 1, sf: 3 }, odd)
  const labels = frames.map((frame) => [frame.processId, frame.url])
  assert.deepEqual(labels[0], [7, 'app: (pid 7)'])
  assert.deepEqual(labels[1], [1, 'bazel: (pid 1)'])
  assert.equal(labels.length, 4)
  assert.equal(result.notes.filter((note) => /pid \d{8} in the trace/.test(note)).length, 2)
  assert.match(result.notes.at(-1) ?? '', /draws.*b\.json.*c\.json.*d\.json/)
})

test('nothing to merge is an error, and a failed merge leaves no file', async () => {
  const dir = temporaryDirectory()
  const output = path.join(dir, 'trace.json')
  await assert.rejects(merge(dir, output), /there are no traces in .*CPU_PROF_DIR/)
  await assert.rejects(merge(path.join(dir, 'no'), output), /nothing could be read\n.*not exist/)
  fs.writeFileSync(path.join(dir, 'a.json'), 'x')
  await assert.rejects(merge(dir, output), /a\.json: .*not a JSON object/)
  assert.deepEqual(fs.readdirSync(dir), ['a.json'])

  fs.writeFileSync(path.join(dir, 'a.json'), recording())
  await assert.rejects(merge(dir, dir), /could not write .*name of a file/)
  assert.deepEqual((await merge(dir, '/dev/null')).files, ['/dev/null'])
  assert.ok(fs.statSync('/dev/null').isCharacterDevice())
  await assert.rejects(merge(dir, path.join(dir, 'a.json', 'x.json')), /could not make the folder/)
  assert.deepEqual(fs.readdirSync(dir), ['a.json'])
  // An older result is replaced, and is not an input.
  for (let i = 0; i < 2; i++) assert.equal((await merge(dir, output)).inputs, 1)
})
