'use strict'

// A new user and a slow server: armed, watched, recorded, and killed in a stall.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const test = require('node:test')
const { socketFolder } = require('../helpers/armed.js')
const { textFrom } = require('../helpers/cli.js')
const { temporaryDirectory, tracesIn, PACKAGE } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { cliOf, startProgram } = require('../helpers/remote.js')
const { until } = require('../helpers/until.js')
const { write, MODULES } = require('../helpers/workspace.js')

const options = {
  skip: process.platform !== 'linux' && 'labels, and the files of a process, are those of Linux',
}

const WORKERS = 2
/** Connections of the clients. */
const CONNECTIONS = 4

/** A row of a table of labels. */
const ROW = /^ +[\d.]+ m?s +[\d.]+% /

/** The server of the user. */
const FILES = {
  'package.json': { name: 'shop', version: '1.0.0' },
  'server.js': `
    const cluster = require('node:cluster')
    if (cluster.isPrimary) {
      let listening = 0
      cluster.on('listening', (worker, { port }) => {
        if (++listening === ${WORKERS}) process.send(port)
      })
      for (let i = 0; i < ${WORKERS}; i++) cluster.fork()
    } else require('./app.js').listen(0)`,
  'app.js': `
    const express = require('express')
    const { setLabels } = require('@org/cpu-prof')
    function findUser(id) {
      let sum = 0
      for (let i = 0; i < 1000; i++) sum += Math.sqrt(i)
      return { id, sum }
    }
    // Without a loop: V8 tells a profiler that starts later nothing of a loop that it has optimized.
    function renderReport(rows) {
      return rows < 2 ? rows : renderReport(rows - 1) + renderReport(rows - 2)
    }
    // Never ends.
    function buildIndex() {
      for (let sum = 0; ; ) for (let i = 0; i < 1e6; i++) sum += Math.sqrt(i)
    }
    const app = express()
    app.get('/users/:id', (request, response) => {
      setLabels({ route: request.route.path })
      response.json(findUser(request.params.id))
    })
    app.get('/report', async (request, response) => {
      setLabels({ route: request.route.path })
      await null
      response.send('report ' + renderReport(31))
    })
    app.get('/index', (request, response) => {
      setLabels({ route: request.route.path })
      response.send(buildIndex())
    })
    module.exports = app`,
}

/** Writes the project of the user, with express and cpu-prof. */
function writeProject() {
  const cwd = temporaryDirectory()
  write(cwd, FILES)
  fs.mkdirSync(path.join(cwd, 'node_modules', '@org'), { recursive: true })
  fs.symlinkSync(PACKAGE, path.join(cwd, 'node_modules', '@org', 'cpu-prof'))
  fs.symlinkSync(path.join(MODULES, 'express'), path.join(cwd, 'node_modules', 'express'))
  return cwd
}

/**
 * Has clients ask a server for users, and for the report now and then, until the server ends.
 * @param {import('../helpers/remote.js').Program} server
 */
function putUnderLoad({ child, ready: port }) {
  const agent = new http.Agent({ keepAlive: true })
  const load = { reports: 0 }
  const get = (/** @type {string} */ url) =>
    new Promise((resolve, reject) => {
      const request = http.get({ port, path: url, agent }, (response) => {
        response.resume().on('end', resolve).on('error', reject)
      })
      request.on('error', reject)
    })
  const ask = async () => {
    for (;;) {
      await get('/users/7')
      await get('/users/8')
      await get('/report')
      load.reports++
    }
  }
  // A worker that is killed ends its connections.
  for (let i = 0; i < CONNECTIONS; i++) ask().catch(() => {})
  child.once('exit', () => agent.destroy())
  return load
}

/** Returns whether a recording ends in the stall: it was written several times since. @param {string} file */
function isStalled(file) {
  const [, since = ''] = fs.readFileSync(file, 'utf8').split('"buildIndex"')
  return since.split('"ProfileChunk"').length > 5
}

