'use strict'

// The sender of profiles, and servers that accept, refuse, stall, cut and reject.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const test = require('node:test')
const { promisify } = require('node:util')
const { openSender } = require('../../base/sender.js')
const { cleanEnv } = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { startPushServer, makeCertificate } = require('../helpers/push-server.js')

const SECRET = 'SECRET-of-the-spec'
const META = {
  name: 'org/app',
  labels: { branch: 'main' },
  fromMs: 1_700_000_000_000,
  untilMs: 1_700_000_010_000,
  sampleRate: 1000,
}
/** No attempt waits long. */
const FAST = { retry: { firstMs: 1, mostMs: 4, giveUpMs: 60_000 } }
const LONG = 60_000

/** @typedef {import('../../base/sender.js').Sender} Sender */

/** Offers payloads, all at once. @param {Sender} sender @param {string[]} bodies @param {boolean} [waits] */
const offerAll = (sender, bodies, waits = false) =>
  Promise.all(bodies.map((body) => sender.offer(META, Buffer.from(body), { waits })))

/** Returns the bodies that a server got. @param {{ body: Buffer }[]} pushed */
const bodiesOf = (pushed) => pushed.map(({ body }) => `${body}`)

test('Pyroscope gets the profile as it is, and what it is of in the query', async (t) => {
  const server = await startPushServer(t)
  const sender = openSender(`http://me:${SECRET}%40@${server.host}/base?own=1`, {
    headers: { 'X-Scope-OrgID': 'tenant' },
  })
  assert.equal(sender.kind, 'pyroscope')
  const bodies = ['a', 'b', 'c', 'd', 'e']
  assert.ok((await offerAll(sender, bodies)).every((taken) => taken))
  const state = { sent: 5, sentBytes: 5, waiting: 0, dropped: 0, refused: 0 }
  assert.deepEqual(await sender.finish(LONG), state)
  assert.deepEqual(sender.state(), state)
  assert.deepEqual(bodiesOf(server.pushed), bodies)
  const [{ method, url, headers }] = server.pushed
  assert.equal(method, 'POST')
  assert.equal(url.pathname, '/base/ingest')
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    own: '1',
    format: 'pprof',
    from: '1700000000',
    until: '1700000010',
    name: 'org/app{branch=main}',
    spyName: 'nodespy',
    sampleRate: '1000',
  })
  assert.equal(headers['content-type'], 'application/octet-stream')
  assert.equal(headers['content-encoding'], undefined)
  assert.equal(headers['x-scope-orgid'], 'tenant')
  const basic = Buffer.from(`me:${SECRET}@`).toString('base64')
  assert.equal(headers.authorization, `Basic ${basic}`)
  // After the end nothing is taken.
  assert.deepEqual(await offerAll(sender, ['late'], true), [false])
  assert.deepEqual(sender.state(), { ...state, dropped: 1 })
})

test('a collector can reject profiles in a good answer', async (t) => {
  /** @type {[string, string, Buffer][]} */
  const answers = [
    ['sent', 'application/x-protobuf', Buffer.alloc(0)],
    ['sent', 'application/x-protobuf', Buffer.from([0x0a, 2, 0x08, 0])],
    ['refused', 'application/x-protobuf', Buffer.from([0x0a, 6, 0x08, 2, 0x12, 2, 0x6e, 0x6f])],
    ['sent', 'application/octet-stream', Buffer.alloc(200_000, 0xff)],
    ['refused', 'text/html; charset=utf-8', Buffer.from('<html>')],
    ['refused', 'application/json', Buffer.from('{}')],
  ]
  const server = await startPushServer(t, (response, _, number) => {
    const [, type, body] = answers[number]
    response.setHeader('content-type', type).end(body)
  })
  const sender = openSender(`http://${server.host}/v1development/profiles`)
  assert.equal(sender.kind, 'otlp')
  await offerAll(sender, ['1', '2', '3'])
  await server.arrived(3)
  await offerAll(sender, ['4', '5', '6'])
  const { failure, ...counts } = await sender.finish(LONG)
  assert.deepEqual(counts, { sent: 3, sentBytes: 3, waiting: 0, dropped: 0, refused: 3 })
  assert.match(`${failure}`, /answered with a page or with JSON/)
  const [{ url, headers }] = server.pushed
  assert.equal(`${url.pathname}${url.search}`, '/v1development/profiles')
  assert.equal(headers['content-type'], 'application/x-protobuf')
  assert.equal(headers['content-encoding'], 'gzip')
})

