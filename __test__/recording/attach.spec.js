'use strict'

// Processes that are not armed: reached by SIGUSR1 and the inspector, or refused with the reason.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const test = require('node:test')
const { inspection, listSockets } = require('../../cli/system/index.js')
const { socketFolder } = require('../helpers/armed.js')
const { LIMITED } = require('../helpers/cli.js')
const { filesIn, temporaryDirectory, tracesIn, PACKAGE } = require('../helpers/files.js')
const { cliOf, startArmed, startProgram, work, PROGRAM } = require('../helpers/remote.js')
const { message } = require('../helpers/run.js')
const { readTrace } = require('../helpers/trace.js')
const { assertSeen } = require('../helpers/work.js')

const skip = inspection === undefined && 'only Linux tells what this needs'
/** Any free port: other programs of this machine can use Node's own. */
const ANY_PORT = '--inspect-port=0'
const [MAJOR] = process.versions.node.split('.').map(Number)

/** Returns whether a process waits for connections. @param {number} pid */
const isListening = (pid) => Number(inspection?.listenersOf(pid).length) > 0

/** Checks that nothing has happened to a process. @param {import('../helpers/remote.js').Program} program */
function assertUntouched({ child, pid, stderr }) {
  assert.deepEqual([child.exitCode, child.signalCode, isListening(pid)], [null, null, false])
  assert.doesNotMatch(stderr, /Debugger/)
}

/** @param {import('node:test').TestContext} t @param {string[]} args @param {string} folder */
const start = (t, args, folder) => startProgram(t, args, { CPU_PROF_SOCKET: folder })

test('without --inspector, what would be done is told and nothing is done', { skip }, async (t) => {
  const folder = socketFolder()
  const program = await start(t, ['--inspect-port=12345', PROGRAM], folder)
  const cli = cliOf(folder)
  for (const command of ['start', 'record']) {
    const { code, stdout, stderr } = await cli([command, String(program.pid), '--interval', '500'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /send SIGUSR1, on which Node opens its inspector on 127\.0\.0\.1:12345/)
    assert.ok(stderr.includes(`load ${path.join(PACKAGE, 'index.js')} through the inspector`))
    assert.match(
      stderr,
      /close the inspector again; until then, whoever can connect to the port can run code/,
    )
    const again = `to do this: cpu-prof ${command} ${program.pid} --interval 500 --inspector\n`
    assert.ok(stderr.endsWith(again), stderr)
  }
  assertUntouched(program)
})

for (const words of [[], ['worker'], ['worker', 'nested'], ['busy'], ['worker', 'busy']]) {
  test(`a process is armed: ${words.join(' and ') || 'idle'}`, { skip }, async (t) => {
    const folder = socketFolder()
    const cli = cliOf(folder)
    const program = await start(t, [ANY_PORT, PROGRAM, ...words], folder)
    const { pid, cwd } = program
    const threads = 1 + words.filter((word) => word !== 'busy').length
    const started = await cli(['start', String(pid), '--inspector'])
    assert.equal(started.code, 0, started.stderr)
    assert.match(
      started.stderr,
      /^cpu-prof: arming pid \d+ \(node .*controlled\.js.*\) through its inspector\n/,
    )
    assert.match(started.stderr, new RegExp(`armed ${threads} threads? of pid ${pid}\n`))
    assert.match(started.stderr, new RegExp(`recording pid ${pid} `))
    assert.ok(!isListening(pid))
    if (!words.includes('busy')) await work(program)

    const stopped = await cli(['stop', String(pid), '--json'])
    const [{ files, unreached }] = JSON.parse(stopped.stdout)
    assert.deepEqual([files.length, unreached], [threads, 0])
    assert.deepEqual(files.sort(), tracesIn(cwd))
    const traces = await Promise.all(tracesIn(cwd).map((file) => readTrace(file)))
    for (const trace of traces) assert.ok(trace.ended, trace.file)
    if (!words.includes('busy'))
      assertSeen(/** @type {any} */ (traces.find(({ tid }) => tid === 0)), 'spin')

    // The next one needs no inspector.
    const again = await cli(['start', String(pid)])
    assert.equal(again.code, 0, again.stderr)
    assert.deepEqual([program.child.exitCode, program.child.signalCode], [null, null])
  })
}

test('a program of ES modules is armed and recorded', { skip }, async (t) => {
  const folder = socketFolder()
  const file = path.join(temporaryDirectory(), 'main.mjs')
  fs.writeFileSync(file, `import ${JSON.stringify(PROGRAM)}`)
  const program = await start(t, [ANY_PORT, file], folder)
  const { code, stderr } = await cliOf(folder)([
    'record',
    String(program.pid),
    '--for',
    '300ms',
    '--inspector',
    '-o',
    'trace.json',
  ])
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^trace: trace\.json /m)
})

