'use strict'

// A process that sends its own profiles, because CPU_PROF_PUSH names a server.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const test = require('node:test')
const { report } = require('../../../../index.js')
const {
  cleanEnv,
  temporaryDirectory,
  tracesIn,
  PACKAGE,
} = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { pprofFiles, startPushServer } = require('../helpers/push-server.js')
const { until } = require('../../../../__test__/helpers/until.js')

const SECRET = 'secret-of-the-spec'
const WORK = `
  function work() { for (const end = Date.now() + 20; Date.now() < end; ) Math.sqrt(end) }
  let timer
  const begin = () => { timer = setInterval(work, 25) }
  const pause = () => clearInterval(timer)
  process.on('message', (word) => eval(word))`

/**
 * Starts a program that does what it is told. Ends with the test.
 * @param {{ after(end: () => void): void }} t @param {string} code @param {Record<string, string>} variables
 */
function start(t, code, variables) {
  const dir = temporaryDirectory()
  const env = { ...cleanEnv(), CPU_PROF_DIR: dir, CPU_PROF_PUSH_EVERY: '1s', ...variables }
  const args = ['--require', PACKAGE, '-e', `${WORK}\n${code}`]
  const program = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe', 'ipc'] })
  t.after(() => program.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    program[name]?.on('data', (text) => {
      output[name] += text
    })
  }
  return { program, dir, output, tell: (/** @type {string} */ word) => program.send(word) }
}

/**
 * Returns the time of a function by files, also that without a core, milliseconds.
 * @param {string[]} files
 */
async function workMs(files, name = 'work') {
  const { functions } = await report(files, { top: 100 })
  const found = functions.find((one) => one.name === name)
  return (found?.selfMs ?? 0) + (found?.waitingMs ?? 0) + (found?.blockedMs ?? 0)
}

/** Returns the starts of the slices, seconds. @param {import('../helpers/push-server.js').Pushed[]} pushed */
const startsOf = (pushed) => pushed.map(({ url }) => Number(url.searchParams.get('from')))

test('slices are sent while the program runs, and come once', async (t) => {
  const server = await startPushServer(t)
  const { program, dir, output, tell } = start(t, 'begin()', {
    CPU_PROF_PUSH: server.url,
    CPU_PROF_PUSH_SERVICE: 'shop',
    CPU_PROF_PUSH_TAGS: 'region=eu,host=here',
    CPU_PROF_PUSH_HEADERS: `Authorization=Bearer%20${SECRET}`,
  })
  await until(() => server.pushed.length >= 3)
  tell('pause()')
  const paused = Date.now() / 1000 + 2
  // The time of a program that waits is sent too.
  await until(() => Math.max(...startsOf(server.pushed)) > paused)
  const { name } = Object.fromEntries(server.pushed[0].url.searchParams)
  assert.equal(name, 'shop{host=here,process=node,region=eu}')
  assert.equal(server.pushed[0].headers.authorization, `Bearer ${SECRET}`)
  const starts = startsOf(server.pushed)
  assert.equal(new Set(starts).size, starts.length, `${starts}`)
  const [sentMs, recordedMs] = await Promise.all([
    workMs(pprofFiles(server.pushed)),
    workMs(tracesIn(dir)),
  ])
  assert.ok(recordedMs > 1000, `${recordedMs}`)
  // At the border of a slice, a time without a core can count as idle. A lost slice would be a fifth.
  assert.ok(Math.abs(sentMs - recordedMs) < 0.1 * recordedMs, `${sentMs} of ${recordedMs} ms`)
  program.disconnect()
  assert.deepEqual(
    [...(await once(program, 'exit')), output],
    [0, null, { stdout: '', stderr: '' }],
  )
  for (const file of tracesIn(dir)) {
    assert.ok(!fs.readFileSync(file, 'utf8').includes(SECRET))
  }
})

test('each recording in code is sent to its end, and its workers with it', async (t) => {
  const server = await startPushServer(t)
  const { program, dir, tell } = start(
    t,
    `const { start, stop, report } = require(${JSON.stringify(PACKAGE)})
    stop()
    const { Worker } = require('node:worker_threads')
    const inWorker = 'function inWorker() { for (const end = Date.now() + 1500; Date.now() < end; ) {} } inWorker()'
    const record = async () => {
      start({ workers: true })
      begin()
      await new Promise((resolve) => new Worker(inWorker, { eval: true }).on('exit', resolve))
      pause()
      const { files } = stop()
      // The library that sends is the one that reports.
      process.send({ functions: (await report(files)).functions.length })
    }`,
    { CPU_PROF_PUSH: server.url },
  )
  /** @type {string[]} */
  const files = []
  for (const part of [1, 2]) {
    tell('record()')
    const [{ functions }] = await once(program, 'message')
    assert.ok(functions > 0)
    files.splice(0, files.length, ...tracesIn(dir).slice(1))
    assert.equal(files.length, 2 * part)
    await server.arrived(1)
    // What is sent at first has been sent before the second begins. Each thread is sent by itself.
    for (const name of ['work', 'inWorker']) {
      const isSent = async () =>
        (await workMs(pprofFiles(server.pushed), name)) > 0.9 * (await workMs(files, name))
      for (const end = Date.now() + 30_000; !(await isSent()); ) assert.ok(Date.now() < end)
    }
  }
  const sent = pprofFiles(server.pushed)
  for (const name of ['work', 'inWorker']) {
    const [sentMs, recordedMs] = await Promise.all([workMs(sent, name), workMs(files, name)])
    assert.ok(sentMs < 1.1 * recordedMs, `${name}: ${sentMs} of ${recordedMs} ms`)
  }
  const { functions } = await report(sent, { top: 100 })
  assert.ok((functions.find(({ name }) => name === 'inWorker')?.selfMs ?? 0) > 1500)
})

