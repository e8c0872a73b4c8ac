'use strict'

// The category `http`: requests that the program answers and makes, as times in tracks of their own.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const test = require('node:test')
const { tracesIn } = require('../helpers/files.js')
const { run } = require('../helpers/run.js')
const { until } = require('../helpers/until.js')
const { requestName } = require('../../lib/observed/request-name.js')

const env = { CPU_PROF_CATEGORIES: 'cpu,http' }

/**
 * Lists the requests of a trace, in the order of their ends.
 * @param {{ events: any[] }} trace
 */
function requests({ events }) {
  const timings = events.filter(({ cat }) => cat === 'blink.user_timing')
  return timings
    .filter(({ ph }) => ph === 'e')
    .map((end) => {
      const begin = timings.find(({ ph, id2 }) => ph === 'b' && id2.local === end.id2.local)
      assert.equal(begin.name, end.name)
      const { track, properties } = JSON.parse(begin.args.detail).devtools
      const { status } = Object.fromEntries(properties)
      return { name: begin.name, track, status, ms: (end.ts - begin.ts) / 1000, ts: begin.ts }
    })
}

/** Serves with `handle`, and calls `use` with the port. @param {string} handle @param {string} use */
const served = (handle, use) => `
  const http = require('node:http')
  const server = http.createServer((request, response) => { ${handle} })
  const get = (path, options) => new Promise((resolve) => {
    const sent = http.request({ port: server.address().port, path, ...options }, (response) => {
      response.resume().on('end', resolve)
    })
    sent.on('error', resolve).end()
  })
  server.listen(0, async () => {
    ${use}
    server.close()
    server.closeIdleConnections()
  })`

test('requests of a server and of a client, without secrets', async () => {
  const code = served(
    `// A router changes the URL while it handles a request.
    request.url = '/'
    response.statusCode = request.method === 'PUT' ? 404 : 201
    setTimeout(() => response.end(), 60)`,
    `const headers = { authorization: 'Bearer hunter2' }
    await get('/rows?token=hunter2', { headers })
    await get('/rows/7#hunter2', { method: 'PUT' })`,
  )
  const { code: exitCode, stderr, traces } = await run(['-e', code], { env })
  assert.deepEqual([exitCode, stderr], [0, ''])
  const all = requests(traces[0])
  const of = (/** @type {string} */ track) =>
    all.filter((request) => request.track === track).map(({ name, status }) => [name, status])
  assert.deepEqual(of('HTTP server'), [
    ['GET /rows', '201'],
    ['PUT /rows/:id', '404'],
  ])
  assert.deepEqual(of('HTTP requests'), [
    ['GET http://localhost/rows', '201'],
    ['PUT http://localhost/rows/:id', '404'],
  ])
  // A timer can come a millisecond early.
  for (const { name, ms } of all) assert.ok(ms >= 58, `${name} took ${ms} ms`)
  assert.ok(!JSON.stringify(traces[0].events).includes('hunter2'))
})

test('fetch() has a track, and requests at the same time stay apart', async () => {
  const code = served(
    `const wait = Number(new URL(request.url, 'http://x').searchParams.get('wait'))
    setTimeout(() => response.end('done'), wait)`,
    `const url = (path) => 'http://localhost:' + server.address().port + path
    const texts = ['/slow?wait=400', '/fast?wait=1'].map(async (path) => (await fetch(url(path))).text())
    console.log((await Promise.all(texts)).join())`,
  )
  const { stdout, stderr, traces } = await run(['--no-warnings', '-e', code], { env })
  assert.deepEqual([stdout, stderr], ['done,done\n', ''])
  const all = requests(traces[0])
  for (const track of ['HTTP server', 'fetch']) {
    const [fast, slow] = all.filter((request) => request.track === track)
    assert.match(fast.name, /\/fast$/)
    assert.match(slow.name, /\/slow$/)
    assert.ok(slow.ms >= 398 && slow.ts < fast.ts + 1000 * fast.ms, JSON.stringify([fast, slow]))
  }
})

test('requests that never end, and a patched program, do no harm', async () => {
  const code = served(
    `request.socket.destroy()`,
    `WeakMap.prototype.get = () => { throw new Error('patched') }
    await get('/cut')
    console.log(process.listenerCount('uncaughtException'))`,
  )
  const { code: exitCode, stdout, stderr, traces } = await run(['-e', code], { env })
  assert.deepEqual([exitCode, stdout, stderr], [0, '0\n', ''])
  assert.deepEqual(requests(traces[0]), [])
})

test('a program that stops its recording is not watched any more', async () => {
  const code = `
    const { channel } = require('node:diagnostics_channel')
    const names = ['http.server.request.start', 'http.server.response.finish', 'undici:request:create']
    const watched = () => names.map((name) => channel(name).hasSubscribers).join()
    const prof = require(process.env.PACKAGE)
    console.log(watched())
    prof.start({ categories: 'cpu,http' })
    console.log(watched())
    prof.stop()
    console.log(watched())`
  const PACKAGE = require('../helpers/run.js').PACKAGE
  const { stdout } = await run(['-e', code], { preload: null, env: { PACKAGE } })
  const [none, all] = ['false,false,false', 'true,true,true']
  assert.equal(stdout, `${[none, all, none].join('\n')}\n`)
})

test('all requests of a busy program are there, with long names too', async () => {
  const makePaths = () =>
    Array.from({ length: 700 }, (_, i) => `/n-${i}/${'"%C3%BC/'.repeat(i === 7 ? 1500 : i % 60)}`)
  const code = served(
    `response.end()`,
    `const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
    await Promise.all((${makePaths})().map((path) => get(path, { agent })))
    agent.destroy()`,
  )
  const { code: exitCode, stderr, traces } = await run(['-e', code], { env })
  assert.deepEqual([exitCode, stderr], [0, ''])
  const ends = traces[0].events.filter(
    (/** @type {any} */ { cat, ph }) => cat === 'blink.user_timing' && ph === 'e',
  )
  const paths = makePaths()
  for (const host of ['', 'http://localhost']) {
    const written = ends
      .map((/** @type {any} */ { name }) => name)
      .filter((/** @type {string} */ name) => name.startsWith(`GET ${host}/`))
    const expected = paths.map((path) => requestName('GET', host + path))
    assert.ok(expected.some((name) => name.endsWith('…')))
    assert.equal(written.sort().join(), expected.sort().join())
  }
})

test('requests are written while the program waits, and survive SIGKILL', async () => {
  const code = served(
    `response.end()`,
    `for (let i = 0; i < 3; i++) await get('/early/' + i)
    setTimeout(() => get('/late').then(() => {}), 1200)
    await new Promise(() => setInterval(() => {}, 1e6))`,
  )
  const { signal, files } = await run(['-e', code], {
    env,
    read: 0,
    during: (child, dir) => {
      const isWritten = () => {
        const texts = tracesIn(dir).map((file) => fs.readFileSync(file, 'latin1'))
        return texts.some((text) => /"name":"GET \/late","ph":"e"/.test(text))
      }
      until(isWritten).finally(() => child.kill('SIGKILL'))
    },
  })
  assert.equal(signal, 'SIGKILL')
  const { traceEvents } = JSON.parse(fs.readFileSync(files[0], 'latin1'))
  const names = requests({ events: traceEvents })
    .filter(({ track }) => track === 'HTTP server')
    .map(({ name }) => name)
  assert.deepEqual(names, ['GET /early/:id', 'GET /early/:id', 'GET /early/:id', 'GET /late'])
})
