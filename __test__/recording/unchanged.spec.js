'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { run, temporaryDirectory } = require('../helpers/run.js')
const { isInspector } = require('../helpers/source.js')

test('a program sees the same process state as without the profiler', async () => {
  const cwd = temporaryDirectory()
  const env = { CPU_PROF_DIR: cwd, PWD: cwd }
  const plain = await run(['observe.js'], { preload: null, cwd, env })
  const recorded = await run(['observe.js'], { cwd, env })
  assert.equal(plain.files.length, 0)
  assert.equal(recorded.files.length, 2)

  assert.equal(recorded.code, plain.code)
  assert.equal(recorded.signal, plain.signal)
  assert.equal(recorded.stderr, plain.stderr)
  const observations = (/** @type {string} */ stdout) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  assert.equal(observations(plain.stdout).length, 2)
  const expected = observations(plain.stdout)
  const observed = observations(recorded.stdout)
  if (isInspector) {
    for (const [index, each] of expected.entries()) {
      each.listeners.exit += 1
      const ids = observed[index].asyncId - each.asyncId
      assert.ok(ids === 1 || ids === 2, `${ids} async ids were used`)
      each.asyncId += ids
    }
  }
  assert.deepEqual(observed, expected)
})

test('the parent sees the signal that killed a program', async () => {
  for (const signal of /** @type {const} */ (['SIGKILL', 'SIGTERM', 'SIGINT'])) {
    const result = await run(['-e', `process.send(0); setInterval(() => {}, 1000)`], {
      during: (child) => child.once('message', () => child.kill(signal)),
    })
    assert.equal(result.signal, signal)
    assert.equal(result.code, null)
  }
})
