'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { merge, report } = require('../..')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { readMerged, moments, threadOf } = require('../helpers/merged.js')
const { messages, pattern } = require('../helpers/messages.js')
const { recording, writeProfile, writeTrace } = require('../helpers/written.js')

/** Writes a program with two workers, and a child process with arguments. */
function writeFamily() {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, `CPU.${name}.trace.json`)
  const main = { label: 'family.js', cwd: '/project' }
  const worker = { ...main, script: 'family.js' }
  const call = 'main family.js:1 > spin spin.js:2:3'
  writeTrace(at('7.0'), { ...main, spans: [[call, 9]] })
  writeTrace(at('7.1'), { ...worker, tid: 1, start: 1e9 + 3000, spans: [[call, 5]] })
  writeTrace(at('7.2'), { ...worker, tid: 2, start: 1e9 + 4000, spans: [[call, 6]] })
  const child = { pid: 8, ppid: 7, processStartMs: 6, argv: ['child', 'one'], exitCode: 4 }
  writeTrace(at('8.0'), { ...main, ...child, start: 1e9 + 2000, spans: [[call, 8]] })
  return dir
}

test('exit codes of Windows are the numbers that Windows shows', async () => {
  const dir = writeFamily()
  const output = path.join(dir, 'out', 'trace.json')
  await merge(dir, output, { exit: { pid: 7, code: 3221225477 } })
  const { processes } = await readMerged(output)
  assert.deepEqual([processes[0].exitCode, processes[0].signal], [3221225477, null])
  // In the bar of the process too, which is made from the facts above.
  const again = path.join(dir, 'out', 'again.json')
  await merge(output, again)
  assert.match(fs.readFileSync(again, 'utf8'), /exit code 3221225477/)
  assert.equal((await readMerged(again)).processes[0].exitCode, 3221225477)
})

test('a merge contains all processes and threads, with names, in one frame', async () => {
  const dir = writeFamily()
  const output = path.join(dir, 'made', 'trace.json')
  const result = await merge(dir, output, { exit: { pid: 7, code: 3, signal: null } })
  const { bytes, ...rest } = result
  assert.equal(bytes, fs.statSync(output).size)
  const counts = { inputs: 4, processes: 2, threads: 4 }
  assert.deepEqual(rest, { files: [output], ...counts, repaired: [], failed: [], notes: [] })

  const { frames, threads, processes } = await readMerged(output)
  assert.deepEqual(
    frames.map(({ processId, url }) => [processId, url]),
    [
      [7, 'family.js: (pid 7)'],
      [8, 'family.js: child one (pid 8)'],
    ],
  )
  // DevTools shows all processes of one frame as 'Main'.
  assert.equal(frames[1].frame, frames[0].frame)
  assert.deepEqual([frames[0].parent, frames[1].parent], [undefined, undefined])
  assert.deepEqual(
    threads.map((/** @type {any} */ { pid, tid, name }) => [pid, tid, name]),
    [
      [7, 0, 'CrRendererMain'],
      [7, 1, 'family.js (pid 7) - worker 1: family.js'],
      [7, 2, 'family.js (pid 7) - worker 2: family.js'],
      [8, 0, 'CrRendererMain'],
    ],
  )
  const isSpin = (/** @type {any} */ frame) => frame.functionName === 'spin'
  assert.deepEqual(
    threads.map((/** @type {any} */ thread) => [thread.startUs, thread.totalMs(isSpin)]),
    [
      [1e9, 9],
      [1e9 + 3000, 5],
      [1e9 + 4000, 6],
      [1e9 + 2000, 8],
    ],
  )
  const [first, second] = processes
  assert.deepEqual([first.exitCode, first.signal, second.exitCode], [3, null, 4])
  assert.deepEqual([second.pid, second.ppid, second.node], [8, 7, 'v24.0.0'])
  assert.deepEqual(second.argv, ['node', 'family.js', 'child', 'one'])
  assert.deepEqual([first.threads, second.threads], [[0, 1, 2], [0]])

  // A merged trace can be merged again, to a compressed file. A merge of the folder with both
  // leaves the merged trace out.
  const again = path.join(dir, 'again.json.gz')
  assert.equal((await merge(output, again)).threads, 4)
  const once = await readMerged(again)
  assert.deepEqual(once.frames, frames)
  assert.deepEqual(once.threads.map(moments), threads.map(moments))
  const all = await merge(dir, path.join(dir, 'all.json'))
  assert.deepEqual([all.inputs, all.threads], [4, 4])
  assert.match(all.notes.join(), /left out merged traces.*again\.json\.gz/)
})

