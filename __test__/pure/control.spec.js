'use strict'

// The control sockets of armed processes: which are found, what their answers may be, and what words mean.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const test = require('node:test')
const { choose } = require('../../cli/control/choose.js')
const { askStatus } = require('../../cli/control/client.js')
const { listArmed } = require('../../cli/control/processes.js')
const { explain } = require('../../cli/control/refusal.js')
const { isBelow } = require('../../cli/control/tree.js')
const { listSockets } = require('../../cli/system/posix-sockets.js')
const { PID, serve, serveStatus, socketFolder, statusOf } = require('../helpers/armed.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

/** Where only the sockets of a folder are found. @param {string} folder */
const only = (folder) => ({ CPU_PROF_SOCKET: folder })

test('a process is found by its socket, with the package of its script', async (t) => {
  const [folder, program] = [socketFolder(), temporaryDirectory()]
  fs.writeFileSync(path.join(program, 'package.json'), '{"name":"@acme/api"}')
  fs.mkdirSync(path.join(program, 'src'))
  const script = path.join(program, 'src', 'server.js')
  await serveStatus(t, folder, { pid: 4711, script, conditions: ['stall>500ms'] })
  const [{ pid, packageName, status }, ...others] = await listArmed(only(folder))
  assert.deepEqual([pid, packageName, others], [4711, '@acme/api', []])
  assert.deepEqual(status?.conditions, ['stall>500ms'])
})

test('a pipe and a folder in the place of package.json are no package', async (t) => {
  const [folder, program] = [socketFolder(), temporaryDirectory()]
  const script = path.join(program, 'a', 'b', 'server.js')
  fs.mkdirSync(path.join(program, 'a', 'b', 'package.json'), { recursive: true })
  fs.writeFileSync(path.join(program, 'a', 'package.json'), '{"name":')
  fs.writeFileSync(path.join(program, 'package.json'), '{"name":"outer"}')
  await serveStatus(t, folder, { script })
  const [{ packageName }] = await listArmed(only(folder))
  assert.equal(packageName, 'outer')
})

test('sockets are taken only from folders that nobody else can fill', async (t) => {
  for (const mode of [0o755, 0o777, 0o710]) {
    const folder = socketFolder(mode)
    await serveStatus(t, folder)
    assert.deepEqual(listSockets(only(folder)), [], mode.toString(8))
  }
  const folder = socketFolder()
  await serveStatus(t, folder)
  const link = path.join(temporaryDirectory(), 'link')
  fs.symlinkSync(folder, link)
  assert.deepEqual(listSockets(only(link)), [])
  fs.writeFileSync(path.join(folder, '12-1.sock'), '')
  fs.symlinkSync('/dev/null', path.join(folder, '13-1.sock'))
  for (const name of ['0-1.sock', 'x-1.sock', '1.sock', '99999999999-1.sock']) {
    const server = net.createServer()
    await new Promise((resolve) => server.listen(path.join(folder, name), () => resolve(undefined)))
    t.after(() => server.close())
  }
  assert.deepEqual(
    listSockets(only(folder)).map(({ pid }) => pid),
    [PID],
  )
})

test('all processes of a large machine are listed', async (t) => {
  const folder = socketFolder()
  // No process has such an id, so none is that of this one, which is not listed.
  const pids = Array.from({ length: 1200 }, (_, i) => 5_000_000 + i)
  await Promise.all(pids.map((pid) => serveStatus(t, folder, { pid })))
  const armed = await listArmed(only(folder))
  assert.deepEqual(
    armed.map(({ status }) => status?.pid),
    pids,
  )
})

test('this process does not list itself', async (t) => {
  const folder = socketFolder()
  await serveStatus(t, folder, { pid: process.pid })
  assert.equal(listSockets(only(folder)).length, 1)
  assert.deepEqual(await listArmed(only(folder)), [])
})

test('the folders of the system are searched without CPU_PROF_SOCKET', async (t) => {
  const runtime = temporaryDirectory('s-')
  fs.mkdirSync(path.join(runtime, 'cpu-prof'), { mode: 0o700 })
  await serveStatus(t, path.join(runtime, 'cpu-prof'), { pid: 987654 })
  for (const CPU_PROF_SOCKET of [undefined, 'off', 'relative']) {
    const found = listSockets({ XDG_RUNTIME_DIR: runtime, CPU_PROF_SOCKET })
    assert.ok(
      found.some(({ pid }) => pid === 987654),
      CPU_PROF_SOCKET,
    )
  }
})

/** Leaves the socket of a process that was killed. @param {string} file */
async function leaveSocket(file) {
  const server = net.createServer()
  await new Promise((resolve) => server.listen(file, () => resolve(undefined)))
  fs.linkSync(file, `${file}.kept`)
  await new Promise((resolve) => server.close(resolve))
  fs.renameSync(`${file}.kept`, file)
}

test('the socket of a process that has ended is removed, unless it is new', async () => {
  const folder = socketFolder()
  const [old, young] = ['71-1.sock', '72-1.sock'].map((name) => path.join(folder, name))
  await leaveSocket(old)
  await leaveSocket(young)
  const long = Date.now() / 1000 - 60
  fs.utimesSync(old, long, long)
  assert.deepEqual(await listArmed(only(folder)), [])
  assert.deepEqual([old, young].map(fs.existsSync), [false, true])
})

for (const [what, answer, problem] of /** @type {[string, unknown, RegExp][]} */ ([
  ['is no JSON', 'hello\n', /not JSON/],
  ['has another version', { v: 2, status: statusOf() }, /not one of this version/],
  ['has no status', { v: 1 }, /no status/],
  ['has a list for a status', { v: 1, status: [] }, /no status/],
  ['has a wrong pid', { v: 1, status: statusOf({ pid: '1' }) }, /no status/],
  ['is null', 'null\n', /not one of this version/],
  ['never ends', 'x'.repeat(5 << 20), /too long/],
])) {
  test(`an answer that ${what} is told`, async (t) => {
    const folder = socketFolder()
    await serve(t, folder, () => answer)
    const [{ pid, status, problem: told }] = await listArmed(only(folder))
    assert.deepEqual([pid, status], [PID, undefined])
    assert.match(String(told), problem)
  })
}

test('a process that gives no answer holds nobody up', async (t) => {
  const folder = socketFolder()
  await serve(t, folder, () => undefined, 5)
  await serve(t, folder, () => '{"v":1,', 6)
  await serveStatus(t, folder, { pid: 7 })
  const found = await listArmed(only(folder))
  assert.deepEqual(
    found.map(({ pid, status }) => [pid, status?.pid]),
    [
      [5, undefined],
      [6, undefined],
      [7, 7],
    ],
  )
  assert.match(String(found[0].problem), /no answer in 2 s/)
})

test('fields of wrong types are left out of a status', async (t) => {
  const folder = socketFolder()
  const hostile = { label: 5, argv: 'x', dir: null, threads: '9', conditions: [1, 'cpu>90%/10s'] }
  const recording = { sinceMs: {}, by: [], forMs: null, files: ['/a', 2, null] }
  await serveStatus(t, folder, { ...hostile, recording, last: 'x' })
  const [{ status }] = await listArmed(only(folder))
  const { label, argv, dir, threads, conditions, last } = /** @type {any} */ (status)
  assert.deepEqual(
    [label, argv, dir, threads, conditions, last],
    ['', [], '', 0, ['cpu>90%/10s'], { files: [], reason: undefined, endedMs: 0 }],
  )
  assert.deepEqual(status?.recording, {
    sinceMs: 0,
    by: undefined,
    reason: undefined,
    forMs: undefined,
    threads: 0,
    files: ['/a'],
  })
})

test('a refusal has the code and the message of the process', async (t) => {
  const folder = socketFolder()
  const message = 'recording since 10:00:00 by cpu-prof record (pid 71)'
  const file = await serve(t, folder, () => ({ v: 1, error: { code: 'busy', message } }))
  await assert.rejects(askStatus({ file }), { code: 'busy', message })
  await assert.rejects(askStatus({ file: `${file}.none` }), { code: 'gone' })
})

/** @param {number} pid @param {string} label @param {string} packageName @returns {any} */
const armed = (pid, label, packageName) => ({
  pid,
  packageName,
  socket: { file: '', folder: '', pid },
  status: statusOf({ pid, label, script: `/srv/${label}` }),
})

// 1 npm > 2 sh > 3 api > 4 worker; 6 Node that is not armed, below 2; 5 other > 8 sh > 9 this command.
const WORLD = {
  self: 9,
  armed: [
    armed(3, 'api.js', '@acme/api'),
    armed(4, 'worker.js', '@acme/api'),
    armed(5, 'other.js', 'o'),
  ],
  parents: new Map([
    [2, 1],
    [3, 2],
    [4, 3],
    [6, 2],
    [9, 8],
    [8, 5],
  ]),
  explain: (/** @type {number} */ pid) =>
    pid === 6 ? { text: 'pid 6 is not armed', pid } : { text: `no ${pid}` },
}

for (const [
  words,
  options,
  chosen,
  refused,
  left,
] of /** @type {[string[], any, number[], RegExp[], string[]][]} */ ([
  [['3'], {}, [3], [], []],
  [['3', '5', '3'], {}, [3, 5], [], []],
  // Not what runs this command.
  [[], { all: true }, [3, 4], [], []],
  [['worker'], {}, [4], [], []],
  [['OTHER'], {}, [5], [], []],
  [['/srv/api'], {}, [3], [], []],
  [['acme'], {}, [], [/or take all with --tree: 3 \(api\.js\), 4 \(worker\.js\)$/], []],
  [['.js'], {}, [], [/several processes, name one by its pid: 3 .*, 4 .*, 5 \(other\.js\)$/], []],
  // The second is below the first.
  [['acme'], { tree: true }, [3, 4], [], []],
  [['.js'], { tree: true }, [], [/several processes.*: 3 \(api\.js\), 5 \(other\.js\)$/], []],
  [['none'], {}, [], [pattern`^${messages.noneArmedHas('none')}`], []],
  [['1', '6'], {}, [], [/^no 1$/, /^pid 6 is not armed$/], []],
  [['1'], { tree: true }, [3, 4], [], ['pid 6 is not armed']],
  [['5'], { tree: true }, [5], [], []],
  [['6'], { tree: true }, [], [/^pid 6 is not armed$/], []],
  [['4', '77'], { tree: true }, [4], [/^no 77$/], []],
])) {
  test(`the processes of ${JSON.stringify(words)} with ${JSON.stringify(options)}`, () => {
    const choice = choose(words, options, WORLD)
    assert.deepEqual(
      choice.chosen.map(({ pid }) => pid),
      chosen,
    )
    assert.equal(choice.refused.length, refused.length)
    for (const [index, { text }] of choice.refused.entries()) assert.match(text, refused[index])
    assert.deepEqual(
      choice.left.map(({ text }) => text),
      left,
    )
  })
}

test('a text that no process has may be that of one that does not answer', () => {
  const silent = { ...armed(7, '', ''), status: undefined }
  const { refused } = choose(['none'], {}, { ...WORLD, armed: [...WORLD.armed, silent] })
  assert.match(refused[0].text, pattern`^${messages.noneArmedHas('none')} .* \(no answer from 7\);`)
})

test('armed processes below the chosen ones are told apart', () => {
  const below = (/** @type {string[]} */ words, tree = false) =>
    choose(words, { tree }, WORLD).below.map(({ pid }) => pid)
  assert.deepEqual([below(['3']), below(['3', '4']), below(['3'], true)], [[4], [], []])
})

test('a circle of parents is no tree', () => {
  const parents = new Map([
    [2, 3],
    [3, 2],
  ])
  assert.deepEqual([isBelow(2, 3, parents), isBelow(2, 9, parents)], [true, false])
})

test('a process that cannot be controlled is explained', () => {
  assert.match(explain(2 ** 22 + 1).text, pattern`^${messages.noSuchProcess(2 ** 22 + 1)}`)
  const self = explain(process.pid)
  assert.match(self.text, /^pid \d+ \(.*node.*\) is not armed$/)
  assert.equal(self.pid, process.pid)
})
