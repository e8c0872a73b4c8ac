'use strict'

// The stall in which a program is killed is in the recording, with the functions that took the time.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { run, temporaryDirectory, FIXTURES } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')
const { SEEN_MS } = require('../helpers/work.js')

/** CPU time of the last stall. A core that stands still makes the others longer, but never so long. */
const LONG_MS = 2000
/** A server that answers two requests, and is killed in the third. */
const PROGRAM = `
const http = require('node:http')
const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
function checkAll(ms) {
  for (let at = 0; at < ms; at += 50) spin(50)
}
function wait(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
const server = http.createServer((request, response) => {
  if (request.url === '/short') spin(20)
  if (request.url === '/wait') wait(${SEEN_MS})
  if (request.url === '/long') {
    checkAll(${LONG_MS})
    process.kill(process.pid, 'SIGKILL')
  }
  response.end()
})
const get = (path) => new Promise((resolve) => {
  http.get({ port: server.address().port, path, agent: false }, (response) => {
    response.resume().on('end', () => setTimeout(resolve, 100))
  })
})
server.listen(0, '127.0.0.1', async () => {
  await get('/short')
  await get('/wait')
  await get('/long')
})
`

test('the stall that killed a program is the longest, and names its functions', {
  skip: NEEDS_INTERRUPT,
}, async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'server.js'), PROGRAM)
  const { signal, files } = await run(['./server.js'], { cwd })
  assert.equal(signal, 'SIGKILL')
  const { stalls = [] } = await report(files, { stalls: 0 })
  const [longest, ...others] = stalls
  const inFile = longest.stack.filter(({ file }) => file === path.join(cwd, 'server.js'))
  assert.equal(inFile.at(-1)?.name, 'checkAll', JSON.stringify(longest))
  assert.equal(longest.first, false)
  assert.ok(longest.stack.every(({ totalMs }) => totalMs <= longest.durationMs))

  const blocked = others.find(({ stack }) => stack.some(({ name }) => name === 'wait'))
  assert.ok(blocked, JSON.stringify(others))
  assert.ok(blocked.blockedMs > 0, JSON.stringify(blocked))
  assert.ok(blocked.startMs < longest.startMs)
})
