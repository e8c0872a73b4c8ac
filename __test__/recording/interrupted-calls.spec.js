'use strict'

// Calls of an addon that wait on a thread of JavaScript, and that V8's signal ends early (docs/limits.md).

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { run, PACKAGE } = require('../helpers/run.js')

const SKIP = process.platform !== 'linux' && 'the addon makes calls of Linux'
const CALLS = path.join(PACKAGE, 'target', 'debug', 'examples', 'libsystem_calls.so')
const SOURCE = `process.dlopen({ exports: {} }, ${JSON.stringify(CALLS)})`
const SECONDS = 3

/** What a handler ends although it asks the system to start calls again. */
const ENDED = [
  'accept',
  'recv',
  'recvmsg',
  'msgrcv',
  'semtimedop',
  'sigtimedwait',
  'sem_timedwait',
  'futex',
  'nanosleep',
  'clock_nanosleep',
  'usleep',
  'poll',
  'ppoll',
  'select',
  'pselect',
  'epoll_wait',
  'epoll_pwait',
]
/** Those that addons wait in most. */
const COMMON = ['nanosleep', 'usleep', 'poll', 'select', 'epoll_wait']

/** Returns the calls that ended early. @param {Parameters<typeof run>[1]} [options] @param {string[]} flags */
async function endedEarly(options = {}, flags = []) {
  const env = { CALLER: '1', SECONDS: String(SECONDS), ...options.env }
  const { stdout, stderr } = await run([...flags, '-e', SOURCE], { ...options, env, read: 0 })
  const [, list] = /^22 calls, \d+ rounds; failures: (.*)\n$/.exec(stdout) ?? []
  assert.ok(list, `${stdout}${stderr}`)
  return JSON.parse(list).map((/** @type {string} */ failure) => failure.replace(/ \(.*/, ''))
}

test('without a recording no call ends early, also where the process is armed', {
  skip: SKIP,
}, async () => {
  assert.deepEqual(await endedEarly({ preload: null }), [])
  assert.deepEqual(await endedEarly({ env: { CPU_PROF_START: 'off', CPU_PROF_SOCKET: 'off' } }), [])
})

test("a recording ends the calls that Node's own profiler ends, and no others", {
  skip: SKIP,
}, async () => {
  const flags = ['--cpu-prof', '--cpu-prof-dir=own']
  for (const early of [await endedEarly(), await endedEarly({ preload: null }, flags)]) {
    for (const name of early) assert.ok(ENDED.includes(name), name)
    for (const name of COMMON) assert.ok(early.includes(name), `${name}: ${early}`)
  }
})

test('a long interval ends one call at most for each sample', { skip: SKIP }, async () => {
  const early = await endedEarly({ env: { CPU_PROF_INTERVAL: '1000000' } })
  // With a sample at the start and one at the end.
  assert.ok(early.length <= SECONDS + 2, early.join())
})
