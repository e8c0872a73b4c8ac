'use strict'

// A lake in an object store: rclone's server of S3, and servers that fail.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const test = require('node:test')
const { openStore } = require('../../base/store.js')
const { missing } = require('../../../../__test__/helpers/engines.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const lakes = require('../helpers/lake.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { KEY, SECRET, TOKEN, variablesOf, startRclone, startServer } = require('../helpers/s3.js')

const { TABLES, stemOf, compactedStem, runFolder, runOf, stemsOf, filesBelow } = lakes
const skip = missing('rclone')
const LAKE = 's3://bucket/some/lake'
const DAY = { repo: 'org/app', date: '2026-01-31' }
const FUNCTIONS = { tables: ['functions'] }

test('a run is added, found and replaced in a bucket', { skip }, async (t) => {
  const { env, dir } = await startRclone(t)
  const store = openStore(LAKE, env)
  assert.equal(store.isRemote, true)
  await assert.rejects(store.live(FUNCTIONS), pattern`${messages.noRunInLake} ${LAKE}`)
  const run = runOf(1)
  assert.deepEqual(await store.addRun(run), { outcome: 'added' })
  assert.deepEqual(await store.addRun(run), { outcome: 'present' })
  assert.deepEqual(await store.addRun(runOf(1, 2)), { outcome: 'present' })
  assert.deepEqual(await store.addRun(runOf(1, 2, { replace: true })), { outcome: 'replaced' })
  // The layout is that of a folder.
  const folder = openStore(path.join(dir, 'some', 'lake'))
  const { partitions, ignored } = await store.live(FUNCTIONS)
  assert.deepEqual(partitions, (await folder.live(FUNCTIONS)).partitions)
  assert.deepEqual(partitions, [
    { ...DAY, stems: [stemOf(1, 2)], replacedStems: [stemOf(1)], nextChange: 2 },
  ])
  assert.equal(ignored, 0)
  assert.deepEqual(await store.sweep({ graceMs: 3_600_000 }), { removed: 0 })
  assert.deepEqual(await store.sweep({ graceMs: 0 }), { removed: TABLES.length })
  assert.equal(filesBelow(dir).length, TABLES.length + 1)
})

test('files are fetched once, into a folder of this user alone', { skip }, async (t) => {
  const { env, dir } = await startRclone(t)
  const store = openStore(LAKE, env)
  const large = { ...runOf(2), folder: runFolder('large', 20_000_000) }
  for (const run of [runOf(1), large]) await store.addRun(run)
  const { files } = await store.live(FUNCTIONS)
  assert.deepEqual(stemsOf(files.functions), [stemOf(1), stemOf(2)])
  const cache = path.join(env.XDG_CACHE_HOME, 'cpu-prof', 'lake')
  if (process.platform !== 'win32') assert.equal(fs.statSync(cache).mode & 0o777, 0o700)
  const [small, big] = files.functions
  assert.equal(fs.readFileSync(small, 'utf8'), `functions ${stemOf(1)}`)
  assert.deepEqual(
    fs.readFileSync(big),
    fs.readFileSync(path.join(large.folder, 'functions.parquet')),
  )
  assert.equal(filesBelow(cache).length, 2, 'only the wanted tables')
  // What is there is not fetched: the file in the bucket has other contents of the same size now.
  const [inBucket] = filesBelow(dir).filter(
    (file) => file.includes(`functions/`) && file.includes(stemOf(1)),
  )
  fs.writeFileSync(path.join(dir, inBucket), `FUNCTIONS ${stemOf(1)}`)
  await store.live(FUNCTIONS)
  assert.equal(fs.readFileSync(small, 'utf8'), `functions ${stemOf(1)}`)
  // A file of another size is no whole one.
  fs.truncateSync(small, 3)
  await store.live(FUNCTIONS)
  assert.equal(fs.readFileSync(small, 'utf8'), `FUNCTIONS ${stemOf(1)}`)
  assert.equal(filesBelow(cache).length, 2)
  // Another lake has other files.
  await openStore('s3://bucket/other', env).addRun(runOf(1))
  const other = await openStore('s3://bucket/other', env).live(FUNCTIONS)
  assert.notEqual(other.files.functions[0], small)
  fs.chmodSync(cache, 0o777)
  if (process.platform !== 'win32') {
    await assert.rejects(store.live(FUNCTIONS), /others can write into .*; remove it/)
  }
})

test('days and repositories are chosen in a bucket as in a folder', { skip }, async (t) => {
  const { env, dir } = await startRclone(t)
  const store = openStore('s3://bucket', env)
  const dates = ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-10']
  for (const repo of ['org/app', 'org/app2']) {
    for (const date of dates) await store.addRun(runOf(1, 1, { repo, date }))
  }
  const folder = openStore(dir)
  for (const wanted of [
    {},
    { repo: 'org/app' },
    { from: '2026-01-01', to: '2026-01-02' },
    { repo: 'org/app2', to: '2026-01-01' },
    { repo: 'org/app', from: '2026-01-02' },
  ]) {
    const { partitions } = await store.live({ ...FUNCTIONS, ...wanted })
    assert.deepEqual(partitions, (await folder.live({ ...FUNCTIONS, ...wanted })).partitions)
    assert.ok(partitions.length > 0)
  }
})

test('writers and compactors at the same moment: each run is read once', { skip }, async (t) => {
  const { env } = await startRclone(t)
  const stores = Array.from({ length: 4 }, () => openStore(LAKE, env))
  const [store] = stores
  for (const run of [1, 2, 3]) await store.addRun(runOf(run))
  const compact = async (/** @type {number} */ at) => {
    const { stems, nextChange } = (await stores[at].live(FUNCTIONS)).partitions[0]
    const adds = [{ stem: compactedStem(at), folder: runFolder(`runs ${stems.length}`) }]
    return stores[at].commit({ ...DAY, number: nextChange, adds, replaces: stems })
  }
  const [, , ...commits] = await Promise.all([
    store.addRun(runOf(4, 2)),
    stores[1].addRun(runOf(4, 1)),
    compact(2),
    compact(3),
  ])
  assert.ok(commits.some(({ committed }) => committed))
  const { stems } = (await store.live(FUNCTIONS)).partitions[0]
  // This server writes over a file in spite of If-None-Match, so that both can be told that they committed;
  // one change is there, and one compacted file counts.
  const compacted = stems.filter((stem) => stem.startsWith('c-'))
  assert.equal(compacted.length, 1, stems.join())
  assert.ok(stems.every((stem) => stem.startsWith('c-') || stem.startsWith(stemOf(4).slice(0, 16))))
  assert.ok(stems.length <= 2)
  const { committed } = await store.commit({ ...DAY, number: 1, adds: [], replaces: [] })
  assert.equal(committed, false)
})

/** @param {number} port */
const refusing = (port) => `http://user:${SECRET.replace('/', '')}@127.0.0.1:${port}`

/** Asks for what is live, and for adding a run. Returns the two messages. @param {Record<string, string>} env */
async function messagesOf(env) {
  const store = openStore(LAKE, env)
  const told = (/** @type {Error} */ error) => error.message
  const silent = () => ''
  return [
    await store.live(FUNCTIONS).then(silent, told),
    await store.addRun(runOf(1)).then(silent, told),
  ]
}

/** @param {string[]} messages @param {RegExp} words */
function assertTold(messages, words) {
  for (const message of messages) {
    assert.match(message, words)
    assert.match(message, /^cpu-prof: the lake s3:\/\/bucket\/some\/lake cannot be listed: /)
    for (const secret of [SECRET, SECRET.replace('/', ''), TOKEN, KEY, 'Signature=', '<']) {
      assert.ok(!message.includes(secret), message)
    }
  }
}

const ECHO = { AWS_SESSION_TOKEN: TOKEN, AWS_TIMEOUT: '300ms' }

for (const [answer, status, body, words] of /** @type {[string, number, string, RegExp][]} */ ([
  ['403', 403, '<Error><Code>AccessDenied</Code></Error>', /answered 403 AccessDenied; check AWS_/],
  ['403 with words', 403, `<Code>${SECRET}</Code>`, /answered 403; check AWS_ACCESS_KEY_ID/],
  [
    '404',
    404,
    '<Error><Code>NoSuchBucket</Code></Error>',
    /404 NoSuchBucket; there is no such bucket/,
  ],
  ['301', 301, '', /answered 301; the bucket can be in another region: check AWS_REGION/],
  ['500', 500, `${SECRET}`, /answered 500; the server has a problem: try again later/],
  [
    'garbage',
    200,
    '<html>Welcome</html>',
    /answered what no object store answers; check AWS_ENDPOINT/,
  ],
  ['nothing', 200, '', /answered what no object store answers; check AWS_ENDPOINT_URL/],
])) {
  test(`a server that answers ${answer}: what to do, and no secret`, async (t) => {
    let requests = 0
    const endpoint = await startServer(t, (request, response) => {
      requests += 1
      response.statusCode = status
      if (status === 301) response.setHeader('Location', `http://127.0.0.1:1/${SECRET}`)
      // Servers tell what they were sent.
      const echo = status >= 400 ? JSON.stringify(request.headers) : ''
      response.end(body + echo)
    })
    assertTold(await messagesOf(variablesOf(endpoint, ECHO)), words)
    // A problem of the server can pass.
    assert.ok(status === 500 ? requests > 4 : requests === 2, `${requests} requests`)
  })
}

test('a server that stalls, cuts or sends too much: what to do, and no secret', async (t) => {
  const stalling = await startServer(t, () => {})
  assertTold(
    await messagesOf(variablesOf(stalling, ECHO)),
    pattern`127\.0\.0\.1:\d+ ${messages.noAnswerInTime}`,
  )
  const cutting = await startServer(t, (_, response) => {
    response.writeHead(200, { 'Content-Length': '1000' })
    response.write('<ListBucketResult>', () => response.destroy())
  })
  assertTold(await messagesOf(variablesOf(cutting, ECHO)), /ended the connection before the end/)
  const flooding = await startServer(t, (_, response) => {
    const flood = () => {
      while (response.write(Buffer.alloc(1 << 20)));
    }
    response.on('drain', flood)
    flood()
  })
  const patient = { ...ECHO, AWS_TIMEOUT: '20s' }
  assertTold(await messagesOf(variablesOf(flooding, patient)), /answered what no object store/)
  const noHttp = net.createServer((socket) => socket.on('error', () => {}).end('220 mail\r\n'))
  await new Promise((resolve) => noHttp.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => noHttp.close())
  const { port } = /** @type {net.AddressInfo} */ (noHttp.address())
  const mail = variablesOf(`http://127.0.0.1:${port}`, ECHO)
  assertTold(await messagesOf(mail), /answered what no object store|ended the connection/)
})

test('a server that cannot be reached: what to do, and no secret', async () => {
  const port = await new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
  const env = variablesOf(refusing(port), ECHO)
  assertTold(
    await messagesOf(env),
    /127\.0\.0\.1:\d+ cannot be reached \(connection refused\); check/,
  )
})

test('http:// without a permission, and TLS that nobody vouches for, are refused', async (t) => {
  let requests = 0
  const endpoint = await startServer(t, (_, response) => {
    requests += 1
    response.end()
  })
  const plain = variablesOf(endpoint, { ...ECHO, AWS_ALLOW_HTTP: 'false' })
  assertTold(await messagesOf(plain), /its address is http:\/\/.*set AWS_ALLOW_HTTP=true/)
  assert.equal(requests, 0)
  // No certificate at all.
  const secure = variablesOf(endpoint.replace('http:', 'https:'), ECHO)
  assertTold(await messagesOf(secure), /is not secure|ended the connection|did not answer/)
  const file = path.join(temporaryDirectory(), 'ca.pem')
  fs.writeFileSync(file, 'no certificate')
  const open = (/** @type {string} */ AWS_CA_BUNDLE) => messagesOf({ ...secure, AWS_CA_BUNDLE })
  assert.match((await open(file))[0], /AWS_CA_BUNDLE names a file without a certificate/)
  assert.match((await open(`${file}x`))[0], /AWS_CA_BUNDLE names a file that cannot be read/)
})

test('wrong variables are named, without their values', async () => {
  const wrong = async (/** @type {Record<string, string>} */ more) =>
    (await messagesOf(variablesOf('http://127.0.0.1:9', more)))[0]
  const secret = await wrong({ AWS_SECRET_ACCESS_KEY: `${SECRET}\n` })
  assert.match(secret, /AWS_SECRET_ACCESS_KEY has characters that no key has/)
  const token = await wrong({ AWS_SESSION_TOKEN: 'naïve token' })
  assert.match(token, /AWS_SESSION_TOKEN has characters/)
  const time = await wrong({ AWS_TIMEOUT: 'soon' })
  assert.match(time, /AWS_TIMEOUT is not valid: set a time such as 30s or 500ms/)
  const flag = await wrong({ AWS_ALLOW_HTTP: SECRET })
  assert.match(flag, /its address is http:/)
  const half = await wrong({ AWS_SECRET_ACCESS_KEY: '' })
  assert.match(half, /the variables AWS_… cannot be used: .* are both set/)
  for (const message of [secret, token, time, flag, half])
    assert.ok(!message.includes(SECRET), message)
})
