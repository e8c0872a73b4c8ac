'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { describe, test } = require('node:test')
const { run, message } = require('../helpers/run.js')
const { NEEDS_SUSPENSION } = require('../helpers/source.js')

const skip =
  process.platform === 'linux' ? NEEDS_SUSPENSION : 'the threads of a process are read from /proc'
const WHERE = /** @type {const} */ (['main', 'worker'])
const together = { concurrency: true, skip }

/**
 * Records a waiting program, and goes on once V8 has stopped sampling all of its threads.
 * @param {'main' | 'worker'} where
 * @param {(child: import('node:child_process').ChildProcess) => Promise<void>} then
 */
async function asleep(where, then) {
  /** @type {Promise<void> | undefined} */
  let finished
  const result = await run(['sleeper.js', where], {
    during: (child) => {
      finished = suspended(child, where).then(() => then(child))
      finished.catch(() => child.kill('SIGKILL'))
    },
  })
  await finished
  return result
}

/** @param {import('node:child_process').ChildProcess} child @param {'main' | 'worker'} where */
async function suspended(child, where) {
  await message(child)
  assert.equal(samplers(child), where === 'worker' ? 2 : 1)
  await until(() => samplers(child) === 0)
}

/** Returns the count of V8's sampling threads. @param {import('node:child_process').ChildProcess} child */
function samplers({ pid }) {
  const tasks = `/proc/${pid}/task`
  const name = (/** @type {string} */ id) => {
    try {
      return fs.readFileSync(`${tasks}/${id}/comm`, 'utf8').trim()
    } catch {
      return 'ended meanwhile'
    }
  }
  return fs.readdirSync(tasks).filter((id) => name(id) === 'v8:ProfEvntProc').length
}

/** @param {() => boolean} isTrue */
async function until(isTrue) {
  for (let tries = 0; !isTrue(); tries++) {
    assert.ok(tries < 1500, 'V8 samples a thread that has waited for seconds')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** @param {import('node:child_process').ChildProcess} child @param {string} command */
function ask(child, command) {
  child.send(command)
  return message(child)
}

describe('V8 stops sampling a thread that has waited for seconds,', together, () => {
  for (const where of WHERE) {
    test(`and samples the next work of the ${where} thread`, async () => {
      const { traces } = await asleep(where, async (child) => {
        await ask(child, 'work')
        child.kill('SIGTERM')
      })
      const trace = traces[where === 'main' ? 0 : 1]
      const spinMs = trace.totalMs(isSpin)
      assert.ok(spinMs > 380, `spin: ${spinMs} ms`)
      const idleMs = (trace.selfShare('(idle)') * trace.durationUs) / 1000
      assert.ok(idleMs > 3000, `idle: ${idleMs} ms`)
    })
  }

  for (const signal of /** @type {const} */ (['SIGKILL', 'SIGTERM'])) {
    test(`and ${signal} keeps the time until then`, async () => {
      const { traces, ...ending } = await asleep('main', async (child) => {
        child.kill(signal)
      })
      assert.equal(ending.signal, signal)
      assert.equal(ending.stderr, '')
      const [{ ended, durationUs, selfShare }] = traces
      assert.equal(ended, signal === 'SIGTERM')
      assert.ok(durationUs > 3e6, `${durationUs} µs`)
      assert.ok(selfShare('(idle)') > 0.93, `idle: ${selfShare('(idle)')}`)
    })
  }

  for (const where of WHERE) {
    test(`and process.exit() in the ${where} thread ends the recording`, async () => {
      const { code, stderr, traces } = await asleep(where, async (child) => {
        child.send('exit')
      })
      assert.deepEqual([code, stderr], [5, ''])
      assert.ok(traces.every(({ ended }) => ended))
    })
  }

  test('and stop() returns the recording, after which another can start', async () => {
    const { stderr, traces } = await asleep('main', async (child) => {
      const stopped = await ask(child, 'restart')
      assert.ok(stopped.durationMs > 3000, JSON.stringify(stopped))
      child.kill('SIGTERM')
    })
    assert.equal(stderr, '')
    const [first, second] = traces
    assert.ok(first.selfShare('(idle)') > 0.93, `idle: ${first.selfShare('(idle)')}`)
    assert.ok(second.totalMs(isSpin) > 180, `spin: ${second.totalMs(isSpin)} ms`)
  })
})

/** @param {{ functionName: string }} frame */
const isSpin = ({ functionName }) => functionName === 'spin'
