'use strict'

// A program with secrets wherever a program has some, 'hunter2': none is in what is recorded, printed or made
// of it.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { socketFolder } = require('../helpers/armed.js')
const {
  cliOf,
  startArmed,
  startProgram,
  work,
  PROGRAM: PROGRAM_FILE,
} = require('../helpers/remote.js')
const { FIXTURES, run, temporaryDirectory } = require('../helpers/run.js')
const { assertClean, assertToolsClean, filesIn, textOf } = require('../helpers/secrets.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** A script that runs for some samples, and names itself as loaders do. @param {string} name */
const hot = (name) => `
  (() => { const end = Date.now() + 60; while (Date.now() < end) Math.sqrt(end) })()
  //# sourceURL=${name}`

const PROGRAM = `
  const { execFileSync } = require('node:child_process')
  const http = require('node:http')
  const { once } = require('node:events')
  const { performance, PerformanceObserver } = require('node:perf_hooks')
  const { Worker } = require('node:worker_threads')
  const { spin } = require(${SPIN})
  process.title = 'app'

  async function main() {
    // As agents do.
    new PerformanceObserver(() => {}).observe({ entryTypes: ['http', 'net', 'http2', 'resource', 'dns', 'function'] })
    spin(60)
    for (const name of [
      'https://me:hunter2-user@host/a.js?token=hunter2-query#hunter2-hash',
      '/app/b.js?token=hunter2-query',
    ]) (0, eval)(${JSON.stringify(hot('NAME'))}.replace('NAME', name))
    const code = encodeURIComponent(${JSON.stringify(hot('NAME').replace(/\/\/.*$/, ''))} + '/* hunter2-code */')
    await import('data:text/javascript,' + code)
    const worker = new Worker(new URL('data:text/javascript,' + code))
    await once(worker, 'exit')
    execFileSync(process.execPath, [
      '-e', 'const end = Date.now() + 60; while (Date.now() < end); "hunter2-eval"', '--',
      '--password=hunter2-child', 'ok',
    ])

    performance.mark('load https://me:hunter2-mark@host/x?y=hunter2-mark')
    performance.measure('GET /measured/hunter2a1b2c3?x=hunter2')
    const server = http.createServer((request, response) => {
      spin(5)
      response.setHeader('set-cookie', 'session=hunter2-cookie').end('hunter2-body')
    })
    server.listen(0)
    await once(server, 'listening')
    const { port } = server.address()
    const headers = { authorization: 'Bearer hunter2-header', cookie: 'a=hunter2-cookie' }
    const paths = [
      '/rows?token=hunter2-query',
      '/rows#hunter2-hash',
      '/rows;jsessionid=hunter2-session/x',
      '/reset/hunter2a1b2c3',
      'http://me:hunter2-user@host/rows?x=hunter2',
      '/mail/hunter2@example.com',
      '/' + 'hunter2'.repeat(1000),
    ]
    for (const path of paths) {
      const [response] = await once(http.get({ port, path, headers }), 'response')
      await once(response.resume(), 'end')
    }
    await (await fetch('http://localhost:' + port + '/fetched?token=hunter2-fetch', { headers })).text()
    server.close()
    server.closeAllConnections?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  main()`

const ARGUMENTS = [
  '--password=hunter2-option',
  '--token',
  'hunter2-next',
  'postgres://me:hunter2-user@db/x?sslkey=hunter2',
  '--url=https://host/x?token=hunter2-query',
  'mysql',
  '-phunter2-client',
  '{"password":"hunter2-json"}',
  'API_KEY=hunter2-variable',
  'Authorization: Bearer hunter2-header',
  'hunter2a1b2c3d4e5f6a7b8c9',
  'kept',
]

const env = {
  CPU_PROF_CATEGORIES: 'cpu,timings,http,memory',
  CPU_PROF_FORMAT: 'trace,cpuprofile',
  CPU_PROF_INTERVAL: '500',
  DATABASE_PASSWORD: 'hunter2-environment',
}
const NODE = ['--no-warnings', '--import', 'data:text/javascript,/* hunter2-import */']

test('secrets of a program are in nothing that is recorded or made of it', async () => {
  const dir = fs.mkdtempSync(path.join(temporaryDirectory(), 'a-'))
  const file = path.join(dir, 'app.js')
  fs.writeFileSync(file, PROGRAM)
  const recordings = path.join(dir, 'recordings')
  const given = { ...env, CPU_PROF_DIR: recordings, NODE_OPTIONS: process.env.NODE_OPTIONS }
  const { code, stdout, stderr } = await run([...NODE, file, ...ARGUMENTS], {
    env: given,
    cwd: dir,
  })
  assert.deepEqual([code, stdout, stderr], [0, '', ''])
  const files = filesIn(recordings)
  for (const each of files) assertClean(each, textOf(each))
  const all = files.map(textOf).join('')
  // What is recorded of them.
  for (const text of [
    '"GET /rows"',
    '"GET /reset/:id"',
    '/fetched"',
    'https://host/a.js"',
    'data:text/javascript,',
    'kept',
  ]) {
    assert.ok(all.includes(text), `${text} is recorded`)
  }
  await assertToolsClean(recordings)
})

test('secrets of a program are not in what run prints', async () => {
  const dir = temporaryDirectory()
  const file = path.join(dir, 'app.js')
  fs.writeFileSync(file, PROGRAM)
  const command = [process.execPath, ...NODE, file, ...ARGUMENTS]
  const { stdout, stderr } = await cli(['run', '--dir', 'profiles', '--', ...command], {
    cwd: dir,
    env: { CPU_PROF_CATEGORIES: env.CPU_PROF_CATEGORIES },
  })
  assertClean('run', stdout + stderr)
  assert.match(stderr + stdout, /profiles/)
  for (const each of filesIn(path.join(dir, 'profiles'))) assertClean(each, textOf(each))
})

test('secrets of a program are not in what its lists and remote recordings print', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const armed = await startArmed(t, folder, ARGUMENTS)
  const unarmed = await startProgram(t, [PROGRAM_FILE, ...ARGUMENTS])
  await work(armed)
  const { pid, cwd } = armed
  let all = ''
  for (const args of [
    ['ps'],
    ['ps', '--json'],
    ['status', String(pid)],
    ['status', String(pid), '--json'],
    ['start', String(pid)],
    ['stop', String(pid)],
    ['start', 'hunter3'],
    ['start', String(unarmed.pid)],
    ['start', 'controlled.js', '--tree'],
    ['stop', 'controlled.js'],
    ['record', String(pid), '--for', '100ms', '-o', path.join(cwd, 'out.json')],
  ]) {
    const { stdout, stderr } = await cli(args)
    assertClean(args.join(' '), stdout + stderr)
    all += stdout + stderr
  }
  assert.match(all, /controlled\.js --password=…/)
  assert.match(all, /is not armed/)
  for (const file of filesIn(cwd)) assertClean(file, textOf(file))
})
