'use strict'

// The category `http` labels the work of each request that a server answers.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { innermost } = require('../helpers/labelled.js')
const { run, FIXTURES, PACKAGE } = require('../helpers/run.js')

const options = { skip: process.platform !== 'linux' && 'labels are recorded on Linux' }
const [MAJOR] = process.versions.node.split('.').map(Number)
const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** Counts the samples of a function by the value of a label. @param {any} trace @param {string} name @param {string} key */
function countsOf(trace, name, key) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const { node, labels } of trace.samples) {
    if (innermost(trace, node, new RegExp(`^${name}$`)) === undefined) continue
    const value = labels?.[key] ?? 'none'
    counts[value] = (counts[value] ?? 0) + 1
  }
  return counts
}

/** Checks that nearly all samples of a function have a value, and none has another. @param {Record<string, number>} counts @param {string} value */
function assertOnly(counts, value) {
  const { [value]: right = 0, none = 0, ...others } = counts
  assert.deepEqual(others, {})
  assert.ok(right >= 20 && right > 4 * none, JSON.stringify(counts))
}

const SERVER = `
  const http = require('node:http')
  const net = require('node:net')
  const { spin } = require(${SPIN})
  const { setLabels } = require(${JSON.stringify(PACKAGE)})
  function first() { return spin(20) }
  function second() { return spin(20) }
  function fast() { return spin(5) }
  function outside() { return spin(150) }
  const later = () => new Promise((resolve) => setTimeout(resolve, 5))
  const server = http.createServer(async (request, response) => {
    if (request.url.startsWith('/users/')) {
      setLabels({ tenant: 't1' })
      first()
      await later()
      second()
    } else {
      fast()
      await later()
      fast()
    }
    response.end('x')
  })
  server.listen(0, () => {
    // Two connections at once, each with many requests; on the second they do not wait for each other.
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const { port } = server.address()
    const get = (path) => new Promise((resolve) => {
      http.get({ port, path, agent }, (response) => response.resume().on('end', resolve))
    })
    const piped = net.connect(port)
    let pipelined = ''
    for (let i = 0; i < 15; i++) {
      for (const path of ['/users/' + i + '?secret=x', '/fast']) {
        pipelined += 'GET ' + path + ' HTTP/1.1\\r\\nHost: x\\r\\n' + (i === 14 && path === '/fast' ? 'Connection: close\\r\\n' : '') + '\\r\\n'
      }
    }
    piped.resume().write(pipelined)
    const closed = new Promise((resolve) => piped.on('close', resolve))
    const timer = setTimeout(outside, 50)
    void (async () => {
      for (let i = 0; i < 15; i++) {
        await get('/users/' + i + '?secret=x')
        await get('/fast')
      }
      await closed
      agent.destroy()
      server.close()
    })()
  })`

test('work has the labels of its request, and no other work has', options, async () => {
  const { code, stderr, traces } = await run(['-e', SERVER], {
    env: { CPU_PROF_CATEGORIES: 'cpu,http' },
  })
  assert.deepEqual([code, stderr], [0, ''])
  const [trace] = traces
  for (const name of ['first', 'second']) {
    assertOnly(countsOf(trace, name, 'http'), 'GET /users/:id')
    assertOnly(countsOf(trace, name, 'tenant'), 't1')
  }
  assertOnly(countsOf(trace, 'fast', 'http'), 'GET /fast')
  assert.deepEqual(Object.keys(countsOf(trace, 'fast', 'tenant')), ['none'])
  assert.deepEqual(Object.keys(countsOf(trace, 'outside', 'http')), ['none'])
  assert.ok(!JSON.stringify(trace.events).includes('secret'))
  const { labels } = await report(trace.file, { by: 'label:http' })
  const [users] = labels
  assert.equal(users.name, 'GET /users/:id')
  assert.match(String(users.hottest?.name), /^(work|burn|first|second)$/)
  const workOf = (/** @type {string} */ name) =>
    labels.find((label) => label.name === name)?.selfMs ?? 0
  // By the program's code, the one has four times as much as the other.
  assert.ok(
    users.selfMs > 2 * workOf('GET /fast') && workOf('GET /fast') > 0,
    JSON.stringify(labels),
  )
  assert.ok(workOf('(no http)') > 0)
})

