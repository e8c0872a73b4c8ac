'use strict'

// The category native: threads that run no JavaScript.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../..')
const { cli } = require('../helpers/cli.js')
const { messages, pattern } = require('../helpers/messages.js')
const { nativeStacks } = require('../helpers/native-stacks.js')
const { run, temporaryDirectory, PACKAGE, SOURCE } = require('../helpers/run.js')

const { header } = /** @type {any} */ (process.report?.getReport() ?? {})
const SKIP =
  (header?.glibcVersionRuntime === undefined && 'native threads are sampled on Linux with glibc') ||
  (!/^(x64|arm64)$/.test(process.arch) && 'native threads are sampled on x64 and arm64') ||
  (SOURCE !== 'v8' && 'native threads belong to recordings with V8')

const EXAMPLES = path.join(PACKAGE, 'target', 'debug', 'examples')
const ADDON = path.join(EXAMPLES, 'libnative.so')
const CALLS = path.join(EXAMPLES, 'libsystem_calls.so')
const ENV = { CPU_PROF_CATEGORIES: 'cpu,native' }
/** What the clock of a thread and that of its samples may differ by, and the part of it. */
const LOST_MS = 15
const PART = 0.05

/** Prints the CPU time of each thread by its id as the system counts it, with its name: `[id, name, ms]`. */
const THREADS = `
  const fs = require('node:fs')
  const threads = () => fs.readdirSync('/proc/self/task').map((id) => {
    const task = '/proc/self/task/' + id
    const [ns] = fs.readFileSync(task + '/schedstat', 'utf8').split(' ')
    return [Number(id), fs.readFileSync(task + '/comm', 'utf8').trim(), Number(ns) / 1e6]
  })`

/** CPU time that each thread of the addon uses, milliseconds. */
const WORK_MS = 700
/** Two threads of an addon, which work and then wait. */
const WORK = `
  ${THREADS}
  process.dlopen({ exports: {} }, ${JSON.stringify(ADDON)})
  const wait = setInterval(() => {
    const ours = threads().filter(([, name]) => name.startsWith('spec-'))
    if (ours.length === 2 && ours.every(([, , ms]) => ms >= ${WORK_MS})) {
      clearInterval(wait)
      console.log(JSON.stringify(threads()))
    }
  }, 50)`

/** Hashes on libuv's threads. */
const HASHING = `
  ${THREADS}
  const { pbkdf2 } = require('node:crypto')
  let left = 60
  function hash() { pbkdf2('a', 'b', 20000, 64, 'sha512', () => { if (left-- > 0) hash() }) }
  for (let count = 0; count < 4; count++) hash()
  process.on('exit', () => console.log(JSON.stringify(threads())))`

/** @typedef {Awaited<ReturnType<typeof run>>['traces'][number]} Trace */

/** Returns the name of the thread of a trace without its process. @param {Trace} trace */
function nameOf({ events }) {
  const names = events.filter((/** @type {any} */ { name, ts }) => name === 'thread_name' && ts > 0)
  return String(names[names.length - 1]?.args.name).replace(/^.* - /, '')
}

/** Returns the time in which a thread was not idle, milliseconds. @param {Trace} trace */
function workMs(trace) {
  const idle = trace.totalMs((frame) => frame.functionName === '(idle)')
  return trace.totalMs(() => true) - idle
}

/**
 * Compares the time of each thread that has a trace with the system's. Returns the count of these threads, without V8's
 * own: they can work enough to have a trace.
 * @param {Trace[]} traces @param {string} stdout
 */
function compareWithSystem(traces, stdout) {
  /** @type {[number, string, number][]} */
  const threads = JSON.parse(stdout)
  let compared = 0
  for (const [id, name, ms] of threads) {
    const trace = traces.find((trace) => nameOf(trace).endsWith(`(${id})`))
    if (trace === undefined) continue
    if (!nameOf(trace).startsWith('V8Worker (')) compared += 1
    const seenMs = workMs(trace)
    const mostMs = LOST_MS + PART * ms
    assert.ok(Math.abs(seenMs - ms) < mostMs, `${name} ${id}: ${seenMs} ms of ${ms} ms`)
  }
  return compared
}

