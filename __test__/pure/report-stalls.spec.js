'use strict'

// The longest times without a turn of the event loop, also of a program that was killed in one.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory } = require('../helpers/run.js')

/** A server that answers two requests, and is killed in the third. */
const PROGRAM = `
const http = require('node:http')
function spin(ms) {
  for (const end = performance.now() + ms; performance.now() < end; );
}
function checkAll(ms) {
  for (let at = 0; at < ms; at += 50) spin(50)
}
function wait(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
const server = http.createServer((request, response) => {
  if (request.url === '/short') spin(20)
  if (request.url === '/wait') wait(300)
  if (request.url === '/long') {
    checkAll(1600)
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

test('the stall that killed a program is the longest, with its culprit', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'server.js'), PROGRAM)
  const { signal, files } = await run(['./server.js'], { cwd })
  assert.equal(signal, 'SIGKILL')
  const { stalls = [] } = await report(files, { stalls: 50 })
  const [longest, ...others] = stalls
  assert.ok(longest.durationMs > 800, `${longest.durationMs} ms`)
  assert.equal(longest.first, false)
  const names = longest.stack.map(({ name }) => name)
  assert.ok(names.includes('checkAll'), names.join())
  const inFile = longest.stack.filter(({ file }) => file === path.join(cwd, 'server.js'))
  assert.ok(['checkAll', 'spin'].includes(String(inFile.at(-1)?.name)))
  const [outer, ...inner] = longest.stack.map(({ totalMs }) => totalMs)
  assert.ok(outer <= longest.durationMs)
  assert.ok(inner.every((ms) => ms <= outer && ms > 0.5 * longest.durationMs))

  const blocked = others.find(({ blockedMs }) => blockedMs > 150)
  assert.ok(blocked, JSON.stringify(others))
  assert.ok(blocked.stack.some(({ name }) => name === 'wait'))
  assert.ok(blocked.startMs < longest.startMs)
  assert.ok(others.every(({ durationMs }) => durationMs >= 50 && durationMs <= longest.durationMs))
  assert.deepEqual((await report(files, { stalls: 0, top: 1 })).stalls?.length, 1)
  assert.equal((await report(files)).stalls, undefined)

  const text = await cli(['report', ...files, '--stalls'], { cwd })
  assert.equal(text.code, 0, text.stderr)
  assert.match(text.stdout, /^longest times without .*\n +at +for\n.* m?s {2}\d+\.\d% {2}\S+ \S+/)
  assert.match(text.stdout, /(checkAll|spin) server\.js:\d+\n.*called by .* server\.js:\d+/)
  assert.match(text.stdout, /blocked \d+ ms/)
  const none = await cli(['report', ...files, '--stalls', '60000'], { cwd })
  assert.match(none.stdout, /^every thread came back/)
  const json = await cli(['report', ...files, '--stalls', '500', '--json'], { cwd })
  assert.equal(JSON.parse(json.stdout).stalls.length, 1)
  const swapped = await cli(['report', '--stalls', files[0]], { cwd })
  assert.equal(swapped.code, 2)
  assert.match(swapped.stderr, /put the inputs before --stalls/)
  for (const stalls of [-1, '50', Number.NaN]) {
    await assert.rejects(
      report(files, /** @type {any} */ ({ stalls })),
      /^(Type|Range)Error: cpu-prof: /,
    )
  }
})