/** A hundred requests at once, each of which works in functions of its own route, in all ways that a context takes. */
const MANY = `
  const http = require('node:http')
  const fs = require('node:fs')
  const { Worker } = require('node:worker_threads')
  const { AsyncResource } = require('node:async_hooks')
  const { Readable, PassThrough, pipeline } = require('node:stream')
  const { promisify } = require('node:util')
  const { spin } = require(${SPIN})
  const ROUTES = 10
  const works = Array.from({ length: ROUTES }, (_, n) =>
    // Lines that no other code has: a recording gives samples of inlined functions back by their lines.
    new Function('spin', '\\n'.repeat(1000 + 50 * n) + 'return function f_' + n + '(ms) { return spin(ms) }')(spin))
  const worker = new Worker("const { parentPort } = require('node:worker_threads'); parentPort.on('message', (n) => parentPort.postMessage(n))", { eval: true })
  const jobs = []
  worker.on('message', () => { const { resource, done } = jobs.shift(); resource.runInAsyncScope(done) })
  const ask = () => new Promise((done) => { jobs.push({ resource: new AsyncResource('Job'), done }); worker.postMessage(1) })
  const streamed = promisify(pipeline)
  const nested = async (depth, work) => { work(1); if (depth > 0) await nested(depth - 1, work); await null; work(1) }
  const server = http.createServer(async (request, response) => {
    const work = works[request.url.slice(2)]
    work(2)
    await nested(3, work)
    await new Promise((resolve) => setTimeout(() => { work(2); resolve() }, 3))
    const through = new PassThrough()
    await Promise.all([
      streamed(Readable.from(['a', 'b']), through, async (source) => { for await (const _ of source) work(1) }),
      ask().then(() => work(1)),
      fs.promises.readFile(__filename).catch(() => {}).then(() => work(1)),
    ])
    response.end('x')
    work(2)
  })
  server.listen(0, async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 25 })
    const { port } = server.address()
    const get = (i) => new Promise((resolve) => {
      http.get({ port, path: '/r' + i % ROUTES, agent }, (response) => response.resume().on('end', resolve))
    })
    await Promise.all(Array.from({ length: 100 }, (_, i) => get(i)))
    agent.destroy()
    server.close()
    worker.unref()
  })`

test('each of a hundred requests at once has its own label', options, async () => {
  const { code, stderr, traces } = await run(['-e', MANY], {
    env: { CPU_PROF_CATEGORIES: 'cpu,http' },
  })
  assert.deepEqual([code, stderr], [0, ''])
  const [trace] = traces
  const counts = { right: 0, none: 0, wrong: 0 }
  for (const { node, labels } of trace.samples) {
    const name = innermost(trace, node, /^f_\d+$/)
    if (name === undefined) continue
    if (labels === undefined) counts.none++
    else counts[labels.http === `GET /r${name.slice(2)}` ? 'right' : 'wrong']++
  }
  assert.equal(counts.wrong, 0)
  assert.ok(
    counts.right >= 100 && counts.right >= 0.99 * (counts.right + counts.none),
    JSON.stringify(counts),
  )
})

/** Answers requests one after the other, and prints what their contexts are. */
const CONTEXTS = `
  const http = require('node:http')
  const { AsyncLocalStorage } = require('node:async_hooks')
  const AsyncContextFrame = require('internal/async_context_frame')
  const { spin } = require(${SPIN})
  const storage = new AsyncLocalStorage()
  function inside() { return spin(15) }
  function serve(work) {
    const frames = []
    const stores = new Set()
    const server = http.createServer((request, response) => {
      frames.push(AsyncContextFrame.current())
      stores.add(storage.getStore())
      work()
      response.end()
    })
    return new Promise((resolve) => server.listen(0, async () => {
      const { port } = server.address()
      const agent = new http.Agent({ keepAlive: true })
      for (let i = 0; i < 10; i++) {
        await new Promise((done) => http.get({ port, path: '/' + i, agent }, (response) => response.resume().on('end', done)))
      }
      agent.destroy()
      server.close()
      resolve({ frames: new Set(frames).size, stores: [...stores].map(String) })
    }))
  }
  void (async () => {
    const alone = await serve(() => {})
    const within = await storage.run('own', () => serve(inside))
    console.log(JSON.stringify([alone, within]))
  })()`

test('requests with one label share a frame, unless the program has a context', {
  skip: options.skip || (MAJOR < 24 && 'this Node keeps no frames'),
}, async () => {
  const { code, stdout, stderr, traces } = await run(['--expose-internals', '-e', CONTEXTS], {
    env: { CPU_PROF_CATEGORIES: 'cpu,http' },
  })
  assert.deepEqual([code, stderr], [0, ''])
  const [alone, within] = JSON.parse(stdout)
  // The first label of a thread leaves a frame of its own in its request.
  assert.ok(alone.frames <= 2, `${alone.frames} frames of 10 requests`)
  assert.deepEqual(alone.stores, ['undefined'])
  assert.deepEqual(within.stores, ['own'])
  assertOnly(countsOf(traces[0], 'inside', 'http'), 'GET /:id')
})
