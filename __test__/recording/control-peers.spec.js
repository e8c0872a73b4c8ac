'use strict'

// Hostile peers of the control socket, and folders in which no socket may be.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { describe, test } = require('node:test')
const { reply, runArmed, send, NEEDS_SOCKET } = require('../helpers/control.js')
const { messages, pattern } = require('../helpers/messages.js')
const { NEEDS_NEIGHBOUR } = require('../helpers/neighbour.js')
const { run, cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/run.js')
const { runUnharmed } = require('../helpers/unharmed.js')

const together = { concurrency: 2, skip: NEEDS_SOCKET }

describe('a peer', together, () => {
  test('that sends no request gets an error, and others are served', async () => {
    const { stderr } = await runArmed(['armed.js', 'working'], async ({ socket, ask }) => {
      for (const [bytes, code] of /** @type {const} */ ([
        ['garbage\n', 'request'],
        ['\n', 'request'],
        ['{"v":1}\n', 'request'],
        ['{"v":1,"do":"explode"}\n', 'request'],
        ['{"v":1,"do":"start","settings":{"dir":7}}\n', 'request'],
        ['{"v":1,"do":"start","settings":{"__proto__":"x"}}\n', 'setting'],
        ['{"v":2,"do":"status"}\n', 'version'],
        [`${'['.repeat(50_000)}\n`, 'request'],
        [Buffer.from([0xff, 0xfe, 0, 10]), 'request'],
      ])) {
        const { v, error } = await reply(socket, bytes)
        assert.deepEqual([v, error.code], [1, code], String(bytes).slice(0, 50))
        assert.ok(!error.message.includes('\n'))
      }
      const { status } = await ask({ do: 'status' })
      assert.equal(status.recording, null)
    })
    assert.equal(stderr, '')
  })

  test('that sends too much or too little is given up', async () => {
    await runArmed(['armed.js', 'working'], async ({ socket, ask }) => {
      const line = `{"v":1,"do":"status","x":"${'x'.repeat(200_000)}"}\n`
      const refused = await send(socket, line).catch(() => '')
      // The rest of the line, which nobody reads, can cost the answer.
      if (refused !== '') assert.match(JSON.parse(refused).error.message, /longer than 65536 bytes/)
      const half = await send(socket, '{"v":1', { ends: true })
      assert.match(JSON.parse(half).error.message, /line break|no request came/)
      const name = '"'.repeat(10)
      await ask({ do: 'start', by: `${name}\u001b[31m\n${'x'.repeat(60_000)}` })
      const { status } = await ask({ do: 'status' })
      assert.equal(status.recording.by.length, 200)
      assert.match(status.recording.by, /^"{10} \[31m x+$/)
    })
  })

  test('that is silent, half or slow delays others, and neither the program nor the recording', async () => {
    const { stderr, traces } = await runArmed(
      ['armed.js', 'working'],
      async ({ socket, ask, recorded }) => {
        await ask({ do: 'start' })
        await recorded(1)
        const silent = net.connect(socket)
        const half = net.connect(socket, () => half.write('{"v":1,"do":"sta'))
        const gone = net.connect(socket, () => gone.destroy())
        const slow = net.connect(socket, () => slow.pause().write('{"v":1,"do":"status"}\n'))
        const peers = [silent, half, gone, slow]
        for (const peer of peers) peer.on('error', () => {})
        // Each of the first two is given up after a second.
        const { status } = await ask({ do: 'status' })
        assert.equal(status.recording.threads, 1)
        await ask({ do: 'stop' })
        for (const peer of peers) peer.destroy()
      },
    )
    assert.equal(stderr, '')
    assert.ok(traces[0].ended)
  })

  test('in a thousand is served, or refused by the system', async () => {
    await runArmed(['armed.js', 'working'], async ({ socket, ask }) => {
      const request = () => send(socket, '{"v":1,"do":"status"}\n').catch(() => '')
      const replies = await Promise.all(Array.from({ length: 1000 }, request))
      const served = replies.filter((reply) => reply !== '')
      assert.ok(served.length > 0)
      for (const reply of served) assert.equal(JSON.parse(reply).v, 1)
      assert.equal((await ask({ do: 'status' })).status.threads, 1)
    })
  })
})

describe('the folder of a socket', together, () => {
  const program = ['-e', 'console.log(1); process.exitCode = 3']
  /** @param {string} folder */
  const armedIn = (folder) =>
    runUnharmed(program, { env: { CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder } })

  test('is refused if others can reach it, and the program runs on', async () => {
    const dir = temporaryDirectory()
    const at = (/** @type {string} */ name) => path.join(dir, name)
    fs.mkdirSync(at('open'))
    fs.chmodSync(at('open'), 0o777)
    fs.mkdirSync(at('private'), { mode: 0o700 })
    fs.symlinkSync(at('private'), at('link'))
    fs.writeFileSync(at('file'), '')
    for (const [name, why] of [
      ['open', 'mode must be 0700'],
      ['link', 'no folder'],
      ['file', 'no folder'],
      ['missing/below', 'No such file'],
      ['x'.repeat(120), 'SUN_LEN'],
    ]) {
      const { complaint, files } = await armedIn(at(name))
      assert.ok(complaint.includes(why), `${name}: ${complaint}`)
      assert.match(complaint, /^cpu-prof: the process cannot be controlled .*CPU_PROF_SOCKET/)
      assert.deepEqual(files, [])
    }
    assert.deepEqual(fs.readdirSync(at('private')), [])
  })

  test('that belongs to another user is refused', {
    skip: process.getuid?.() !== 0 && 'only root has folders of others',
  }, async () => {
    const dir = temporaryDirectory()
    fs.chmodSync(dir, 0o700)
    fs.chownSync(dir, 1000, 1000)
    const { complaint } = await armedIn(dir)
    assert.match(complaint, pattern`${messages.ofAnotherUser}`)
    assert.deepEqual(fs.readdirSync(dir), [])
  })

  test('is the first that can be used', async () => {
    const [runtime, temporary] = [temporaryDirectory(), temporaryDirectory()]
    const uid = process.getuid?.()
    const usual = { CPU_PROF_SOCKET: undefined, TMPDIR: temporary }
    const show = `
      const fs = require('node:fs')
      for (const dir of [process.env.XDG_RUNTIME_DIR + '/cpu-prof', '${temporary}/cpu-prof-${uid}']) {
        console.log(fs.existsSync(dir) ? fs.readdirSync(dir).filter((name) => name.startsWith(process.pid + '-')).length : -1)
      }`
    const shown = async (/** @type {string} */ folder) => {
      const env = { ...usual, XDG_RUNTIME_DIR: folder, CPU_PROF_START: 'off' }
      return (await run(['-e', show], { env })).stdout.trim().split('\n')
    }
    assert.deepEqual(await shown(runtime), ['1', '-1'])
    assert.deepEqual(await shown('/nowhere'), ['-1', '1'])
    assert.deepEqual(await shown('relative'), ['-1', '1'])
  })

  test('is an absolute path, or off', async () => {
    const { complaint: none } = await armedIn('off')
    assert.equal(none, '')
    const env = { ...cleanEnv(), CPU_PROF_START: 'off', CPU_PROF_SOCKET: 'sockets' }
    const wrong = spawnSync(process.execPath, ['--require', PACKAGE, '-e', '0'], {
      env,
      encoding: 'utf8',
    })
    assert.equal(wrong.status, 9)
    assert.match(
      wrong.stderr,
      /CPU_PROF_SOCKET=sockets is not valid: the absolute path of a folder/,
    )
  })

  test('is not made by a process with rights of another user', {
    skip: NEEDS_NEIGHBOUR,
  }, async () => {
    const dir = temporaryDirectory()
    const early = path.join(dir, 'early.js')
    fs.writeFileSync(early, 'process.seteuid(1000)')
    const socket = path.join(dir, 'socket')
    const { complaint } = await runUnharmed(['-e', '0'], {
      before: ['--require', early],
      env: { CPU_PROF_START: 'off', CPU_PROF_SOCKET: socket },
    })
    assert.match(complaint, /rights that its user does not have/)
    assert.equal(fs.existsSync(socket), false)
  })
})