test('the samples of a thread that was blocked come late, and are sent', async (t) => {
  const server = await startPushServer(t)
  const { dir, tell } = start(
    t,
    `const { Worker } = require('node:worker_threads')
    new Worker('setInterval(() => { for (const end = Date.now() + 20; Date.now() < end; ) {} }, 25)', { eval: true })
    function block() {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000)
    }
    begin()`,
    { CPU_PROF_PUSH: server.url },
  )
  await until(() => server.pushed.length >= 1)
  tell('block(); process.send("over")')
  const totalMs = async (/** @type {string[]} */ files) => {
    const { functions } = await report(files, { top: 100 })
    return functions.find(({ name }) => name === 'block')?.totalMs ?? 0
  }
  const isSent = async () => (await totalMs(pprofFiles(server.pushed))) > 4900
  for (const end = Date.now() + 30_000; !(await isSent()); ) {
    const blockedMs = await totalMs(pprofFiles(server.pushed))
    assert.ok(Date.now() < end, `${blockedMs} of ${await totalMs(tracesIn(dir))} ms`)
  }
})

test('a server that is away costs one line', async (t) => {
  const server = await startPushServer(t, (response) => response.writeHead(403).end(SECRET))
  const url = server.url.replace('//', `//user:${SECRET}@`)
  const { program, output, tell } = start(t, 'begin()', { CPU_PROF_PUSH: url })
  await until(() => server.pushed.length >= 3)
  tell('console.log("alive"); process.exitCode = 7; pause(); process.disconnect()')
  assert.deepEqual(await once(program, 'exit'), [7, null])
  assert.equal(output.stdout, 'alive\n')
  assert.match(output.stderr, /^cpu-prof: profiles are not sent: .* answered 403; .*\n$/)
  assert.ok(!output.stderr.includes(SECRET))
})

test('a program ends although the server does not answer', async (t) => {
  const server = await startPushServer(t, () => {})
  const { program, output, tell } = start(t, 'begin()', { CPU_PROF_PUSH: server.url })
  await server.arrived(1)
  const before = performance.now()
  tell('process.exit(3)')
  assert.deepEqual(await once(program, 'exit'), [3, null])
  // A request has ten seconds.
  assert.ok(performance.now() - before < 5000)
  assert.deepEqual(output, { stdout: '', stderr: '' })
})

test('what the server wants to know is read when the first slice is complete', async (t) => {
  const server = await startPushServer(t)
  const { program, output, tell } = start(t, 'begin()', {
    CPU_PROF_PUSH: server.url,
    CPU_PROF_PUSH_CA: '/missing/ca.pem',
  })
  await until(() => output.stderr.endsWith('\n'))
  assert.match(output.stderr, /^cpu-prof: profiles are not sent: CPU_PROF_PUSH_CA: .*\n$/)
  tell('process.exit(0)')
  assert.deepEqual(await once(program, 'exit'), [0, null])
  assert.equal(server.pushed.length, 0)
})

test('wrong settings stop the program before its first line', async (t) => {
  for (const [variables, words] of /** @type {[Record<string, string>, RegExp][]} */ ([
    [{ CPU_PROF_PUSH: `ftp://u:${SECRET}@h` }, /CPU_PROF_PUSH=… is not valid: an address/],
    [
      { CPU_PROF_PUSH: `http://u:${SECRET}@h`, CPU_PROF_FORMAT: 'cpuprofile' },
      pattern`${messages.needsTrace}`,
    ],
    [{ CPU_PROF_PUSH: 'http://localhost:1', CPU_PROF_PUSH_EVERY: '1' }, /_EVERY=1 is not valid/],
  ])) {
    const { program, output } = start(t, 'console.log(1)', variables)
    assert.deepEqual(await once(program, 'exit'), [9, null])
    assert.equal(output.stdout, '')
    assert.match(output.stderr, words)
    assert.ok(!output.stderr.includes(SECRET))
  }
})

test('a process that ends before its first slice never loads the library', async (t) => {
  if (process.platform !== 'linux') return t.skip('it is seen in /proc')
  const { program, output } = start(
    t,
    `const maps = require('node:fs').readFileSync('/proc/self/maps', 'utf8')
    console.log(maps.includes('cpu-prof.linux'), maps.includes('cpu-prof-tools'))
    process.disconnect()`,
    { CPU_PROF_PUSH: 'http://127.0.0.1:1', CPU_PROF_PUSH_EVERY: '10s' },
  )
  assert.deepEqual(await once(program, 'exit'), [0, null])
  assert.deepEqual(output, { stdout: 'true false\n', stderr: '' })
})
