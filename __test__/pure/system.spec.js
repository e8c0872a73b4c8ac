'use strict'

// What the command line knows of each system, with the facts of that system, on any system.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { watch } = require('../../cli/run/watch/watch.js')
const { missingText } = require('../../cli/run/after/missing.js')
const { loadTools } = require('../../lib/addon.js')
const { commandFileWords } = require('../../cli/system/command-file.js')
const { IS_WINDOWS } = require('../../cli/system/index.js')
const posix = require('../../cli/system/posix.js')
const { snapshotOf } = require('../../cli/system/snapshot.js')
const windows = require('../../cli/system/windows.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

const NODE_EXE = 'C:\\Program Files\\nodejs\\node.exe'
const MACOS_NODE = '/opt/homebrew/bin/node'
const RUN = 'cpu-prof-run-abc123'

test('a terminal has sent what its keys send, and the end of the terminal', () => {
  const at = (/** @type {boolean} */ wasThere, /** @type {boolean} */ isForeground) => {
    const reaches = posix.terminalWatcher(wasThere, () => ({ isThere: wasThere, isForeground }))
    return posix.SIGNALS.filter(reaches).join(' ')
  }
  assert.equal(at(true, true), 'SIGINT SIGHUP SIGQUIT')
  assert.equal(at(true, false), 'SIGHUP')
  assert.equal(at(false, false), '')
  // The console of Windows tells all its programs.
  assert.ok(windows.SIGNALS.every(windows.watchTerminal()))
})

test('Windows: paths, devices, and the code of Ctrl-C', () => {
  const { isPath, isDevice, isInterruption, isSamePath } = windows
  assert.ok(['.\\a', 'a/b', 'C:\\a', 'c:a', '\\\\server\\a'].every(isPath))
  assert.ok(!['a', 'a.exe', 'npx'].some(isPath))
  assert.ok(
    ['NUL', 'con', 'C:\\x\\nul.json', 'COM1', 'lpt¹.gz', 'CON ', '\\\\.\\pipe\\x'].every(isDevice),
  )
  assert.ok(!['null', 'a\\con\\b', 'com', 'com10', 'contrace.json', 'C:\\x.con'].some(isDevice))
  assert.deepEqual([3221225786, 3221225477, 1, null].map(isInterruption), [
    true,
    false,
    false,
    false,
  ])
  assert.ok(isSamePath('c:\\Repo', 'C:\\repo') && !isSamePath('C:\\a', 'C:\\b'))
})

test('Windows: an argument of a command file is never a command', () => {
  const line = (/** @type {string[]} */ ...args) => commandFileWords('C:\\a b\\x.cmd', args).at(-1)
  const quoted = (/** @type {string} */ arg) => line(arg)?.slice('""C:\\a b\\x.cmd" '.length, -1)
  assert.equal(line(), '""C:\\a b\\x.cmd""')
  assert.deepEqual(['', 'a b', '&|<>^!()', 'C:\\', '\\\\x'].map(quoted), [
    '""',
    '"a b"',
    '"&|<>^!()"',
    '"C:\\\\"',
    '"\\\\x"',
  ])
  assert.equal(quoted('a"&calc'), '"a""&calc"')
  assert.equal(quoted('a\\"b'), '"a\\\\""b"')
  assert.equal(quoted('%PATH%'), '"%%cd:~,%PATH%%cd:~,%"')
  // Outside of quotes there are only spaces.
  const hostile = line('"&a', '^"&b', 'c\\"&"', '"') ?? ''
  assert.equal(
    hostile
      .slice(1, -1)
      .replace(/"[^"]*"/g, '')
      .trim(),
    '',
  )
  for (const end of ['\n', '\r', '\0']) assert.throws(() => line(`a${end}b`), /line break/)
})

test('Windows: a command for the shell is passed on as it is', () => {
  const [shell, ...words] = windows.shellWords('node -e "1 & 2" & echo %x%')
  assert.match(shell, /cmd\.exe$/i)
  assert.deepEqual(words, ['/d', '/s', '/c', '"node -e "1 & 2" & echo %x%"'])
  assert.deepEqual(posix.shellWords('a | b'), ['sh', '-c', 'a | b'])
})

test('Windows: a file that another program has open is tried again for a while', () => {
  const failing = (/** @type {string} */ code, /** @type {number} */ times) => () => {
    if (times-- > 0) throw Object.assign(new Error(code), { code })
    return 'done'
  }
  assert.equal(windows.patiently(failing('EBUSY', 3)), 'done')
  assert.equal(windows.patiently(failing('EPERM', 1)), 'done')
  assert.throws(() => windows.patiently(failing('ENOENT', 1)), /ENOENT/)
  const start = performance.now()
  for (let file = 0; file < 50; file++) {
    assert.throws(() => windows.patiently(failing('EACCES', Number.POSITIVE_INFINITY)), /EACCES/)
  }
  const ms = performance.now() - start
  assert.ok(ms > 1000 && ms < 10_000, `waited for ${ms} ms in all`)
})

test('Windows: .cmd files are run by cmd.exe, and a missing program is an error before', () => {
  const folder = temporaryDirectory()
  fs.writeFileSync(path.join(folder, 'npx.CMD'), '')
  const code = `
    Object.defineProperty(process, 'platform', { value: 'win32' })
    const childProcess = require('node:child_process')
    childProcess.spawn = (...args) => args
    const { spawn } = require(${JSON.stringify(path.join(PACKAGE, 'cli/system/windows.js'))})
    const [file, words, options] = spawn('npx', ['a b', 'c&d'], { stdio: 'inherit' })
    console.log(JSON.stringify({ file, words, options }))
    try { spawn('nothing', [], {}) } catch ({ code, message }) { console.log(code, message) }`
  const env = { ...cleanEnv(), PATH: folder, PATHEXT: '.EXE;.CMD', comspec: 'cmd.exe' }
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { env, encoding: 'utf8' })
  assert.equal(stderr, '')
  const [started, failed] = stdout.split('\n')
  assert.deepEqual(JSON.parse(started), {
    file: 'cmd.exe',
    words: commandFileWords(path.join(folder, 'npx.CMD'), ['a b', 'c&d']),
    options: { stdio: 'inherit', windowsVerbatimArguments: true },
  })
  assert.equal(failed, 'ENOENT spawn nothing ENOENT')
})