/** Returns samples as moments() does: one each millisecond. @param {number} from @param {number} count @param {string} stack */
const each = (from, count, stack) => Array.from({ length: count }, (_, i) => `${from + i} ${stack}`)

const MAIN = 'main main.js:1:1'
const READ = `${MAIN} > read read.js:4:2`
const WRITE = `${MAIN} > write write.js:8:3`

test('recordings of one thread become one profile, with gaps between the recordings', async () => {
  const dir = temporaryDirectory()
  const output = path.join(dir, 'out.json')
  // Each recording has its own call tree, in several windows.
  for (const [name, startMs, flushMs, stacks] of /** @type {const} */ ([
    ['a.json', 0, 2, { [READ]: 3, [MAIN]: 2 }],
    ['b.json', 8, 500, { [WRITE]: 2, [READ]: 2 }],
    ['c.json', 20, 3, { '(idle)': 1, [WRITE]: 3 }],
  ])) {
    const start = 1e9 + 1000 * startMs
    writeTrace(path.join(dir, name), { start, flushMs, spans: Object.entries(stacks) })
  }
  assert.equal((await merge(dir, output)).threads, 1)
  const { threads } = await readMerged(output)
  assert.deepEqual(threads.map(moments), [
    [
      ...each(0, 3, READ),
      ...each(3, 2, MAIN),
      '5 ',
      ...each(8, 2, WRITE),
      ...each(10, 2, READ),
      '12 ',
      '20 (idle)',
      ...each(21, 3, WRITE),
    ],
  ])
})

test('a slice contains only the time between from and to', async () => {
  const dir = temporaryDirectory()
  const output = path.join(dir, 'slice.json')
  const file = writeTrace(path.join(dir, 'a.json'), {
    spans: Object.entries({ [READ]: 4, [WRITE]: 3, [MAIN]: 3 }),
    flushMs: 3,
  })
  // The slice begins with the last sample before it, and ends with an empty stack.
  for (const [slice, expected] of /** @type {const} */ ([
    [
      { from: 2.5, to: 7.5 },
      [`2.5 ${READ}`, `3 ${READ}`, ...each(4, 3, WRITE), `7 ${MAIN}`, '7.5 '],
    ],
    [{ from: 3, to: 6 }, [`3 ${READ}`, ...each(4, 2, WRITE), '6 ']],
    [{ from: 8 }, each(8, 2, MAIN)],
    [{ to: -8 }, [...each(0, 2, READ), '2 ']],
  ])) {
    await merge(file, output, slice)
    const { threads } = await readMerged(output)
    assert.deepEqual(threads.map(moments), [expected], JSON.stringify(slice))
  }
  await assert.rejects(merge(file, output, { from: 60_000 }), /nothing was recorded/)
})