test('an inspector that is open stays open', { skip }, async (t) => {
  const folder = socketFolder()
  const port = await freePort()
  const program = await start(t, [`--inspect=${port}`, PROGRAM], folder)
  const plan = await cliOf(folder)(['start', String(program.pid)])
  assert.match(
    plan.stderr,
    new RegExp(`through the inspector that is open on 127\\.0\\.0\\.1:${port}\n`),
  )
  assert.match(plan.stderr, /leave the inspector open/)
  const { code, stderr } = await cliOf(folder)(['start', String(program.pid), '--inspector'])
  assert.equal(code, 0, stderr)
  assert.ok(isListening(program.pid))
})

/** Returns a port that nobody uses. @returns {Promise<number>} */
async function freePort() {
  const server = net.createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('a port that another process uses is not connected to', { skip }, async (t) => {
  const folder = socketFolder()
  /** @type {import('node:net').Socket[]} */
  const connections = []
  const server = net.createServer((connection) => connections.push(connection))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => server.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const program = await start(t, [`--inspect-port=${port}`, PROGRAM], folder)
  const { code, stderr } = await cliOf(folder)(['start', String(program.pid), '--inspector'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    new RegExp(`port ${port}, where its inspector would open, is used by another process`),
  )
  assert.deepEqual(connections, [])
  assertUntouched(program)
})

/** Answers of a program in place of an inspector: a list that never ends, and a session that never opens. */
const HOSTILE = {
  list: `response.write('[')
    setInterval(() => response.write(' '), 100)`,
  session: `response.end('[{ "id": "x" }]')
    server.on('upgrade', (request, socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 Switching Protocols\\r\\n')
      setInterval(() => socket.write('a: b\\r\\n'), 100)
    })`,
}

for (const [name, answer] of Object.entries(HOSTILE)) {
  /** @param {import('node:test').TestContext} t */
  const startHostile = async (t) => {
    const folder = socketFolder()
    const port = await freePort()
    const file = path.join(temporaryDirectory(), 'main.js')
    const text = `const server = require('http').createServer((request, response) => {
      response.on('error', () => {})
      ${answer}
      process.send('asked')
    })
    server.listen(${port}, '127.0.0.1', () => process.send('ready'))`
    fs.writeFileSync(file, text)
    const program = await start(t, [`--inspect-port=${port}`, file], folder)
    return { folder, port, program }
  }

  test(`what is not an inspector does not hold the command: ${name}`, { skip }, async (t) => {
    const { folder, port, program } = await startHostile(t)
    const run = cliOf(folder)
    const args = ['record', String(program.pid), '--inspector']
    const { code, signal, stderr } = await run(args, { under: LIMITED })
    assert.deepEqual([code, signal], [1, null], stderr)
    assert.match(stderr, new RegExp(`127.0.0.1:${port} gives no whole answer in 5 s: `))
  })

  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    test(`${signal} ends an attach that waits: ${name}`, { skip }, async (t) => {
      const { folder, program } = await startHostile(t)
      const asked = message(program.child)
      const args = ['record', String(program.pid), '--inspector']
      const ended = await cliOf(folder)(args, {
        async during(child) {
          await asked
          child.kill(signal)
        },
      })
      assert.deepEqual([ended.code, ended.signal], [null, signal], ended.stderr)
      assert.match(ended.stderr, /cannot be armed: a signal interrupted it\n$/)
    })
  }
}

for (const [name, args, since] of /** @type {[string, string[], number][]} */ ([
  ['--disable-sigusr1', ['--disable-sigusr1'], 22],
  ['--permission', ['--permission', '--allow-fs-read=*'], 22],
])) {
  const why = skip || (MAJOR < since && `Node ${MAJOR} has no ${name}`)
  test(`${name} is refused without a signal`, { skip: why }, async (t) => {
    const folder = socketFolder()
    const program = await start(t, [...args, ANY_PORT, PROGRAM], folder)
    for (const more of [[], ['--inspector']]) {
      const { code, stderr } = await cliOf(folder)(['start', String(program.pid), ...more])
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`cannot be armed: it runs with ${name}, `))
    }
    assertUntouched(program)
  })
}