test('a process is no child of a younger one that has its parent’s id', () => {
  const { pids, pidsBefore, readStat } = snapshotOf(
    [
      { pid: 4, parent: 0, startMs: 0 },
      { pid: 100, parent: 4, startMs: 5000 },
      { pid: 12, parent: 100, startMs: 6000 },
      // Its parent had the id 100 before, or is gone.
      { pid: 60, parent: 100, startMs: 3000 },
      { pid: 70, parent: 50, startMs: 6000 },
      // Windows tells nothing about this one.
      { pid: 80, parent: 4 },
    ],
    /node/,
  )
  assert.deepEqual(pids, [4, 100, 12, 60, 70, 80])
  assert.deepEqual(pidsBefore(100), [4, 60])
  assert.deepEqual(
    [12, 60, 70].map((pid) => readStat(pid)?.parent),
    [100, 0, 50],
  )
  assert.deepEqual([readStat(80), readStat(999)], [undefined, undefined])
  assert.deepEqual(readStat(12), { parent: 100, group: 0, session: 0, startMs: 6000 })
})

/**
 * Watches a run whose command has the pid 100, once. Returns what is said about missing processes.
 * @param {import('../../cli/system/snapshot.js').Listed[]} listed @param {RegExp} isNode
 * @param {import('../../cli/run/prepare/recordings-dir.js').Header[]} recordings
 */