test('a native thread has its functions, and as much time as it used of a core', {
  skip: SKIP,
}, async () => {
  const env = { ...ENV, NATIVE: 'threads' }
  const { traces, stdout, stderr } = await run(['-e', WORK], { env })
  assert.equal(stderr, '')
  assert.equal(compareWithSystem(traces, stdout), 2, traces.map(nameOf).join(', '))
  const chain = traces.find((trace) => nameOf(trace).startsWith('spec-chain ('))
  assert.ok(chain)
  const { chains, cut } = nativeStacks(chain, '(root)')
  assert.ok(cut < 0.1, `${cut} of the stacks are cut`)
  const ofAddon = chains.map((chain) =>
    chain.filter(({ module }) => module.endsWith('libnative.so')).map(({ address }) => address),
  )
  // Rust's start of a thread, four times `outer_work`, `inner_work`.
  const deepest = ofAddon.sort((a, b) => b.length - a.length)[0]
  const first = deepest.findIndex((address, at) => address === deepest[at + 1])
  const outer = deepest.slice(first, first + 4)
  assert.ok(outer.length === 4 && new Set(outer).size === 1, JSON.stringify(deepest))
  for (const chain of ofAddon.filter((chain) => chain.length > first + 4)) {
    assert.deepEqual(chain.slice(0, first + 5), deepest.slice(0, first + 5))
  }
})

test('the time of a thread that blocks all signals has no functions', { skip: SKIP }, async () => {
  const { traces } = await run(['-e', WORK], { env: { ...ENV, NATIVE: 'threads' } })
  const deaf = traces.find((trace) => nameOf(trace).startsWith('spec-deaf ('))
  assert.ok(deaf, traces.map(nameOf).join(', '))
  const truncatedMs = deaf.totalMs((frame) => frame.functionName === '(truncated)')
  assert.ok(Math.abs(truncatedMs - workMs(deaf)) < 1, `${truncatedMs} of ${workMs(deaf)} ms`)
})

test('the functions of a thread that has ended do not last until the recording ends', {
  skip: SKIP,
}, async () => {
  const source = `
    ${THREADS}
    process.dlopen({ exports: {} }, ${JSON.stringify(ADDON)})
    const wait = setInterval(() => {
      if (threads().some(([, name]) => name === 'spec-ended')) return
      clearInterval(wait)
      setTimeout(() => {}, 1000)
    }, 50)`
  const { traces } = await run(['-e', source], { env: { ...ENV, NATIVE: 'ended' } })
  const ended = traces.find((trace) => nameOf(trace).startsWith('spec-ended ('))
  assert.ok(ended, traces.map(nameOf).join(', '))
  const seenMs = workMs(ended)
  // The last round of its work lasts up to 5 ms more.
  const mostMs = LOST_MS + PART * WORK_MS + 5
  assert.ok(Math.abs(seenMs - WORK_MS) < mostMs, `${seenMs} ms of ${WORK_MS} ms`)
})

test('where a sandbox forbids the timers, one line says so, and the native frames stay', {
  skip: SKIP,
}, async () => {
  const source = `
    process.dlopen({ exports: {} }, ${JSON.stringify(ADDON)})
    const cpuProf = require(${JSON.stringify(PACKAGE)})
    const { pbkdf2Sync } = require('node:crypto')
    cpuProf.start()
    while (process.cpuUsage().user < 500_000) pbkdf2Sync('a', 'b', 2000, 64, 'sha512')
    cpuProf.stop()`
  const env = { ...ENV, NATIVE: 'no-timers' }
  const { traces, stderr } = await run(['-e', source], { env, preload: null })
  assert.match(
    stderr,
    /^cpu-prof: native threads are not recorded: their timers do not work: .*timer_create.*\n$/,
  )
  assert.equal(traces.length, 1)
  const { chains } = nativeStacks(traces[0], 'pbkdf2Sync')
  assert.ok(chains.length > 0)
})