test('what a server refuses is not sent again, and the next goes on', async (t) => {
  const other = await startPushServer(t)
  for (const [status, words] of /** @type {[number, RegExp][]} */ ([
    [307, /redirects are not followed/],
    [400, /cannot read the profile/],
    [401, /check the name, the password or the token/],
    [404, /no receiver of profiles has this path/],
    [413, /too large/],
    [422, /cannot read the profile/],
  ])) {
    const server = await startPushServer(t, (response, _, number) => {
      if (number > 0) return response.end()
      response.writeHead(status, { location: `http://${other.host}/` }).end(SECRET)
    })
    const sender = openSender(`http://${server.host}`, FAST)
    await offerAll(sender, ['1', '2'])
    const { failure, ...counts } = await sender.finish(LONG)
    assert.deepEqual(counts, { sent: 1, sentBytes: 1, waiting: 0, dropped: 0, refused: 1 })
    assert.deepEqual(bodiesOf(server.pushed), ['1', '2'])
    assert.match(`${failure}`, words)
    assert.ok(`${failure}`.startsWith(`${server.host} answered ${status}; `), failure)
    assert.ok(!`${failure}`.includes(SECRET))
  }
  assert.equal(other.pushed.length, 0)
})

test('what can pass is sent again: errors of the server, a cut, a stall', async (t) => {
  /** @type {((response: import('node:http').ServerResponse) => void)[]} */
  const answers = [
    (response) => response.writeHead(500).end(),
    (response) => response.writeHead(408).end(),
    (response) => response.writeHead(503, { 'retry-after': 'soon' }).end(),
    (response) => response.writeHead(429, { 'retry-after': '0' }).end(),
    (response) => void response.socket?.destroy(),
    () => {},
    (response) => response.end(),
  ]
  const server = await startPushServer(t, (response, _, number) => answers[number](response))
  const sender = openSender(`http://${server.host}`, { ...FAST, timeoutMs: 1000 })
  await offerAll(sender, ['1'])
  const { failure, ...counts } = await sender.finish(LONG)
  assert.deepEqual(counts, { sent: 1, sentBytes: 1, waiting: 0, dropped: 0, refused: 0 })
  assert.match(`${failure}`, pattern`${messages.noAnswerInTime}`)
  assert.deepEqual(
    bodiesOf(server.pushed),
    answers.map(() => '1'),
  )
})

test('a pause that the server asks for is kept', async (t) => {
  /** @type {number[]} */
  const times = []
  const server = await startPushServer(t, (response, _, number) => {
    times.push(performance.now())
    if (number > 0) return response.end()
    response.writeHead(429, { 'retry-after': '1' }).end()
  })
  const sender = openSender(`http://${server.host}`, FAST)
  await offerAll(sender, ['1'])
  assert.equal((await sender.finish(LONG)).sent, 1)
  // The clocks of both sides differ by less than a tenth.
  assert.ok(times[1] - times[0] > 900, `${times}`)
})

test('a server that stays away is given up, and nobody waits for room any more', async (t) => {
  const server = await startPushServer(t)
  server.end()
  const options = { retry: { firstMs: 1, mostMs: 2, giveUpMs: 30 }, capacity: 1 }
  const sender = openSender(`http://${server.host}`, options)
  await offerAll(sender, ['1', '2', '3', '4'], true)
  const { failure, ...counts } = await sender.finish(LONG)
  assert.deepEqual(counts, { sent: 0, sentBytes: 0, waiting: 0, dropped: 4, refused: 0 })
  assert.match(`${failure}`, /^127\.0\.0\.1:\d+ cannot be reached \(connection refused\); check/)
})

test('the oldest of a full line is dropped, or the next waits for room', async (t) => {
  /** @type {import('node:http').ServerResponse[]} */
  const held = []
  const server = await startPushServer(t, (response, _, number) => {
    if (number === 0) held.push(response)
    else response.end()
  })
  const sender = openSender(`http://${server.host}`, { capacity: 2 })
  await offerAll(sender, ['0'])
  await server.arrived(1)
  assert.deepEqual(await offerAll(sender, ['1', '2', '3', '4']), [true, true, true, true])
  const { failure, ...counts } = sender.state()
  assert.deepEqual(counts, { sent: 0, sentBytes: 0, waiting: 3, dropped: 2, refused: 0 })
  assert.match(`${failure}`, /takes profiles more slowly than they come/)
  const waits = offerAll(sender, ['5'], true)
  held[0].end()
  assert.deepEqual(await waits, [true])
  const { sent, dropped } = await sender.finish(LONG)
  assert.deepEqual([sent, dropped], [4, 2])
  assert.deepEqual(bodiesOf(server.pushed), ['0', '3', '4', '5'])
  // One that is larger than all room is told at once.
  const large = openSender(`http://${server.host}`)
  assert.equal(await large.offer(META, Buffer.alloc((64 << 20) + 1), { waits: true }), false)
  assert.match(`${large.state().failure}`, /too large to be kept/)
})