test('a handler of its own for SIGUSR1 gets the signal', { skip }, async (t) => {
  const folder = socketFolder()
  const file = path.join(temporaryDirectory(), 'main.js')
  const handler = "process.on('SIGUSR1', () => console.error('mine'))"
  fs.writeFileSync(file, `${handler}; require(${JSON.stringify(PROGRAM)})`)
  const program = await start(t, [ANY_PORT, file], folder)
  const { code, stderr } = await cliOf(folder)(['start', String(program.pid), '--inspector'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /its inspector does not open: the program has a handler of its own for SIGUSR1/,
  )
  assert.equal(program.stderr, 'mine\n')
  assertUntouched(program)
})

test('a process that is recorded from its start is refused', { skip }, async (t) => {
  const folder = socketFolder()
  const program = await start(t, ['--require', PACKAGE, ANY_PORT, PROGRAM], folder)
  const { code, stderr } = await cliOf(folder)(['start', String(program.pid), '--inspector'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /cannot be armed: it is being recorded already, from its start or by its own code/,
  )
  assert.ok(!isListening(program.pid))
  assert.equal(tracesIn(program.cwd).length, 1)
})

test('another copy of the package in the process is refused', { skip }, async (t) => {
  const folder = socketFolder()
  const copy = path.join(temporaryDirectory(), 'copy')
  for (const name of fs.readdirSync(PACKAGE)) {
    const isNeeded = /^(lib|index\.js|package\.json|cpu-prof\..*\.node)$/.test(name)
    if (isNeeded) fs.cpSync(path.join(PACKAGE, name), path.join(copy, name), { recursive: true })
  }
  const program = await start(t, ['--require', copy, ANY_PORT, PROGRAM], folder)
  const { code, stderr } = await cliOf(folder)(['start', String(program.pid), '--inspector'])
  assert.equal(code, 1)
  assert.ok(stderr.includes(`another copy of cpu-prof (${path.join(copy, 'cpu-prof.')}`), stderr)
  assert.deepEqual(listSockets({ CPU_PROF_SOCKET: folder }), [])
  assert.ok(!isListening(program.pid))
})

test('an older version in the process is refused', { skip }, async (t) => {
  const folder = socketFolder()
  const [addon] = filesIn(PACKAGE, '.node').filter((file) =>
    path.basename(file).startsWith('cpu-prof.'),
  )
  const file = path.join(temporaryDirectory(), 'main.js')
  const module = "{ exports: { cpuProfVersion: () => '0.0.1' }, loaded: true }"
  const load = `require.cache[${JSON.stringify(addon)}] = ${module}`
  fs.writeFileSync(file, `${load}; require(${JSON.stringify(PROGRAM)})`)
  const program = await start(t, [ANY_PORT, file], folder)
  const { code, stderr } = await cliOf(folder)(['start', String(program.pid), '--inspector'])
  assert.equal(code, 1)
  assert.match(stderr, /cannot be armed: it has loaded version 0\.0\.1 of cpu-prof, and this is /)
  assert.ok(!isListening(program.pid))
})

test('a process that opens no control socket is told', { skip }, async (t) => {
  const program = await startProgram(t, [ANY_PORT, PROGRAM], { CPU_PROF_SOCKET: 'off' })
  const { code, stderr } = await cliOf(socketFolder())([
    'start',
    String(program.pid),
    '--inspector',
  ])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /its control socket does not appear where this user looks; its CPU_PROF_SOCKET/,
  )
  assert.ok(!isListening(program.pid))
})

test('what is armed in a tree leaves the others alone, unless --inspector', { skip }, async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const armed = await startArmed(t, folder)
  const plain = await start(t, [ANY_PORT, PROGRAM], folder)
  const first = await cli(['start', String(process.pid), '--tree'])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, new RegExp(`recording pid ${armed.pid} `))
  assert.match(
    first.stderr,
    new RegExp(`pid ${plain.pid} \\(.*\\) is not armed, and is left out\n`),
  )
  assertUntouched(plain)
})
