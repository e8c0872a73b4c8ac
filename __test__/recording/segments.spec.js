'use strict'

// Recordings with a limit: segments, of which the oldest are removed.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../..')
const { cli } = require('../helpers/cli.js')
const { messages } = require('../helpers/messages.js')
const {
  run,
  message,
  readTrace,
  temporaryDirectory,
  tracesIn,
  FIXTURES,
} = require('../helpers/run.js')
const { readThreads } = require('../helpers/run-traces.js')
const { NEEDS_WAKE_UP } = require('../helpers/source.js')
const { sumOfStates } = require('../helpers/times.js')
const { readProfile } = require('../helpers/trace.js')

const MAX_SIZE = 128 * 1024
const SMALL = { CPU_PROF_MAX_SIZE: '128K', CPU_PROF_FLUSH_INTERVAL: '10' }
/** Without a limit, so many segments would be more than twice as large. */
const SEGMENTS = '10'

/**
 * Reads traces one by one, and checks that they are a chain.
 * @param {string[]} files @param {{ isKilled?: boolean }} [options]
 */
async function readChain(files, { isKilled = false } = {}) {
  /** @type {Awaited<ReturnType<typeof readTrace>>[]} */
  const traces = []
  for (const file of files) traces.push(await readTrace(file))
  for (const [index, trace] of traces.entries()) {
    if (index === 0) continue
    const before = traces[index - 1]
    assert.equal(trace.metadata.segment, before.metadata.segment + 1)
    assert.equal(trace.metadata.recording, before.metadata.recording)
    assert.ok(before.ended, 'a segment before the last has no end')
    assert.equal(before.events.at(-1).ts, trace.startUs, 'time is missing between two segments')
    assert.equal(profileId(trace), profileId(before))
    // SIGKILL can come before the first window of the newest segment is written.
    if (isKilled && index === traces.length - 1 && trace.samples.length === 0) continue
    assert.equal(trace.samples[0].us, 0, 'a segment does not begin with its first sample')
  }
  return traces
}

/** @param {{ events: any[] }} trace */
const profileId = ({ events }) => events.find(({ name }) => name === 'Profile').id

