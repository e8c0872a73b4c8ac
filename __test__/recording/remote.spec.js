'use strict'

// Armed processes, and the commands ps, status, start and stop.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { socketFolder } = require('../helpers/armed.js')
const { cleanEnv, temporaryDirectory, tracesIn, PACKAGE } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { cliOf, startArmed, startProgram, work, PROGRAM } = require('../helpers/remote.js')
const { readTrace } = require('../helpers/trace.js')
const { until } = require('../helpers/until.js')
const { assertSeen } = require('../helpers/work.js')

test('an armed process is listed, started, stopped, and started again', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const program = await startArmed(t, folder, ['worker'])
  const { pid, cwd } = program
  await work(program)
  assert.deepEqual(tracesIn(cwd), [])

  const listed = await cli(['ps'])
  assert.match(
    listed.stdout,
    new RegExp(`^ *pid +label.*\n *${pid} +\\S*controlled\\.js\\S* .* armed `),
  )
  assert.equal(listed.stderr, '')
  const [status, ...others] = JSON.parse((await cli(['ps', '--json'])).stdout)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [status.pid, status.package, status.threads, status.recording, status.dir],
    [pid, '@org/cpu-prof', 2, null, cwd],
  )

  for (const count of [2, 4]) {
    const started = await cli(['start', String(pid)])
    assert.equal(started.code, 0, started.stderr)
    assert.match(started.stderr, new RegExp(`^cpu-prof: recording pid ${pid} \\(.*controlled\\.js`))
    await work(program)
    assert.match(
      (await cli(['status', 'controlled.js'])).stdout,
      /started by cpu-prof start \(pid \d+\)/,
    )

    const busy = await cli(['start', String(pid)])
    assert.equal(busy.code, 1)
    assert.match(
      busy.stderr,
      /is not recorded: .*already, since .*, by cpu-prof start \(pid \d+\)\n$/,
    )

    const stopped = await cli(['stop', String(pid)])
    assert.equal(stopped.code, 0, stopped.stderr)
    const files = stopped.stdout.trim().split('\n')
    assert.deepEqual([files.length, tracesIn(cwd).length], [2, count])
    const traces = await Promise.all(files.map((file) => readTrace(file)))
    for (const trace of traces) assert.ok(trace.ended, trace.file)
    assertSeen(/** @type {any} */ (traces.find(({ tid }) => tid === 0)), 'spin')
  }

  const idle = await cli(['stop', String(pid)])
  assert.deepEqual([idle.code, idle.stdout], [1, ''])
  assert.match(idle.stderr, /is not being recorded/)
  assert.equal(program.stderr, '')
})

test('a process has one name, in lists and in the report of its recording', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const script = path.join(temporaryDirectory(), 'story', 'app.js')
  fs.mkdirSync(path.dirname(script))
  fs.writeFileSync(script, `require(${JSON.stringify(PROGRAM)})\n`)
  const env = { CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder }
  const program = await startProgram(t, ['--require', PACKAGE, script, '--port', '80'], env)
  const name = 'story/app.js --port 80'
  const [{ pid, label }] = JSON.parse((await cli(['ps', '--json'])).stdout)
  assert.deepEqual([pid, label], [program.pid, name])
  assert.ok((await cli(['status', name])).stdout.startsWith(`pid ${pid} (${name})\n`))
  await cli(['start', name])
  await work(program)
  const { stdout: file } = await cli(['stop', name])
  const { processes } = await report(file.trim())
  assert.deepEqual(
    processes.map(({ pid, command }) => [pid, command]),
    [[pid, name]],
  )
})

test('a thread in a busy loop is started and stopped', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const { pid, cwd } = await startArmed(t, folder, ['busy'])
  const dir = path.join(temporaryDirectory(), 'made')
  const started = await cli(['start', '--all', '--dir', dir])
  const [, place] = /, into (.*)\n$/.exec(started.stderr) ?? []
  assert.equal(path.resolve(started.cwd, place), dir)
  await until(() => tracesIn(dir).some((file) => fs.statSync(file).size > 5000), 'no sample')
  const stopped = await cli(['stop', '--all', '--json'])
  const [{ files, samples, unreached, ...result }] = JSON.parse(stopped.stdout)
  assert.deepEqual([result.pid, files, unreached], [pid, tracesIn(dir), 0])
  assert.ok(samples > 0)
  assert.deepEqual(tracesIn(cwd), [])
  const trace = await readTrace(files[0])
  assert.ok(trace.ended)
  assertSeen(trace, 'spin')
})