test('the pool of libuv is in reports: threads, functions, and who asked for the work', {
  skip: SKIP,
}, async () => {
  const { traces, files, stdout } = await run(['-e', HASHING], { env: ENV })
  assert.equal(compareWithSystem(traces, stdout), 4, traces.map(nameOf).join(', '))
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge(files, merged)
  for (const inputs of [files, [merged]]) {
    const { processes, modules = [] } = await report(inputs)
    assert.equal(processes[0].threads.length, 5)
    const [first] = modules
    assert.equal(first.name, 'OpenSSL', JSON.stringify(modules))
  }
  const { stdout: printed } = await cli(['report', merged])
  // On a busy machine another sentence comes first.
  const text = printed.replace(/\s+/g, ' ')
  assert.match(text, pattern`9\d % ${messages.toNativeThreads}, mostly OpenSSL`)
  assert.match(text, /4 native threads/)
})

test('stop() tells the files of native threads, and a second recording has its own', {
  skip: SKIP,
}, async () => {
  const source = `
    const cpuProf = require(${JSON.stringify(PACKAGE)})
    const { pbkdf2 } = require('node:crypto')
    const hash = () => new Promise((done) => pbkdf2('a', 'b', 100000, 64, 'sha512', done))
    async function record() {
      cpuProf.start()
      for (let round = 0; round < 4; round++) await Promise.all([hash(), hash()])
      return cpuProf.stop().files.length
    }
    record().then(async (first) => console.log(first, await record()))`
  const { stdout, files, traces } = await run(['-e', source], { env: ENV, preload: null })
  const [first, second] = stdout.split(' ').map(Number)
  assert.ok(first >= 3 && second >= 3, stdout)
  assert.equal(files.length, first + second)
  for (const trace of traces.filter((trace) => / \(\d+\)$/.test(nameOf(trace)))) {
    assert.ok(workMs(trace) >= 9, `${nameOf(trace)}: ${workMs(trace)} ms`)
  }
})

test('a killed process keeps what its threads did while the main thread was in one call', {
  skip: SKIP,
}, async () => {
  // The thread works while the main thread waits for it, and then nobody ends well.
  const source = `
    setTimeout(() => {
      const timer = new (require('node:worker_threads').Worker)(
        'setTimeout(() => process.kill(process.pid, "SIGKILL"), 1500)', { eval: true })
      timer.on('online', () => process.dlopen({ exports: {} }, ${JSON.stringify(CALLS)}))
    })`
  const { traces, signal } = await run(['-e', source], { env: { ...ENV, SECONDS: '60' } })
  assert.equal(signal, 'SIGKILL')
  const calls = traces.find((trace) => nameOf(trace).startsWith('spec-calls ('))
  assert.ok(calls && workMs(calls) > 20, traces.map(nameOf).join(', '))
})

test('system calls of a native thread end as without us', { skip: SKIP }, async () => {
  const source = `process.dlopen({ exports: {} }, ${JSON.stringify(CALLS)})`
  const { stdout } = await run(['-e', source], { env: { ...ENV, SECONDS: '3' } })
  assert.match(stdout, /^22 calls, \d+ rounds; failures: \[\]\n$/)
})

test('without the category native threads have no traces', { skip: SKIP }, async () => {
  const { files } = await run(['-e', HASHING])
  assert.equal(files.length, 1)
  assert.equal(fs.existsSync(files[0]), true)
})

test('a thread that blocks all signals and takes them itself gets none of ours; one that begins to do so later gets no more', {
  skip: SKIP,
}, async () => {
  const source = `process.dlopen({ exports: {} }, ${JSON.stringify(ADDON)})`
  const { stdout } = await run(['-e', source], { env: { ...ENV, NATIVE: 'take' } })
  const [first, second] = stdout.split('\n').map((line) => line.split(' ').map(Number))
  assert.deepEqual(first, [0, 0])
  // The timer ends with a look at the threads, of which the first ones can be 200 ms apart.
  assert.equal(second[1], 0, stdout)
  assert.ok(second[0] > 0, `the second thread had a timer when it blocked the signals: ${stdout}`)
})