async function missingOf(listed, isNode, recordings) {
  const self = { pid: process.pid, parent: 1, startMs: 4000 }
  let isOver = false
  // The watcher's timer keeps no process alive.
  const alive = setInterval(() => {}, 1000)
  const looked = new Promise((resolve) => {
    const endWatch = watch(100, RUN, () => {
      resolve(() => {
        isOver = true
        return endWatch()
      })
      return snapshotOf(isOver ? [self] : [self, ...listed], isNode)
    })
  })
  const end = /** @type {() => import('../../cli/run/watch/watch.js').Seen[]} */ (await looked)
  clearInterval(alive)
  return missingText(end(), recordings, '')
}

/** @param {number} pid @param {number} startMs */
function recording(pid, startMs) {
  const file = 'x.trace.json'
  return { file, pid, startMs, run: RUN, recording: null, isGrowing: false }
}

test('Windows: a Node without a recording is named, without a cause that nobody knows', async () => {
  const listed = [
    { pid: 100, parent: process.pid, startMs: 5000, executable: 'C:\\Windows\\System32\\cmd.exe' },
    { pid: 24, parent: 100, startMs: 5100, executable: NODE_EXE },
    { pid: 28, parent: 24, startMs: 5200, executable: 'node.exe' },
    { pid: 32, parent: 24, startMs: 5200, executable: 'C:\\x\\notnode.exe' },
    // Not below the command.
    { pid: 36, parent: 4, startMs: 5200, executable: NODE_EXE },
    { pid: 40, parent: 100, startMs: 900, executable: NODE_EXE },
  ]
  const isNode = /(^|[\\/])node\.exe$/i
  const text = await missingOf(listed, isNode, [recording(24, 5100)])
  assert.match(
    text,
    pattern`^${messages.notRecorded(1, 2)}\n {2}node\.exe \(pid 28, .*\): ${messages.noCause}: .*\n$`,
  )
  const all = [recording(24, 5100), recording(28, 5200)]
  assert.equal(await missingOf(listed, isNode, all), '')
})

test('macOS: a Node that got no NODE_OPTIONS is named with its script', async () => {
  const nodeOptions = `--require /var/folders/T/${RUN}/../../../../p/index.js`
  const node = { executable: MACOS_NODE, group: 100, session: 1 }
  const listed = [
    { ...node, pid: 100, parent: 1, startMs: 5000, words: ['node', 'main.js'], nodeOptions },
    { ...node, pid: 101, parent: 100, startMs: 5100, words: ['node', 'a.js'], nodeOptions: null },
    { ...node, pid: 102, parent: 100, startMs: 5100, words: ['node', '-v'], nodeOptions: null },
    // An orphan stays in the group of the command.
    { ...node, pid: 103, parent: 1, startMs: 5300, words: ['node', 'b.js'], nodeOptions },
  ]
  const text = await missingOf(listed, /\/node(js)?$/, [recording(100, 5000), recording(103, 5300)])
  assert.match(
    text,
    pattern`^${messages.notRecorded(1, 3)}\n {2}node a\.js \(pid 101, .*, under main\): ${messages.noNodeOptions}\n$`,
  )
})

test('the addon lists processes where the system has no files that tell', () => {
  const listed = JSON.parse(loadTools().cpuProfProcesses())
  if (process.platform === 'linux') return assert.equal(listed, null)
  const self = listed.find((/** @type {any} */ one) => one.pid === process.pid)
  assert.equal(self.parent, process.ppid)
  assert.match(self.executable, /node/)
  assert.ok(self.startMs > 0)
})

test('the addon and the command line agree on whose a new folder is', () => {
  const { cpuProfMakePrivate } = loadTools()
  const folder = temporaryDirectory()
  const link = path.join(temporaryDirectory(), 'link')
  fs.symlinkSync(folder, link, 'junction')
  assert.equal(cpuProfMakePrivate(folder), true)
  assert.equal(cpuProfMakePrivate(link), false)
  assert.equal(cpuProfMakePrivate(path.join(folder, 'missing')), false)
  // Windows has no modes.
  for (const mode of IS_WINDOWS ? [] : [0o700, 0o755, 0o770, 0o707]) {
    fs.chmodSync(folder, mode)
    assert.equal(cpuProfMakePrivate(folder), posix.isPrivate(folder), mode.toString(8))
  }
})