test('a recording ends by itself after --for', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const { pid, cwd } = await startArmed(t, folder)
  const { stderr } = await cli(['start', String(pid), '--for', '200ms'])
  assert.match(stderr, / for 200 ms, into /)
  await until(() =>
    tracesIn(cwd).some((file) => fs.readFileSync(file, 'utf8').includes('trace.end')),
  )
  const [status] = JSON.parse((await cli(['status', '--all', '--json'])).stdout)
  assert.deepEqual([status.recording, status.last.files], [null, tracesIn(cwd)])
})

test('--tree means the processes below, also below a shell', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const dir = temporaryDirectory()
  const command = `"${process.execPath}" "${PROGRAM}" & "${process.execPath}" "${PROGRAM}" & wait`
  const options = `--require ${JSON.stringify(PACKAGE)}`
  const env = { NODE_OPTIONS: options, CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder }
  const shell = spawn('sh', ['-c', command], { env: { ...cleanEnv(), ...env }, cwd: dir })
  t.after(() => shell.kill('SIGKILL'))
  const sockets = () => fs.readdirSync(folder).filter((name) => name.endsWith('.sock'))
  await until(() => sockets().length === 2)
  const pids = sockets().map((name) => Number.parseInt(name, 10))
  t.after(() => {
    for (const pid of pids) process.kill(pid, 'SIGKILL')
  })

  const root = String(shell.pid)
  const without = await cli(['start', root])
  assert.equal(without.code, 1)
  assert.match(
    without.stderr,
    new RegExp(`^cpu-prof: pid ${root} is no Node process, but runs .*sh\n$`),
  )
  const started = await cli(['start', root, '--tree'])
  assert.equal(started.code, 0, started.stderr)
  const stopped = await cli(['stop', root, '--tree'])
  assert.equal(stopped.stdout.trim().split('\n').length, 2)

  const ambiguous = await cli(['status', 'controlled'])
  assert.equal(ambiguous.code, 1)
  for (const pid of pids)
    assert.match(ambiguous.stderr, new RegExp(`several processes.*: .*${pid} \\(`))
})

test('what cannot be controlled is told, and the others are started', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  const { pid } = await startArmed(t, folder)
  const plain = await startProgram(t, [PROGRAM])
  const words = ['start', 'nothing', String(2 ** 22 + 1), String(pid), String(plain.pid)]
  const { code, stdout, stderr } = await cli(words)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, pattern`${messages.noneArmedHas('nothing')}`)
  assert.match(stderr, pattern`${messages.noSuchProcess(2 ** 22 + 1)}`)
  assert.match(
    stderr,
    new RegExp(`pid ${plain.pid} \\(node .*\\) is not armed; to arm it, cpu-prof would`),
  )
  assert.match(stderr, new RegExp(`recording pid ${pid} `))
  const stop = await cli(['stop', String(plain.pid)])
  assert.match(stop.stderr, /is not armed; to arm a program, start it with CPU_PROF_START=off/)
  assert.deepEqual([plain.child.exitCode, plain.child.signalCode, plain.stderr], [null, null, ''])
})

test('wrong settings and missing words are wrong usage', async (t) => {
  const folder = socketFolder()
  const cli = cliOf(folder)
  await startArmed(t, folder)
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['start', '--all', '--interval', '0'], /interval=0/],
    [['record', '--all', '--interval', 'x'], /interval=x/],
    [['start'], /name processes by pid or text, or use --all/],
    [['stop', '--tree'], /name processes/],
    [['start', '--all', '--for', '10'], pattern`${messages.useLength}`],
    [['start', '--all', '--start', 'on'], /unknown option/],
  ])) {
    const { code, stderr } = await cli(args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, message)
  }
  const [{ recording }] = JSON.parse((await cli(['ps', '--json'])).stdout)
  assert.equal(recording, null)
})

test('without an armed process the commands say how to arm one', async () => {
  const cli = cliOf(socketFolder())
  for (const [args, expected] of /** @type {[string[], number][]} */ ([
    [['ps'], 0],
    [['start', '--all'], 1],
    [['stop', '--all'], 1],
  ])) {
    const { code, stdout, stderr } = await cli(args)
    assert.deepEqual([code, stdout], [expected, ''])
    assert.match(stderr, /^cpu-prof: no process is armed; .*CPU_PROF_START=off/)
  }
  assert.equal((await cli(['ps', '--json'])).stdout, '[]\n')
})

const isRoot = process.geteuid?.() === 0

test('a process of another user', { skip: !isRoot && 'only root can start one' }, async (t) => {
  const child = spawn('sleep', ['100'], { uid: 65534, gid: 65534 })
  t.after(() => child.kill('SIGKILL'))
  const { code, stderr } = await cliOf(socketFolder())(['start', String(child.pid)])
  assert.equal(code, 1)
  assert.match(
    stderr,
    pattern`${messages.ofAnotherUser} \(uid 65534\) and is not armed: ${messages.asThatUser} \(sudo -u '#65534'`,
  )
})