test("Node's own .cpuprofile files of threads can be merged", async () => {
  const dir = temporaryDirectory()
  const gzip = fs.readFileSync(path.join(FIXTURES, 'foreign', 'node-24.cpuprofile.gz'))
  const profile = JSON.parse(zlib.gunzipSync(gzip).toString())
  for (const tid of [0, 1, 2]) {
    const [startTime, endTime] = [profile.startTime, profile.endTime].map((us) => us + tid * 5000)
    const name = `CPU.20251125.100000.321.${tid}.00${tid}.cpuprofile`
    fs.writeFileSync(path.join(dir, name), JSON.stringify({ ...profile, startTime, endTime }))
  }
  const output = path.join(dir, 'out.json')
  const { inputs, threads: count, notes } = await merge(dir, output)
  assert.deepEqual([inputs, count, notes], [3, 3, []])
  const { threads, frames } = await readMerged(output)
  assert.deepEqual(
    frames.map(({ url }) => url),
    ['node: (pid 321)'],
  )
  assert.deepEqual(
    threads.map((/** @type {any} */ { tid, name }) => [tid, name]),
    [
      [0, 'CrRendererMain'],
      [1, 'node (pid 321) - worker 1'],
      [2, 'node (pid 321) - worker 2'],
    ],
  )
  for (const [tid, thread] of threads.entries()) {
    const startTime = profile.startTime + tid * 5000
    assert.deepEqual(moments(thread), moments(threadOf({ ...profile, startTime })))
    assert.ok(thread.functions.has('parse'))
  }
})

test('both formats of a recording count once', async () => {
  const dir = temporaryDirectory()
  const output = path.join(dir, 'out.json')
  const file = writeTrace(path.join(dir, 'CPU.7.trace.json'), {
    cwd: '/project',
    spans: [[READ, 5]],
  })
  const { boot, processStartMs } = JSON.parse(fs.readFileSync(file, 'utf8')).metadata['cpu-prof']
  const process = { pid: 7, threadId: 0, ppid: 1, cwd: '/project', node: 'v24.0.0' }
  const names = { label: 'app: (pid 7)', processName: 'app (pid 7)', threadName: 'main' }
  const facts = { ...process, processStartMs, boot, ...names }
  const profile = path.join(dir, 'CPU.7.cpuprofile')
  writeProfile(profile, [[READ, 5]], { startUs: 1e9, facts })
  const { inputs, threads: count, notes } = await merge(dir, output)
  assert.deepEqual([inputs, count], [1, 1])
  assert.match(notes.join(), /same recordings.*\.cpuprofile/)
  const { threads } = await readMerged(output)
  assert.deepEqual(threads.map(moments), [each(0, 5, READ)])
})

