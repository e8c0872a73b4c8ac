'use strict'

// How armed processes end, with and without a recording.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { describe, test } = require('node:test')
const { runArmed, send, NEEDS_SOCKET } = require('../helpers/control.js')
const { run, message, cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/run.js')
const { NEEDS_INTERRUPT, NEEDS_THE_VERY_END, NEEDS_WAKE_UP } = require('../helpers/source.js')

const together = { concurrency: 2, skip: NEEDS_SOCKET }
const isLinux = process.platform === 'linux'

/** @param {import('node:child_process').ChildProcess} child */
const end = (child) => new Promise((resolve) => child.once('exit', resolve))

describe('an armed process', together, () => {
  test('that is not recorded ends as always, and removes its socket', async () => {
    for (const ending of [{ exit: 7 }, { exit: 0 }]) {
      const { code, stderr, files, folder } = await runArmed(['armed.js', 'idle'], ({ child }) => {
        child.send(ending)
        return end(child)
      })
      assert.deepEqual([code, stderr, files], [ending.exit, '', []])
      // The C library of other systems does not tell the end.
      if (isLinux) assert.deepEqual(fs.readdirSync(folder), [])
    }
  })

  test('that is recorded and exits has complete files with its exit code', async () => {
    const { code, traces } = await runArmed(
      ['armed.js', 'working', 'idle', 'working'],
      async ({ child, ask, recorded }) => {
        await ask({ do: 'start' })
        await recorded(3)
        child.send({ exit: 5 })
        await end(child)
      },
    )
    assert.equal(code, 5)
    assert.ok(traces.length > 0 && traces.every(({ ended }) => ended))
    const main = traces.find(({ tid }) => tid === 0)
    assert.equal(main?.events.at(-1).args.data.exitCode, 5)
  })

  test('that is killed keeps what it has recorded', { skip: NEEDS_INTERRUPT }, async () => {
    const { signal, traces } = await runArmed(
      ['armed.js', 'busy'],
      async ({ child, ask, recorded }) => {
        await ask({ do: 'start' })
        const [file] = await recorded(1)
        while (!fs.readFileSync(file, 'latin1').includes('"computeStep"')) {
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
        child.kill('SIGKILL')
        await end(child)
      },
    )
    assert.equal(signal, 'SIGKILL')
    assert.deepEqual(
      traces.map(({ ended }) => ended),
      [false],
    )
  })

  test('dies of a signal as always, with complete files', { skip: NEEDS_WAKE_UP }, async () => {
    const { signal, traces } = await runArmed(
      ['armed.js', 'idle'],
      async ({ child, ask, recorded }) => {
        await ask({ do: 'start' })
        await recorded(1)
        child.kill('SIGTERM')
        await end(child)
      },
    )
    assert.equal(signal, 'SIGTERM')
    assert.deepEqual([traces.length, traces[0].ended], [1, true])
  })

  test('that survives its own signal is recorded on, and stopped', {
    skip: NEEDS_THE_VERY_END,
  }, async () => {
    const program = `
      process.on('SIGUSR2', () => process.send('survived'))
      process.on('message', () => process.kill(process.pid, 'SIGUSR2'))
      setInterval(() => {}, 10)
      process.send('ready')`
    const { traces } = await runArmed(['-e', program], async ({ child, ask }) => {
      await ask({ do: 'start' })
      child.send('kill yourself')
      await message(child)
      const { stopped } = await ask({ do: 'stop' })
      assert.ok(stopped.files.length > 0)
    })
    assert.ok(traces.every(({ ended, metadata }) => ended && metadata.start.by === 'a request'))
  })

  test('can end at any moment of a start and a stop', { skip: NEEDS_WAKE_UP }, async () => {
    for (let round = 0; round < 6; round++) {
      const { code, stderr, traces } = await runArmed(
        ['armed.js', 'working', 'working', 'idle'],
        async ({ child, socket, ask }) => {
          const request = (/** @type {string} */ verb) =>
            send(socket, `{"v":1,"do":"${verb}"}\n`).catch(() => 'the process has ended')
          if (round % 2) await ask({ do: 'start' })
          const asked = request(round % 2 ? 'stop' : 'start')
          child.send(round < 3 ? { exit: 3 } : 'terminate')
          if (round >= 3) child.send({ exit: 3 })
          await Promise.all([asked, end(child)])
        },
      )
      assert.deepEqual([code, stderr], [3, ''])
      assert.ok(traces.every(({ ended }) => ended))
    }
  })

  test('starts and stops while its workers come and go', { skip: NEEDS_WAKE_UP }, async () => {
    const { stderr, traces } = await runArmed(['armed.js', 'idle'], async ({ child, ask }) => {
      for (let round = 0; round < 5; round++) {
        child.send({ worker: 'working' })
        child.send({ worker: 'busy' })
        await ask({ do: 'start' })
        await message(child)
        child.send('terminate')
        await ask({ do: 'stop' })
        await message(child)
      }
    })
    assert.equal(stderr, '')
    assert.ok(traces.length >= 5)
  })

  test('that forks keeps its socket and its recording', { skip: NEEDS_SOCKET }, async () => {
    const program = `
      const { execFileSync, fork } = require('node:child_process')
      process.on('message', () => {
        execFileSync(process.execPath, ['-e', '0'])
        fork(${JSON.stringify(require.resolve('../fixtures/armed.js'))}, ['idle']).once('message', function () {
          this.once('exit', () => process.send('forked'))
          this.send({ exit: 0 })
        })
      })
      setInterval(() => {}, 10)
      process.send('ready')`
    const { stderr } = await runArmed(['-e', program], async ({ child, folder, ask }) => {
      await ask({ do: 'start' })
      child.send('fork')
      await message(child)
      assert.equal((await ask({ do: 'stop' })).stopped.files.length, 1)
      assert.equal(fs.readdirSync(folder).length, 1)
    })
    assert.equal(stderr, '')
  })
})

test('a process removes the sockets of killed processes', { skip: NEEDS_SOCKET }, async () => {
  const folder = temporaryDirectory()
  const start = async () => {
    const child = spawn(
      process.execPath,
      ['--require', PACKAGE, require.resolve('../fixtures/armed.js'), 'idle'],
      {
        env: { ...cleanEnv(), CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    )
    await message(child)
    return child
  }
  const first = await start()
  first.kill('SIGKILL')
  await end(first)
  assert.equal(fs.readdirSync(folder).length, 1)
  const [second, third] = [await start(), await start()]
  const own = (/** @type {string} */ name) =>
    [second, third].some(({ pid }) => name.startsWith(`${pid}-`))
  while (!fs.readdirSync(folder).every(own)) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(fs.readdirSync(folder).length, 2)
  for (const child of [second, third]) child.kill('SIGKILL')
})

test('a program that is only armed has no recording, which cpu-prof run tells', {
  skip: NEEDS_SOCKET,
}, async () => {
  const { code, files } = await run(['-e', '0'], {
    env: { CPU_PROF_START: 'off', CPU_PROF_SOCKET: 'off' },
  })
  assert.deepEqual([code, files], [0, []])
})
