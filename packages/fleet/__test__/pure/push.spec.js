'use strict'

// `cpu-prof push`: what a server gets of written recordings, and what a user reads if it does not.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../../../index.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { pprofFiles, startPushServer } = require('../helpers/push-server.js')
const { writeTrace } = require('../../../../__test__/helpers/written.js')

const START_US = 1e9
const SECRET = 'secret-of-the-spec'

/** Writes a recording of 25 seconds. */
function recording() {
  const file = path.join(temporaryDirectory(), 'main.trace.json')
  /** @type {any[]} */
  const spans = Array.from({ length: 25 }, (_, second) => [
    `main app.js:1 > ${second < 15 ? 'early app.js:10' : 'late app.js:20'}`,
    1000,
    { everyMs: 10, labels: second % 2 === 0 ? { route: '/even' } : undefined },
  ])
  return writeTrace(file, { label: 'app.js', start: START_US, spans })
}

/** Returns the self times of functions, milliseconds. @param {string[]} inputs */
async function selfTimes(inputs) {
  const { functions } = await report(inputs, { top: 100 })
  return Object.fromEntries(
    functions
      .filter(({ selfMs }) => selfMs > 0)
      .map(({ name, selfMs }) => [name, Math.round(selfMs)]),
  )
}

test('Pyroscope gets slices, which together have the whole recording', async (t) => {
  const server = await startPushServer(t)
  const file = recording()
  const args = ['push', file, '--to', server.url, '--service', 'shop', '--tag', 'region=eu']
  const { code, stdout, stderr } = await cli(args)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^sent 3 profiles \(.*\)\n$/)
  const slices = server.pushed
  assert.deepEqual(
    slices.map(({ url }) => url.pathname),
    ['/ingest', '/ingest', '/ingest'],
  )
  for (const { searchParams: query } of slices.map(({ url }) => url)) {
    assert.equal(query.get('format'), 'pprof')
    assert.match(query.get('name') ?? '', /^shop\{.*process=app\.js.*\}$/)
    assert.match(query.get('name') ?? '', /region=eu/)
  }
  const froms = slices.map(({ url }) => Number(url.searchParams.get('from')))
  const untils = slices.map(({ url }) => Number(url.searchParams.get('until')))
  assert.deepEqual(froms.slice(1), untils.slice(0, -1))
  const files = pprofFiles(slices)
  assert.deepEqual(await selfTimes(files), await selfTimes([file]))
  assert.deepEqual(Object.keys(await selfTimes([files[0]])), ['early'])
  assert.deepEqual(Object.keys(await selfTimes([files[2]])), ['late'])
  // The server makes a series of each set of labels.
  const { labels } = await report(files, { by: 'label' })
  assert.ok(labels?.some(({ name }) => name.includes('route=/even')))
  const { processes } = await report(files)
  assert.ok(processes.every(({ pid }) => pid === 0))
})

test('a merged trace is one slice', async (t) => {
  const server = await startPushServer(t)
  const merged = path.join(temporaryDirectory(), 'merged.json')
  await merge([recording()], merged)
  const { code, stderr } = await cli(['push', merged, '--to', server.url, '--json'])
  assert.equal(code, 0, stderr)
  assert.equal(server.pushed.length, 1)
  assert.match(server.pushed[0].url.searchParams.get('name') ?? '', /^app\.js/)
})

test('the environment has the address and the secrets', async (t) => {
  const server = await startPushServer(t)
  const env = {
    CPU_PROF_PUSH: server.url,
    CPU_PROF_PUSH_HEADERS: `Authorization=Bearer%20${SECRET}, X-Scope-OrgID=team`,
  }
  const { code, stdout, stderr } = await cli(['push', recording(), '--every', '1m'], { env })
  assert.equal(code, 0, stderr)
  const [{ headers }] = server.pushed
  assert.equal(headers.authorization, `Bearer ${SECRET}`)
  assert.equal(headers['x-scope-orgid'], 'team')
  assert.doesNotMatch(stdout + stderr, new RegExp(SECRET))
})

test('a server that refuses is told, without secrets', async (t) => {
  const server = await startPushServer(t, (response) => {
    response.writeHead(403).end(`<h1>${SECRET}</h1>`)
  })
  const url = server.url.replace('//', `//user:${SECRET}@`)
  const { code, stdout, stderr } = await cli(['push', recording(), '--to', url, '--json'])
  assert.equal(code, 1)
  assert.match(stderr, /3 profiles were refused: .*403/)
  assert.doesNotMatch(stdout + stderr, new RegExp(SECRET))
  const { sent, refused, dropped } = JSON.parse(stdout)
  assert.deepEqual({ sent, refused, dropped }, { sent: 0, refused: 3, dropped: 0 })
})

test('wrong usage is told before anything is read', async () => {
  const file = recording()
  for (const [args, message, env] of /** @type {[string[], RegExp, any?][]} */ ([
    [[], /no server is named: use --to/],
    [['--to', 'ftp://host'], /http/],
    [['--to', 'not a url'], /address/],
    [['--to', `http://user:${SECRET}@example.org`], /https/],
    [['--to', 'http://localhost:1', '--tag', 'x'], pattern`${messages.keyAndValue}`],
    [['--to', 'http://localhost:1', '--every', '10'], /Use a length/],
    [['--to', 'http://localhost:1', '--every', '25d'], /from 1ms to 24d/],
    [['--to', 'http://localhost:1', '--as', 'zipkin'], /Allowed choices/],
    [['--to', 'https://localhost:1'], /CPU_PROF_PUSH_HEADERS/, { CPU_PROF_PUSH_HEADERS: SECRET }],
    [['--to', 'https://localhost:1'], /CPU_PROF_PUSH_CA/, { CPU_PROF_PUSH_CA: '/missing.pem' }],
  ])) {
    const { code, stderr } = await cli(['push', file, ...args], { env })
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, new RegExp(SECRET))
  }
})

test('what cannot be read is told', async (t) => {
  const server = await startPushServer(t)
  const missing = path.join(temporaryDirectory(), 'missing.json')
  const { code, stderr } = await cli(['push', missing, '--to', server.url])
  assert.equal(code, 1)
  assert.match(stderr, /missing\.json/)
  assert.equal(server.pushed.length, 0)
})