test('invalid arguments are rejected', async () => {
  const dir = temporaryDirectory()
  const output = path.join(dir, 'out.json')
  const files = [writeTrace(path.join(dir, 'a.json'))]
  /** @type {any} */
  const wrong = merge
  for (const [args, message] of /** @type {[any[], RegExp][]} */ ([
    [[5, output], /inputs must be/],
    [[files, ''], /output must be a file's path, not an empty string/],
    [[[], output], pattern`inputs ${messages.atLeastOnePath}, not an empty array`],
    [[files, output, { from: Number.NaN }], pattern`from ${messages.milliseconds}, not NaN`],
    [[files, output, { from: '-1s' }], pattern`from ${messages.milliseconds}, not a string`],
    [[files, output, { from: -5, to: -5 }], /from \(-5\) must be less/],
    [[files, output, { from: 5, to: 5 }], /from \(5\) must be less/],
    [[files, output, { exit: {} }], /exit must be/],
    [[files, output, { form: 1 }], /form is not an option of merge\(\)/],
  ])) {
    await assert.rejects(wrong(...args), message)
  }
  assert.ok(!fs.existsSync(output))
})

/** Writes files into a folder, and merges the folder. @param {Record<string, string | Buffer>} files */
async function mergeFiles(files) {
  const dir = temporaryDirectory()
  for (const [name, content] of Object.entries(files))
    fs.writeFileSync(path.join(dir, name), content)
  const output = path.join(dir, 'out', 'trace.json')
  const result = await merge(dir, output)
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

test('containers that start at one moment stay separate, each with its children', async () => {
  const inContainer = (/** @type {number} */ pidNamespace, /** @type {object} */ more) =>
    recording({ pidNamespace, processStartMs: 5, ...more })
  const { result, events } = await mergeFiles({
    'a.json': inContainer(1, { pid: 1, processKey: 'a', label: 'one' }),
    'a1.json': inContainer(1, { pid: 1, processKey: 'a', label: 'one', tid: 1 }),
    'a7.json': inContainer(1, { pid: 7, processKey: 'a7', label: 'kid', start: 1e9 + 2 }),
    'b.json': inContainer(2, { pid: 1, processKey: 'b', label: 'two' }),
    'b8.json': inContainer(2, { pid: 8, processKey: 'b8', label: 'kid', start: 1e9 + 2 }),
  })
  assert.deepEqual([result.processes, result.threads], [4, 5])
  const spans = events.filter((/** @type {any} */ { name }) => name === 'TimeStamp')
  const parentOf = (/** @type {number} */ pid) => {
    const { data } = spans.find((/** @type {any} */ { args }) =>
      args.data.name.includes(`(pid ${pid})`),
    ).args
    return Object.fromEntries(JSON.parse(data.devtools).properties).parent
  }
  assert.deepEqual([7, 8].map(parentOf), ['one (pid 1)', 'two (pid 1) #2'])
})

test('times of another machine are kept, and a note names the file', async () => {
  const { result, threads, json } = await mergeFiles({
    'a.json': recording(),
    'b.json': recording({ pid: 8, boot: 'c', start: 5e12 }),
    'c.json': recording({ pid: 9, start: 2e9 }),
  })
  assert.match(result.notes.join(), /another machine.*b\.json$/)
  const { window, child } = json.metadata.modifications.initialBreadcrumb
  assert.deepEqual([window.min, window.max], [1e9, 5e12 + 10_000])
  assert.deepEqual([child.window.min, child.window.max], [1e9, 2e9 + 10_000])
  assert.deepEqual(
    threads.map((/** @type {any} */ { startUs }) => startUs).sort(),
    [1e9, 2e9, 5e12],
  )
})

test('cut and compressed files are read, and unreadable files are listed with a reason', async () => {
  const whole = recording({ pid: 1 })
  const cut = recording({ pid: 2 })
  const half = zlib.gzipSync(recording({ pid: 4, functions: ['a'.repeat(9000), 'b'] }))
  const { result, threads } = await mergeFiles({
    'whole.json': whole,
    'cut.json': cut.slice(0, cut.indexOf('"trace.end"')),
    'gzip.json': zlib.gzipSync(recording({ pid: 3 })),
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
    pattern`^text\.json: .*${messages.notJson}`,
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
  const odd = { ph: 'R', pid: 1, tid: 5, ts: 1e9 + 0.5, name: 'odd', sf: 3, deep: [{ a: '}' }] }
  const slice = { ph: 'X', pid: 1, tid: 5, ts: 1e9 + 100, dur: 5000, name: 'build "x"', cat: 'c' }
  const named = { ph: 'M', pid: 1, tid: 5, name: 'process_name', args: { name: 'bazel' } }
  const other = { traceEvents: [named, slice, odd], stackFrames: { 3: { name: 'f' } } }
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
  await assert.rejects(merge(dir, output), pattern`a\.json: .*${messages.notJson}`)
  assert.deepEqual(fs.readdirSync(dir), ['a.json'])

  fs.writeFileSync(path.join(dir, 'a.json'), recording())
  await assert.rejects(merge(dir, dir), pattern`${messages.notWritten} .*name of a file`)
  assert.deepEqual((await merge(dir, '/dev/null')).files, ['/dev/null'])
  assert.ok(fs.statSync('/dev/null').isCharacterDevice())
  await assert.rejects(merge(dir, path.join(dir, 'a.json', 'x.json')), /could not make the folder/)
  assert.deepEqual(fs.readdirSync(dir), ['a.json'])
  // An older result is replaced, and is not an input.
  for (let i = 0; i < 2; i++) assert.equal((await merge(dir, output)).inputs, 1)
})
