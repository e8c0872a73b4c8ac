'use strict'

// Processes that are recorded when a condition is met, and only then.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../..')
const { cli } = require('../helpers/cli.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, message, cleanEnv, temporaryDirectory, tracesIn } = require('../helpers/run.js')
const { PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { until } = require('../helpers/until.js')

/** @typedef {import('node:child_process').ChildProcess} Child */

/** Longer than any of these machines stands still by itself. */
const STALL = 'stall>2s'
/** Prints what a program can see of a profiler. */
const SEEN = `
const { AsyncResource } = require('node:async_hooks')
const handles = process._getActiveHandles().length
const counts = process.eventNames().map((name) => [name, process.listenerCount(name)])
console.log(new AsyncResource('seen').asyncId(), process.getActiveResourcesInfo(), handles, counts)
new (require('node:worker_threads').Worker)('process._rawDebug(require("worker_threads").threadId)', { eval: true })`
/** A condition that is never met. */
const NEVER = 'rss>1000G'

/**
 * Runs the fixture, armed with conditions, while `during` tells it what to do.
 * @param {string} conditions @param {(program: Program) => Promise<void>} during
 * @param {Record<string, string>} [env]
 */
async function armed(conditions, during, env = {}) {
  const dir = temporaryDirectory()
  /** @type {unknown[]} */
  const failures = []
  const result = await run(['conditions.js'], {
    env: {
      CPU_PROF_START: conditions,
      CPU_PROF_DIR: dir,
      CPU_PROF_SOCKET: 'off',
      CPU_PROF_FOR: '1s',
      ...env,
    },
    during: (child) => {
      const program = new Program(child, dir)
      const ready = message(child).then((first) => assert.equal(first, 'ready'))
      const done = ready.then(() => during(program)).then(() => child.send(['exit']))
      done.catch((error) => {
        failures.push(error)
        child.kill('SIGKILL')
      })
    },
  })
  if (failures.length > 0) throw failures[0]
  assert.equal(result.stderr, '')
  assert.deepEqual([result.code, result.signal, result.stdout], [0, null, ''])
  return result
}

/** The fixture. */
class Program {
  /** @param {Child} child @param {string} dir */
  constructor(child, dir) {
    this.child = child.setMaxListeners(0)
    this.dir = dir
  }

  /** Has the program do something, and waits until it is done. @param {string} what @param {number} [value] */
  async does(what, value) {
    const answer = message(this.child)
    this.child.send([what, value])
    assert.equal(await answer, 'done')
  }

  /** Waits until the event loop has waited: before that, Node 18 does not tell that the program has started. */
  hasWaited() {
    return this.does('wait', 20)
  }

  /** Waits until so many recordings are complete. @param {number} count */
  async recorded(count) {
    const isComplete = (/** @type {string} */ file) =>
      fs.readFileSync(file, 'utf8').includes('"trace.end"')
    const complete = () => tracesIn(this.dir).filter(isComplete).length
    await until(() => complete() >= count, `no ${count} complete recordings`)
  }
}

/** Returns why the recordings exist. @param {string[]} files */
async function reasons(files) {
  const { conditions = [] } = await report(files)
  return conditions.map(({ reason }) => reason)
}

test('a stall is recorded while it lasts', { skip: NEEDS_INTERRUPT }, async () => {
  const { traces, files } = await armed(STALL, async (program) => {
    await program.hasWaited()
    await program.does('stall', 3500)
    await program.recorded(1)
  })
  assert.equal(traces.length, 1)
  assert.equal(traces[0].metadata.start.reason, STALL)
  assert.match(traces[0].metadata.start.observed, /^2\d\d\d ms$/)
  const { conditions, functions } = await report(files)
  assert.equal(conditions?.length, 1)
  assert.equal(functions[0].name, 'standStill')
  const { stdout } = await cli(['report', files[0]])
  assert.match(stdout, pattern`^${messages.stoodStill} 2\d\d\d ms \(stall>2s\)\.`)
})

test('a call that blocks is a stall too', async () => {
  // The thread starts its recording when the call returns, if the recording is not over by then.
  const during = async (/** @type {Program} */ program) => {
    await program.hasWaited()
    await program.does('block', 3500)
    await program.recorded(1)
  }
  const { files } = await armed(STALL, during, { CPU_PROF_FOR: '10s' })
  assert.deepEqual(await reasons(files), [STALL])
})

test('a busy loop, a stall of a worker and a start that takes long are no stalls', async () => {
  const { files } = await armed(STALL, async (program) => {
    await program.does('turns', 3000)
    await program.does('worker', 3000)
    await program.does('wait', 3000)
  })
  assert.deepEqual(files, [])
  const dir = temporaryDirectory()
  const code = 'for (const end = Date.now() + 3000; Date.now() < end; );'
  const env = { ...cleanEnv(), CPU_PROF_START: STALL, CPU_PROF_DIR: dir, CPU_PROF_SOCKET: 'off' }
  const args = ['--require', PACKAGE, '-e', code]
  assert.equal(spawnSync(process.execPath, args, { env }).status, 0)
  assert.deepEqual(fs.readdirSync(dir), [])
})

test('CPU time, utilization and memory are met above their limits', async () => {
  for (const [condition, what, value] of /** @type {[string, string, number][]} */ ([
    ['cpu>15%/1s', 'turns', 500],
    ['elu>0.6/1s', 'turns', 500],
    ['rss>200M', 'memory', 250],
  ])) {
    const { files } = await armed(`${NEVER},${condition}`, async (program) => {
      await program.does('wait', 2500)
      assert.deepEqual(tracesIn(program.dir), [], `${condition} is met by an idle program`)
      // The program gets a part of a core only where others are busy.
      for (const end = Date.now() + 30_000; tracesIn(program.dir).length === 0; ) {
        await program.does(what, value)
        assert.ok(Date.now() < end, `${condition} is never met`)
      }
      await program.recorded(1)
    })
    assert.deepEqual(await reasons(files), [condition])
  }
})

test('a signal starts a recording at any time', async () => {
  const { files } = await armed('signal:SIGUSR2,rss>1M', async (program) => {
    // The other condition is met at once, and has its pause now.
    await program.recorded(1)
    for (const count of [2, 3]) {
      // A signal that comes before the end of the recording before does nothing.
      await until(() => {
        program.child.kill('SIGUSR2')
        return tracesIn(program.dir).length === count
      })
      await program.recorded(count)
    }
  })
  assert.deepEqual(await reasons(files), ['rss>1M', 'signal:SIGUSR2', 'signal:SIGUSR2'])
})

test('a program that listens for the signal gets the signal', async () => {
  const { files } = await armed('signal:SIGUSR2', async (program) => {
    await program.does('listen')
    const heard = message(program.child)
    program.child.kill('SIGUSR2')
    assert.equal(await heard, 'signal')
    await program.does('wait', 500)
  })
  assert.deepEqual(files, [])
})

test('there is a pause after a recording, and the oldest are removed', async () => {
  const lengths = { CPU_PROF_FOR: '500ms', CPU_PROF_EVERY: '1.5s' }
  const limits = { ...lengths, CPU_PROF_MAX_RECORDINGS: '2' }
  const { traces } = await armed(
    'rss>1M',
    async (program) => {
      await program.recorded(1)
      const [first] = tracesIn(program.dir)
      await until(() => !fs.existsSync(first), 'the first recording stays')
      await program.recorded(2)
    },
    limits,
  )
  const sequences = traces.map(({ file }) => Number(path.basename(file).split('.')[5]))
  assert.ok(sequences[0] > 1 && traces.length <= 3, `${sequences} are kept`)
  for (const [index, { startUs }] of traces.entries()) {
    const before = traces[index - 1]
    const pauseUs = before === undefined ? 1.5e6 : startUs - before.events.at(-1).ts
    assert.ok(pauseUs > 1.4e6, `a recording began ${pauseUs} µs after the one before`)
  }
})

test('a limited history is kept around a condition', async () => {
  const { traces } = await armed(
    'signal:SIGUSR2',
    async (program) => {
      await program.does('turns', 6000)
      assert.ok(tracesIn(program.dir).length > 1, 'the program is not recorded from its start')
      program.child.kill('SIGUSR2')
      // Without the signal, all segments up to here would be removed meanwhile.
      await program.does('turns', 10_000)
    },
    { CPU_PROF_KEEP: '4s', CPU_PROF_FLUSH_INTERVAL: '100' },
  )
  const markOf = (/** @type {any} */ { events }) =>
    events.find((/** @type {any} */ { name }) => name === 'cpu-prof: signal:SIGUSR2')
  const marked = traces.filter(markOf)
  assert.equal(marked.length, 1)
  const numbers = traces.map(({ metadata }) => metadata.segment)
  const at = marked[0].metadata.segment
  assert.ok(numbers.includes(at - 1) && !numbers.includes(1), `segments ${numbers} for ${at}`)
  const ends = traces.map(({ events }) => events.at(-1).ts)
  assert.ok(ends[numbers.indexOf(at - 1)] < Math.max(...ends) - 4.5e6, 'no segment is old')
  const gaps = numbers.filter((number) => number > at && !numbers.includes(number - 1))
  assert.ok(gaps.length > 0, `no segment after ${at} was removed: ${numbers}`)
  const { conditions } = await report(traces.map(({ file }) => file))
  assert.deepEqual(
    conditions?.map(({ kept, sentence }) => [kept, sentence]),
    [[true, 'Kept because the process had got SIGUSR2 (signal:SIGUSR2).']],
  )
})

test('a program with conditions is as without, and ends as without', async () => {
  const conditions = 'stall>100ms,cpu>90%/1s,elu>0.9/1s,rss>1000G,signal:SIGUSR2,signal:SIGURG'
  const env = { CPU_PROF_START: conditions, CPU_PROF_SOCKET: 'off', CPU_PROF_FOR: '1s' }
  for (const program of [
    ['-e', SEEN],
    // Ends while a recording starts.
    ['-e', 'setTimeout(() => process.kill(process.pid, "SIGURG") && process.exit(7), 50)'],
    [
      '-e',
      'process.on("SIGUSR2", () => process.exit(3)); process.kill(process.pid, "SIGUSR2"); setTimeout(() => {}, 60_000)',
    ],
  ]) {
    const { complaint } = await runUnharmed(program, { env })
    assert.equal(complaint, '')
  }
})

test('wrong conditions stop the program before its first line', () => {
  for (const [value, problem] of [
    ['stall', 'on, off or conditions are allowed, such as stall>500ms'],
    ['stall>5', 'stall> takes a time such as 500ms'],
    ['cpu>90%', 'cpu> takes a percentage of one core and a time such as 90%/10s'],
    ['stall>500ms,', '"" is not a condition'],
    ['signal:SIGUSR1', 'signal: takes SIGUSR2, SIGQUIT or SIGURG'],
  ]) {
    const env = { ...cleanEnv(), CPU_PROF_START: value }
    const args = ['--require', PACKAGE, '-e', 'console.log(1)']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    assert.deepEqual([status, stdout], [9, ''])
    assert.ok(
      stderr.startsWith(`cpu-prof: CPU_PROF_START=${value} is not valid: ${problem}`),
      stderr,
    )
    assert.equal(stderr.trim().split('\n').length, 1)
  }
})
