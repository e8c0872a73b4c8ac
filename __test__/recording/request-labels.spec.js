'use strict'

// The category `http` labels the work of each request that a server answers.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { innermost } = require('../helpers/labelled.js')
const { run, FIXTURES, PACKAGE } = require('../helpers/run.js')

const options = { skip: process.platform !== 'linux' && 'labels are recorded on Linux' }
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
})
