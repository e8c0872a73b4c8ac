'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { describe, test } = require('node:test')
const { run, message, nowUs, tracesIn } = require('../helpers/run.js')
const { NEEDS_SUSPENSION } = require('../helpers/source.js')
const { until } = require('../helpers/until.js')
const { assertSeen } = require('../helpers/work.js')

const skip =
  process.platform === 'linux' ? NEEDS_SUSPENSION : 'the threads of a process are read from /proc'
const WHERE = /** @type {const} */ (['main', 'worker'])
const together = { concurrency: true, skip }

/**
 * When V8 had stopped sampling the program, some time later, and when the wait ended: in between, the
 * thread only waits.
 * @typedef {{ suspendedUs: number, waitedUs: number, wokenUs: number }} Wait
 */

/** The shortest wait, so that the time without samples can be told from a gap. */
const WAIT_US = 700_000

/**
 * Records a waiting program, and goes on once V8 has stopped sampling all of its threads.
 * @param {'main' | 'worker'} where
 * @param {(child: import('node:child_process').ChildProcess, dir: string, wait: Wait) => Promise<void>} then
 *   ends the wait; notes when, if it does not end it at once
 */
async function asleep(where, then) {
  const wait = { suspendedUs: 0, waitedUs: 0, wokenUs: 0 }
  /** @type {Promise<void> | undefined} */
  let finished
  const result = await run(['sleeper.js', where], {
    during: (child, dir) => {
      finished = suspended(child, wait).then(() => then(child, dir, wait))
      finished.catch(() => child.kill('SIGKILL'))
    },
  })
  await finished
  return { ...result, wait }
}

/** @param {import('node:child_process').ChildProcess} child @param {Wait} wait */
async function suspended(child, wait) {
  await message(child)
  await until(() => samplers(child) === 0, 'V8 samples a thread that waits')
  wait.suspendedUs = nowUs()
  await until(() => nowUs() - wait.suspendedUs > WAIT_US, 'the clock stands still')
  wait.waitedUs = nowUs()
  wait.wokenUs = nowUs()
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

/** Returns the time of the last event so far. @param {string} dir */
function lastEventUs(dir) {
  try {
    return JSON.parse(fs.readFileSync(tracesIn(dir)[0], 'utf8')).traceEvents.at(-1).ts
  } catch {
    // A write is under way.
    return 0
  }
}

/** @param {import('node:child_process').ChildProcess} child @param {string} command */
function ask(child, command) {
  child.send(command)
  return message(child)
}

/**
 * Checks that a trace shows a wait as idle: when V8 had stopped, in the middle, and at the end.
 * @param {any} trace @param {Wait} wait
 */
function assertIdle(trace, { suspendedUs, waitedUs, wokenUs }) {
  for (const us of [suspendedUs, (suspendedUs + waitedUs) / 2, wokenUs]) {
    const functionName = topAt(trace, us)
    assert.equal(functionName, '(idle)', `${us}: ${functionName} in ${trace.label}`)
  }
  const idleUs = trace.selfShare('(idle)') * (lastUs(trace) - trace.startUs)
  assert.ok(idleUs > 0.9 * (wokenUs - suspendedUs), `${idleUs} µs of ${wokenUs - suspendedUs}`)
}

/** Returns the time of the last event. @param {any} trace @returns {number} */
const lastUs = ({ events }) => events.at(-1).ts

/** Returns the function on top at a time. @param {any} trace @param {number} us */
function topAt({ samples, startUs }, us) {
  let at = startUs
  let top
  for (const { node, us: sinceLast } of samples) {
    at += sinceLast
    if (at > us) break
    top = node.callFrame.functionName
  }
  return top
}

describe('V8 stops sampling a thread that waits,', together, () => {
  for (const where of WHERE) {
    test(`and samples the next work of the ${where} thread`, async () => {
      const { traces, wait } = await asleep(where, async (child) => {
        await ask(child, 'work')
        child.kill('SIGTERM')
      })
      const trace = traces[where === 'main' ? 0 : 1]
      assertSeen(trace, 'spin')
      assertIdle(trace, wait)
    })
  }

  test('and SIGTERM keeps the time until then', async () => {
    const { traces, wait, ...ending } = await asleep('main', async (child, _, wait) => {
      wait.wokenUs = nowUs()
      child.kill('SIGTERM')
    })
    assert.deepEqual([ending.signal, ending.stderr], ['SIGTERM', ''])
    const [trace] = traces
    assert.ok(trace.ended)
    assert.ok(lastUs(trace) >= wait.wokenUs)
    assertIdle(trace, wait)
  })

  test('and SIGKILL keeps the time until the last flush', async () => {
    const { traces, wait, ...ending } = await asleep('main', async (child, dir, wait) => {
      const problem = 'the time without samples is not written'
      await until(() => lastEventUs(dir) > wait.waitedUs, problem)
      wait.wokenUs = lastEventUs(dir) || wait.waitedUs
      child.kill('SIGKILL')
    })
    assert.deepEqual([ending.signal, ending.stderr], ['SIGKILL', ''])
    const [trace] = traces
    assert.ok(!trace.ended)
    assert.ok(lastUs(trace) >= wait.wokenUs)
    assertIdle(trace, wait)
  })

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
    const { stderr, traces, wait } = await asleep('main', async (child, _, wait) => {
      const stopped = /** @type {any} */ (await ask(child, 'restart'))
      const waitMs = (wait.waitedUs - wait.suspendedUs) / 1000
      assert.ok(stopped.durationMs > waitMs, JSON.stringify({ stopped, waitMs }))
      await ask(child, 'work')
      child.kill('SIGTERM')
    })
    assert.equal(stderr, '')
    const [first, second] = traces
    assertIdle(first, wait)
    assertSeen(second, 'spin')
  })
})