/** Returns the bytes of the files in a folder. @param {string} dir */
function bytesIn(dir) {
  const sizes = tracesIn(dir).map((file) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Merges files, and returns the profile of the only thread. @param {string[]} files */
async function mergedProfile(files) {
  const output = path.join(temporaryDirectory(), 'merged.json')
  const result = await merge(files, output)
  assert.equal(result.inputs, files.length)
  assert.deepEqual([result.processes, result.threads, result.failed], [1, 1, []])
  assert.equal((await readThreads(output)).length, 1)
  const { traceEvents } = JSON.parse(fs.readFileSync(output, 'latin1'))
  const named = (/** @type {string} */ name) =>
    traceEvents.filter((/** @type {any} */ event) => event.name === name)
  const profiles = named('Profile')
  assert.equal(profiles.length, 1)
  return readProfile(profiles[0], named('ProfileChunk'))
}

test('the folder stays below the size, and the newest segments are one continuous recording', async () => {
  /** @type {number[]} */
  const sizes = []
  let timer
  const { code, stderr, cwd } = await run(['segments.js', SEGMENTS], {
    env: SMALL,
    read: 0,
    during: (_, dir) => {
      timer = setInterval(() => sizes.push(bytesIn(dir)), 5)
    },
  })
  clearInterval(timer)
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  // The sizes are not read at one moment: flushes can come in between.
  const most = Math.max(...sizes)
  assert.ok(most < 2 * MAX_SIZE, `${most} bytes were in the folder`)
  assert.ok(bytesIn(cwd) > MAX_SIZE / 4)
  assert.ok(bytesIn(cwd) <= MAX_SIZE, `${bytesIn(cwd)} bytes are left`)

  const files = tracesIn(cwd)
  const traces = await readChain(files)
  assert.ok(traces.length > 1)
  assert.ok(traces[0].metadata.segment > 1)
  assert.ok(traces.at(-1)?.ended)

  // Merged, no sample is lost or added, but the one that ends the recording.
  const merged = await mergedProfile(files)
  const counts = traces.map(({ samples }) => samples.length)
  const sum = counts.reduce((a, b) => a + b, 0)
  const [ended, ...rest] = merged.samples.filter(
    ({ node }) => node.callFrame.functionName === '(root)',
  )
  assert.deepEqual(rest, [])
  assert.equal(merged.samples.length, sum + (ended ? 1 : 0))

  // The report has no time between the segments.
  const { processes } = await report(files)
  const [{ durationMs, samples, ...times }] = processes[0].threads
  assert.equal(samples, sum)
  const reported = sumOfStates(times)
  const beforeFirstMs = traces[0].samples[0].us / 1000
  assert.ok(Math.abs(durationMs - reported - beforeFirstMs) < 1, `${durationMs} and ${reported}`)
})

test('SIGKILL leaves the last segments', async () => {
  const { signal, cwd } = await run(['segments.js', SEGMENTS, 'hang'], {
    env: SMALL,
    read: 0,
    during: async (child) => {
      await message(child)
      child.kill('SIGKILL')
    },
  })
  assert.equal(signal, 'SIGKILL')
  // Or even before its head is written.
  const files = tracesIn(cwd).filter((file) => fs.statSync(file).size > 0)
  assert.ok(files.length >= tracesIn(cwd).length - 1)
  const traces = await readChain(files, { isKilled: true })
  assert.ok(traces.length > 1 && bytesIn(cwd) <= MAX_SIZE)
  const merged = await mergedProfile(files)
  const sum = traces.reduce((all, { samples }) => all + samples.length, 0)
  assert.ok([0, 1].includes(merged.samples.length - sum))
})

test('older segments than the time are removed', async () => {
  const { stderr, cwd } = await run(['segments.js', '9'], {
    env: { CPU_PROF_KEEP: '1s', CPU_PROF_FLUSH_INTERVAL: '20' },
    read: 0,
  })
  assert.equal(stderr, '')
  const traces = await readChain(tracesIn(cwd))
  assert.ok(traces[0].metadata.segment > 1, 'nothing was removed')
  assert.ok(Number(traces.at(-1)?.metadata.segment) >= 9)
  const flushes = traces
    .flatMap(({ events }) => events)
    .filter(({ name }) => name === 'thread.flush')
  // The age is that of the window's end, on which the removal depends too: nothing else takes time.
  const ageUs = flushes.at(-1).ts - traces[0].events.at(-1).ts
  assert.ok(ageUs <= 1e6 + 1000, `the oldest segment ended ${ageUs} microseconds before`)
})

test('stop() lists the files that exist, and counts their samples', async () => {
  /** @type {any} */
  let recording
  const { code, stderr, cwd } = await run(['segments.js', SEGMENTS, 'code'], {
    preload: null,
    read: 0,
    during: async (child) => {
      recording = await message(child)
    },
  })
  assert.equal(code, 0, stderr)
  assert.deepEqual(recording.files, tracesIn(cwd))
  const traces = await readChain(recording.files)
  const count = (/** @type {(trace: any) => number} */ of) =>
    traces.reduce((sum, trace) => sum + of(trace), 0)
  assert.equal(
    recording.samples,
    count(({ samples }) => samples.length),
  )
  assert.equal(
    recording.nodes,
    count(({ nodes }) => nodes.size),
  )
})

test('a limit is of one thread, and each segment of a worker has its name', async () => {
  const { code, stderr, traces } = await run(['segments.js', SEGMENTS, 'worker'], { env: SMALL })
  assert.equal(code, 0, stderr)
  const workers = traces.filter(({ tid }) => tid === 1)
  assert.ok(workers.length > 1 && workers.length < traces.length)
  for (const { label } of workers) assert.match(label, / - worker 1: segments\.js$/)
})

test('a recording that continues after a signal keeps within the limit', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const { code, stderr, cwd } = await run(['segments.js', '0', 'signals'], { env: SMALL, read: 0 })
  assert.equal(code, 0, stderr)
  const files = tracesIn(cwd)
  assert.ok(bytesIn(cwd) <= MAX_SIZE, `${bytesIn(cwd)} bytes in ${files.length} files`)
  assert.ok(Number(path.basename(files[0], '.trace.json').slice(-3)) > 1)
})

test('a file that others put in the place of a segment is left alone', async () => {
  const { code, stderr, cwd } = await run(['segments.js', SEGMENTS, 'pause'], {
    env: { ...SMALL, CPU_PROF_NAME: '%N' },
    read: 0,
    during: async (child, dir) => {
      await message(child)
      const first = path.join(dir, '001.trace.json')
      fs.rmSync(first)
      fs.writeFileSync(first, 'mine')
      child.send('continue')
    },
  })
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  assert.equal(fs.readFileSync(path.join(cwd, '001.trace.json'), 'utf8'), 'mine')
  assert.ok(!fs.existsSync(path.join(cwd, '002.trace.json')))
})

for (const [variable, value] of [
  ['CPU_PROF_MAX_SIZE', '200M'],
  ['CPU_PROF_KEEP', '10m'],
]) {
  test(`${variable} with a .cpuprofile is a wrong setting`, async () => {
    const env = { [variable]: value, CPU_PROF_FORMAT: 'trace,cpuprofile' }
    const { code, stdout, stderr } = await run(['-e', 'console.log("ran")'], { env })
    assert.equal(code, 9)
    assert.equal(stdout, '')
    const message = `cpu-prof: ${variable}=${value} is not valid: ${messages.needsTrace} alone`
    assert.ok(stderr.startsWith(message), stderr)
  })
}

test('run passes the limits on, and counts the segments as one recording', async () => {
  const cwd = temporaryDirectory()
  const options = ['--max-size', '128K', '--keep', '1h', '--flush-interval', '10', '--dir', 'd']
  const command = [process.execPath, path.join(FIXTURES, 'segments.js'), SEGMENTS]
  const { code, stderr } = await cli(['run', '--no-merge', ...options, '--', ...command], {
    cwd,
    env: { CPU_PROF_DIR: path.join(cwd, 'd') },
  })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /: 1 recording in d /)
  assert.ok(tracesIn(path.join(cwd, 'd')).length > 1)
  assert.ok(bytesIn(path.join(cwd, 'd')) <= MAX_SIZE)
})
