'use strict'

// Armed programs: nothing is recorded until a peer of the control socket asks.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, test } = require('node:test')
const { runArmed, NEEDS_SOCKET } = require('../helpers/control.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, message, readTrace, temporaryDirectory } = require('../helpers/run.js')
const { isInspector, NEEDS_INTERRUPT, NEEDS_THE_VERY_END } = require('../helpers/source.js')
const { until } = require('../helpers/until.js')

const together = { concurrency: 2, skip: NEEDS_SOCKET }

/** Returns the samples of a function in a trace. @param {any} trace @param {string} name */
const samplesOf = (trace, name) =>
  trace.samples.filter((/** @type {any} */ { node }) => node.callFrame.functionName === name)

/** Returns Node's id of the thread of a growing trace. @param {string} file */
const threadOf = (file) => Number(/"threadId":(\d+)/.exec(fs.readFileSync(file, 'latin1'))?.[1])

/** Returns whether a trace is complete. @param {string} file */
const isComplete = (file) => fs.readFileSync(file, 'latin1').includes('"trace.end"')

/** Returns the names of a process's threads; none where the system has no /proc. @param {number | undefined} pid */
function threadsOf(pid) {
  const tasks = `/proc/${pid}/task`
  if (!fs.existsSync(tasks)) return []
  const name = (/** @type {string} */ id) => {
    try {
      return fs.readFileSync(`${tasks}/${id}/comm`, 'utf8').trim()
    } catch {
      return 'ended meanwhile'
    }
  }
  return fs.readdirSync(tasks).map(name)
}

/** Waits until a growing trace has a function. @param {string} file @param {string} name */
async function seen(file, name) {
  await until(() => fs.readFileSync(file, 'latin1').includes(`"${name}"`), `${file} lacks ${name}`)
}

describe('an armed program', together, () => {
  test('sees the same process state as without the profiler, and records nothing', async () => {
    const cwd = temporaryDirectory()
    const env = { PWD: cwd, CPU_PROF_START: 'off', CPU_PROF_SOCKET: temporaryDirectory() }
    const plain = await run(['observe.js'], { preload: null, cwd, env })
    const armed = await run(['observe.js'], { cwd, env })
    assert.deepEqual(armed.files, [])
    for (const key of /** @type {const} */ (['stdout', 'stderr', 'code', 'signal'])) {
      assert.equal(armed[key], plain[key])
    }
    assert.deepEqual(fs.readdirSync(env.CPU_PROF_SOCKET), [])
  })

  test('tells what it is', async () => {
    const result = await runArmed(['armed.js', 'idle', 'idle'], async ({ child, dir, ask }) => {
      const before = Date.now()
      const { v, status } = await ask({ do: 'status' })
      assert.equal(v, 1)
      assert.ok(status.armedMs <= before && status.armedMs > before - 60_000, status.armedMs)
      assert.match(status.script, /armed\.js$/)
      assert.match(status.label, /armed\.js idle idle \(pid \d+\)/)
      assert.deepEqual(status.argv.slice(2), ['idle', 'idle'])
      const { pid, ppid, node, cwd, threads, conditions, recording, last } = status
      assert.deepEqual(
        { pid, ppid, node, cwd, dir: status.dir, threads, conditions, recording, last },
        {
          pid: child.pid,
          ppid: process.pid,
          node: process.version,
          cwd: dir,
          dir,
          threads: 2,
          conditions: [],
          recording: null,
          last: null,
        },
      )
    })
    assert.deepEqual(result.files, [])
    assert.equal(result.stderr, '')
  })

  test('is recorded in all threads, busy and idle, more than once', {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const kinds = ['busy', 'idle', 'busy', 'working']
    const { traces, stderr } = await runArmed(['armed.js', ...kinds], async ({ ask, recorded }) => {
      for (const by of ['first', 'second']) {
        await ask({ do: 'start', by })
        const files = await recorded(4)
        assert.equal(files.length, 4)
        for (const file of files) {
          if (kinds[threadOf(file)] !== 'idle') await seen(file, 'computeStep')
        }
        const reply = await ask({ do: 'stop' })
        assert.deepEqual(reply.stopped.files, files)
        // A thread that gets no core for a second is not waited for.
        await until(() => files.every(isComplete), 'a file is not complete')
        assert.ok(reply.stopped.samples > 0 || reply.stopped.unreached > 0)
        assert.equal(reply.status.recording, null)
        assert.deepEqual(reply.status.last.files, files)
      }
    })
    assert.equal(stderr, '')
    assert.equal(traces.length, 8)
    for (const trace of traces) {
      assert.match(trace.metadata.start.by, /^(first|second)$/)
      // In an idle thread nothing runs by which frames could be proven then.
      assert.equal(trace.metadata.findsLeaves, process.platform === 'linux' || undefined)
      // A file that has the function as a node has at least one sample of it.
      const isBusy = kinds[trace.tid] !== 'idle'
      assert.equal(samplesOf(trace, 'computeStep').length > 0, isBusy, trace.file)
    }
  })

  test('is recorded while it is idle or works in steps', async () => {
    const { traces } = await runArmed(
      ['armed.js', 'working', 'idle'],
      async ({ ask, recorded }) => {
        await ask({ do: 'start' })
        const files = await recorded(2)
        const main = files.find((file) => threadOf(file) === 0)
        await seen(/** @type {string} */ (main), 'computeStep')
        const { stopped } = await ask({ do: 'stop' })
        assert.deepEqual([stopped.files.length, stopped.by], [2, 'a request'])
      },
    )
    const [main, worker] = traces
    assert.ok(main.ended && worker.ended)
    assert.ok(samplesOf(main, 'computeStep').length > 0)
    assert.equal(samplesOf(worker, 'computeStep').length, 0)
    const marks = main.events.filter((/** @type {any} */ { name }) => name === 'step')
    assert.ok(marks.length > 0, 'user timings are recorded, too')
  })

  test('starts once, and stops once', async () => {
    await runArmed(['armed.js', 'idle'], async ({ ask }) => {
      assert.equal((await ask({ do: 'stop' })).error.code, 'idle')
      await ask({ do: 'start', by: 'the first (pid 7)' })
      const { error } = await ask({ do: 'start', by: 'the second' })
      assert.equal(error.code, 'busy')
      assert.match(error.message, /since \d{4}-\d\d-\d\dT[\d:]+Z, by the first \(pid 7\)$/)
      assert.equal((await ask({ do: 'stop' })).stopped.by, 'the first (pid 7)')
      assert.equal((await ask({ do: 'stop' })).error.code, 'idle')
    })
  })

  test('takes settings with a start, and refuses wrong ones', async () => {
    const dir = path.join(temporaryDirectory(), 'made')
    await runArmed(['armed.js', 'working'], async ({ ask, recorded }) => {
      for (const [settings, message] of /** @type {const} */ ([
        [{ interval: 'x' }, /interval=x is not valid: a whole number/],
        [{ colour: 'red' }, /no setting colour/],
        [{ start: 'on' }, /no setting start/],
      ])) {
        const { error } = await ask({ do: 'start', settings })
        assert.equal(error.code, 'setting')
        assert.match(error.message, message)
      }
      const settings = { dir, interval: '2000', categories: 'cpu', name: 'mine' }
      await ask({ do: 'start', settings })
      const files = await recorded(1)
      assert.deepEqual(files, [path.join(dir, 'mine.trace.json')])
      await seen(files[0], 'computeStep')
      await ask({ do: 'stop' })
      await until(() => isComplete(files[0]), 'the file is not complete')
      const { metadata, events } = await readTrace(files[0])
      assert.equal(metadata.intervalUs, 2000)
      assert.ok(!events.some((/** @type {any} */ { name }) => name === 'step'))
    })
  })

  test('runs on if a recording cannot start, and says why to who asked', async () => {
    const { stderr } = await runArmed(['armed.js', 'working'], async ({ dir, ask, recorded }) => {
      fs.writeFileSync(path.join(dir, 'file'), '')
      const reply = await ask({ do: 'start', settings: { dir: path.join(dir, 'file') } })
      // With the inspector, the answer can come before the thread has failed.
      if (!isInspector) {
        assert.equal(reply.error.code, 'unavailable')
        assert.match(reply.error.message, pattern`${messages.notCreated} .*file`)
        await ask({ do: 'start' })
        assert.equal((await recorded(1)).length, 1)
      }
    })
    assert.equal(stderr, '')
  })

  test('tells in a .cpuprofile who started it', async () => {
    await runArmed(['armed.js', 'working'], async ({ ask }) => {
      await ask({ do: 'start', by: 'me (pid 7)', settings: { format: 'cpuprofile' } })
      const { stopped } = await ask({ do: 'stop' })
      assert.equal(stopped.files.length, 1)
      const profile = JSON.parse(fs.readFileSync(stopped.files[0], 'utf8'))
      assert.deepEqual(profile['cpu-prof'].start, { by: 'me (pid 7)' })
    })
  })

  test('ends a recording by itself after a time', async () => {
    await runArmed(['armed.js', 'working'], async ({ child, ask, status }) => {
      const { status: first } = await ask({ do: 'start', by: 'timer', forMs: 2000 })
      assert.equal(first.recording?.forMs ?? 2000, 2000)
      const { last } = await status(({ last }) => last !== null)
      assert.equal(last.by, 'timer')
      assert.ok(last.durationMs >= 2000, last.durationMs)
      await until(() => last.files.every(isComplete), 'the file is not complete')
      // A recording that is stopped before its time leaves nothing that stops the next one.
      await ask({ do: 'start', forMs: 300 })
      await ask({ do: 'stop' })
      const timers = () => threadsOf(child.pid).filter((name) => name === 'cpu-prof-timer')
      await ask({ do: 'start', forMs: 1_000_000 })
      if (process.platform === 'linux') assert.equal(timers().length, 1)
      await ask({ do: 'stop' })
      await until(() => timers().length === 0, 'a timer lasts longer than its recording')
      await ask({ do: 'start', by: 'without a time' })
      await new Promise((resolve) => setTimeout(resolve, 600))
      assert.equal((await ask({ do: 'status' })).status.recording.by, 'without a time')
    })
  })

  test('records a worker that starts later, and keeps what one has recorded that ends', async () => {
    const { traces } = await runArmed(
      ['armed.js', 'idle', 'working'],
      async ({ child, ask, recorded, status }) => {
        await ask({ do: 'start' })
        child.send({ worker: 'working' })
        await message(child)
        const files = await recorded(3)
        for (const file of files) {
          if (threadOf(file) > 0) await seen(file, 'computeStep')
        }
        child.send('terminate')
        await message(child)
        const { threads } = await status(({ recording }) => recording.threads === 1)
        assert.equal(threads, 1)
        const { stopped } = await ask({ do: 'stop' })
        assert.deepEqual(stopped.files, files)
        child.send({ worker: 'working' })
        await message(child)
        assert.equal((await ask({ do: 'status' })).status.threads, 2)
      },
    )
    assert.deepEqual(
      traces.map(({ tid, ended }) => [tid, ended]),
      [0, 1, 2].map((tid) => [tid, true]),
    )
    assert.match(traces[1].label, /armed\.js/, 'the name that the worker got before its recording')
  })

  test('lets a thread that is blocked in native code follow later', {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const { traces } = await runArmed(
      ['armed.js', 'idle', 'blocked'],
      async ({ dir, ask, recorded }) => {
        await until(() => fs.existsSync(path.join(dir, 'blocked')), 'nothing is blocked')
        await ask({ do: 'start' })
        assert.equal((await recorded(1)).length, 1)
        fs.writeFileSync(path.join(dir, 'free'), '')
        await recorded(2)
        assert.equal((await ask({ do: 'stop' })).stopped.files.length, 2)
      },
    )
    assert.ok(traces.every(({ ended }) => ended))
  })

  test('tells of threads that a stop does not reach, whose files end later', {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const { traces } = await runArmed(
      ['armed.js', 'idle'],
      async ({ child, dir, ask, recorded }) => {
        await ask({ do: 'start' })
        child.send({ worker: 'blocked' })
        await message(child)
        await recorded(2)
        await until(() => fs.existsSync(path.join(dir, 'blocked')), 'nothing is blocked')
        const { stopped } = await ask({ do: 'stop' })
        assert.equal(stopped.files.length, 2)
        assert.ok(stopped.unreached >= 1, 'a blocked thread is reached')
        fs.writeFileSync(path.join(dir, 'free'), '')
        await until(
          () => stopped.files.every(isComplete),
          'the file of a freed thread does not end',
        )
      },
    )
    assert.ok(traces.every(({ ended }) => ended))
  })
})

describe('the functions in code', together, () => {
  /** @param {string} body @param {Parameters<typeof runArmed>[1]} then @param {Record<string, string | undefined>} [env] */
  const inCode = (body, then, env) => {
    const api = JSON.stringify(path.join(__dirname, '..', '..'))
    const program = `const { start, stop, isRecording, label } = require(${api}); ${body}`
    return runArmed(['-e', program], then, { preload: env ? undefined : null, env })
  }

  test('start({ start: "off" }) arms a program without a preload', async () => {
    const folder = temporaryDirectory()
    const body = `
      start({ start: 'off', socket: process.env.CPU_PROF_SOCKET, categories: 'cpu' })
      start({ start: 'off' })
      if (isRecording()) throw Error('it records')
      setInterval(function work() { for (let i = 0; i < 1e5; i++) Math.sqrt(i) }, 1)
      process.send('ready')`
    const { stderr } = await inCode(body, async ({ ask, recorded }) => {
      await ask({ do: 'start', settings: { dir: folder } })
      await seen((await recorded(1))[0], 'work')
      assert.equal((await ask({ do: 'stop' })).stopped.files.length, 1)
    })
    assert.equal(stderr, '')
  })

  test('start() in an armed program records at once, and a stop from outside leaves that alone', async () => {
    const body = `
      start({ workers: false })
      process.on('message', () => process.send(stop().files.length))
      process.send('ready')`
    const { files } = await inCode(
      body,
      async ({ child, ask }) => {
        const { status } = await ask({ do: 'start' })
        assert.equal(status.recording.threads, 0)
        assert.equal((await ask({ do: 'stop' })).stopped.files.length, 0)
        child.send('stop')
        assert.equal(await message(child), 1)
      },
      {},
    )
    assert.equal(files.length, 1)
  })

  test('stop() ends the part of the calling thread in a recording from outside', async () => {
    const body = `
      process.on('message', () => process.send(stop().files))
      setInterval(() => {}, 10)
      process.send('ready')`
    await inCode(
      body,
      async ({ child, ask, recorded }) => {
        await ask({ do: 'start' })
        const files = await recorded(1)
        child.send('stop')
        assert.deepEqual(await message(child), files)
        assert.deepEqual((await ask({ do: 'stop' })).stopped.files, files)
      },
      {},
    )
  })
})

test('a program that replaces itself ends its recording', {
  skip: NEEDS_SOCKET || NEEDS_THE_VERY_END || !('execve' in process),
}, async () => {
  const { traces } = await runArmed(
    [
      '-e',
      `process.send('ready'); process.on('message', () => {
         performance.mark('before'); process.execve(process.execPath, ['node', '-e', '0']) })`,
    ],
    async ({ child, ask }) => {
      await ask({ do: 'start' })
      child.send('go')
      await new Promise((resolve) => child.once('exit', resolve))
    },
  )
  assert.equal(traces.length, 1)
  assert.ok(traces[0].ended)
})