test('the end is on time, whatever the server does', async (t) => {
  const stalls = await startPushServer(t, () => {})
  const fails = await startPushServer(t, (response) =>
    response.writeHead(503, { 'retry-after': '60' }).end(),
  )
  for (const server of [stalls, fails]) {
    const sender = openSender(`http://${server.host}`, { timeoutMs: LONG })
    const waits = offerAll(sender, ['1', '2'])
    await server.arrived(1)
    await waits
    const before = performance.now()
    const { failure: _, ...counts } = await sender.finish(100)
    // Far less than the time of a request or of a pause.
    assert.ok(performance.now() - before < LONG / 4)
    assert.deepEqual(counts, { sent: 0, sentBytes: 0, waiting: 0, dropped: 2, refused: 0 })
  }
})

test('a process ends although its sender has not finished', async (t) => {
  const server = await startPushServer(t, () => {})
  const file = JSON.stringify(path.join(__dirname, '..', '..', 'base', 'sender.js'))
  const code = `require(${file}).openSender('http://${server.host}', { timeoutMs: ${LONG} })
    .offer(${JSON.stringify(META)}, Buffer.from('1')).then((taken) => console.log(taken))`
  const before = performance.now()
  const options = { env: cleanEnv() }
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', code], options)
  assert.equal(stdout, 'true\n')
  assert.ok(performance.now() - before < LONG / 2)
})

test('HTTPS is only for a certificate that somebody vouches for', async (t) => {
  const tls = makeCertificate()
  if (tls === undefined) return t.skip('there is no openssl')
  const server = await startPushServer(t, undefined, tls)
  const url = `https://me:${SECRET}@localhost:${server.port}`
  const unknown = openSender(url, FAST)
  await offerAll(unknown, ['1'])
  const { refused, failure } = await unknown.finish(LONG)
  assert.equal(refused, 1)
  assert.match(`${failure}`, /^the connection to localhost:\d+ is not secure \(/)
  assert.equal(server.pushed.length, 0)
  const known = openSender(url, { ...FAST, certificates: tls.cert })
  await offerAll(known, ['1'])
  assert.equal((await known.finish(LONG)).sent, 1)
  assert.throws(
    () => openSender(url, { certificates: SECRET }),
    (/** @type {Error} */ { message }) => /has none/.test(message) && !message.includes(SECRET),
  )
})

test('secrets go to this machine or over HTTPS, and into no message', async (t) => {
  for (const [url, headers, words] of /** @type {[string, Record<string, string>, RegExp][]} */ ([
    [`http://me:${SECRET}@example.org/`, {}, /use https:/],
    [`http://example.org/?key=${SECRET}`, { 'X-Key': SECRET }, /use https:/],
    [`ftp://me:${SECRET}@example.org/`, {}, /neither https:\/\/ nor http:/],
    [`${SECRET}`, {}, /the address to push to is none/],
    ['https://example.org', { 'X-Key': `${SECRET}\n2` }, /x-key has a value with signs/],
    ['https://example.org', { [`a ${SECRET}`]: '1' }, /a name that is none/],
    [`https://me:${SECRET}@example.org`, { Authorization: SECRET }, /leave one of both out/],
    ['https://example.org', { 'Content-Type': SECRET }, /content-type cannot be set/],
  ])) {
    assert.throws(
      () => openSender(url, { headers }),
      (/** @type {Error} */ { message }) => {
        assert.match(message, words)
        assert.match(message, /^cpu-prof: /)
        return !message.includes(SECRET)
      },
      url,
    )
  }
  const server = await startPushServer(t, (response) => response.writeHead(400).end(SECRET))
  const sender = openSender(`http://me:${SECRET}@${server.host}/${SECRET}?key=${SECRET}`, {
    headers: { 'X-Key': SECRET },
  })
  await offerAll(sender, ['1'])
  const { failure } = await sender.finish(LONG)
  assert.ok(failure && !failure.includes(SECRET), failure)
})

test('what is no HTTP is refused', async (t) => {
  const server = await startPushServer(t, (response) => {
    response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n\r\n')
  })
  const sender = openSender(`http://${server.host}`, FAST)
  await offerAll(sender, ['1'])
  const { refused, failure } = await sender.finish(LONG)
  assert.equal(refused, 1)
  assert.match(`${failure}`, /answered what is no HTTP/)
})