/** @param {number} pid */
function killIfThere(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended.
  }
}

/**
 * Starts the server, armed and under load, and returns what the parts of the story need.
 * @param {import('node:test').TestContext} t
 */
async function startShop(t) {
  const cwd = writeProject()
  const folder = socketFolder()
  const cli = (/** @type {string[]} */ args, /** @type {any} */ given = {}) =>
    cliOf(folder)(args, { cwd, ...given })
  const env = { CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder }
  const args = ['--require', '@org/cpu-prof', 'server.js']
  const server = await startProgram(t, args, env, cwd)
  const listed = await cli(['ps', '--json'])
  /** @type {number[]} */
  const pids = JSON.parse(listed.stdout).map((/** @type {any} */ { pid }) => pid)
  // A worker that computes for ever does not see that its primary has ended.
  const kill = () => pids.forEach(killIfThere)
  t.after(kill)
  assert.equal(pids.length, 1 + WORKERS, listed.stdout)
  return { cwd, cli, server, kill, load: putUnderLoad(server) }
}

test('top shows what is hot, and a record names the worst route', options, async (t) => {
  const { cli, load, server } = await startShop(t)
  const without = await cli(['record', 'server.js'])
  assert.match(without.stderr, /'server\.js' means several processes.* take all with --tree/)

  const alone = await cli(['start', String(server.pid)])
  assert.match(alone.stderr, /left out: 2 armed processes below; --tree includes them/)
  assert.equal((await cli(['stop', String(server.pid)])).code, 0)

  const isShown = async () => {
    const { code, stdout, stderr } = await cli(['top', 'server.js', '--tree', '--count', '1'])
    assert.equal(code, 0, stderr)
    return /% .* renderReport +app\.js:/.test(stdout)
  }
  const during = async (/** @type {import('node:child_process').ChildProcess} */ child) => {
    child.stdin?.end()
    try {
      await textFrom(child.stderr, 'recording')
      while (!(await isShown()));
      const { reports } = load
      // The requests that had begun before the recording have no route.
      await until(() => load.reports > reports + 20 * CONNECTIONS)
    } finally {
      child.kill('SIGINT')
    }
  }
  const words = 'server.js --tree --for 10m --categories cpu,http -o trace.json'.split(' ')
  const { code, stderr } = await cli(['record', ...words], { during })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /the work is for route \/report, mostly renderReport \(app\.js:/)
  for (const [key, worst, other] of [
    ['http', 'GET /report', 'GET /users/:id'],
    ['route', '/report', '/users/:id'],
  ]) {
    const { stdout } = await cli(['report', 'trace.json', '--by', `label:${key}`])
    const [first, ...others] = stdout.split('\n').filter((line) => ROW.test(line))
    assert.match(first, new RegExp(`  ${worst} +renderReport `))
    assert.ok(
      others.some((row) => row.includes(`  ${other} `)),
      stdout,
    )
  }
  assert.equal(server.stderr, '')
})

test('what a server leaves that is killed in a stall names the request', options, async (t) => {
  const { cwd, cli, kill, server } = await startShop(t)
  const words = '--tree --dir live --categories cpu,http'.split(' ')
  const { code, stderr } = await cli(['start', String(server.pid), ...words])
  assert.equal(code, 0, stderr)
  http.get({ port: server.ready, path: '/index' }).on('error', () => {})
  await until(() => tracesIn(path.join(cwd, 'live')).some(isStalled), 'no stall is recorded')
  kill()

  const { stdout } = await cli(['report', 'live'])
  const text = stdout.replace(/\s+/g, ' ')
  assert.match(
    text,
    pattern`in flight in [^:]* at ${messages.endOfRecording}: .*http=GET /index · route=/index for `,
  )
  assert.match(stdout, /^ .*% .* {2}\/index +buildIndex \(app\.js:\d+\)$/m)
  assert.equal(server.stderr, '')
})
