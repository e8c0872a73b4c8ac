'use strict'

// The Node processes that `cpu-prof run` names because they left no recording. The fixture
// `watched.js` lives until `run` has looked at its processes.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../..')
const { cli, BIN } = require('../helpers/cli.js')
const { temporaryDirectory, tracesIn, FIXTURES } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

const NODE = process.execPath
const WATCHED = path.join(FIXTURES, 'watched.js')
/** Starts `node watched.js` without NODE_OPTIONS. */
const DROPPED = `env -i PATH="$PATH" "${NODE}" "${WATCHED}"`

/** Whether this user may create namespaces. */
const canUnshare =
  spawnSync('unshare', ['-m', '-p', '-f', 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0
const needsNamespaces = { skip: canUnshare ? false : 'needs a user who may create namespaces' }

/** Writes a program that starts children. @param {string} code with the function `start(env, ...args)` */
function parent(code) {
  const file = path.join(temporaryDirectory(), 'parent.js')
  fs.writeFileSync(
    file,
    `const { spawn } = require('node:child_process')
     const start = (env, ...args) =>
       spawn(process.execPath, [${JSON.stringify(WATCHED)}, ...args], { env, stdio: 'inherit' })
     ${code}`,
  )
  return file
}

/** Returns the block's lines. @param {string} stderr */
const block = (stderr) => /^not recorded: .*\n(?: {2}.*\n)*/m.exec(stderr)?.[0].split('\n') ?? []

test('a child with an environment of its own is named, its recorded siblings are not', async () => {
  const file = parent(`
    start({}, '0', 'alone')
    start(process.env, '0', 'recorded')
    start({ ...process.env, NODE_OPTIONS: '--no-warnings' }, '0', 'replaced')
    process.exitCode = 5`)
  const { code, stdout, stderr } = await cli(['run', NODE, file])
  assert.equal(code, 5)
  assert.equal(stdout, '')
  const [header, ...lines] = block(stderr)
  assert.equal(header, messages.notRecorded(2, 4))
  const [alone, replaced] = lines.sort()
  assert.match(
    lines.join('\n'),
    new RegExp(
      pattern`^ {2}node \S+/__test__/fixtures/watched\.js 0 alone \(pid \d+, [\d.]+ m?s, under parent\): ${messages.noNodeOptions}$`,
      'm',
    ),
  )
  assert.match(
    lines.join('\n'),
    new RegExp(
      pattern`watched\.js 0 replaced \(pid \d+, [\d.]+ m?s, under parent\): ${messages.otherNodeOptions}; add to the variable instead of replacing it$`,
      'm',
    ),
  )
  assert.ok(alone !== replaced)
  assert.doesNotMatch(lines.join('\n'), /watched\.js 0 recorded/)
  assert.match(stderr, /\n\nnot recorded: .*\n {2}.*\n {2}.*\ntrace: /)
})

test('a script that drops NODE_OPTIONS: without any recording, the process is named', async () => {
  const { code, stdout, stderr } = await cli(['run', 'sh', '-c', `${DROPPED} 3`])
  assert.equal(code, 3)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    pattern`^cpu-prof: ${messages.noneRecorded}\n${messages.notRecorded(1, 1)}\n {2}node \S+watched\.js 3 \(pid \d+, [\d.]+ m?s\): ${messages.noNodeOptions}\n$`,
  )
})

test('--no-merge names the process too, --quiet does not', async () => {
  const script = `"${NODE}" -e 0; ${DROPPED}`
  const kept = await cli(['run', '--no-merge', 'sh', '-c', script])
  assert.match(
    kept.stderr,
    pattern`^cpu-prof: 1 recording in .*\n${messages.notRecorded(1, 2)}\n {2}node .*\n$`,
  )
  // A quiet run does not look, so the fixture would wait for ever.
  const waiting = `env -i "${NODE}" -e 'setTimeout(() => {}, 500)'`
  const quiet = await cli(['run', '-q', 'sh', '-c', `"${NODE}" -e 0; ${waiting}`])
  assert.equal(quiet.stderr, '')
})

test('nothing is said where all Node processes are recorded', async () => {
  const file = parent(`start(process.env, '0'); start(process.env, '0')`)
  const { stderr } = await cli(['run', '--no-merge', NODE, file])
  assert.match(stderr, /^cpu-prof: 3 recordings in .*\n$/)
})

test('a Node that refuses the addon is named, and its line on stderr says why', async () => {
  const { stderr } = await cli(['run', NODE, '--no-addons', WATCHED])
  assert.match(
    stderr,
    pattern`^${messages.notProfiling}.*addon.*\n.*\n${messages.notRecorded(1, 1)}\n {2}node --no-addons \S+ \(.*\): the preload failed \(a line on stderr says why\), .*\n$`,
  )
})

test('a Node that is killed before its preload is named', async () => {
  const cwd = temporaryDirectory()
  // Node waits for a writer before it runs any JavaScript.
  spawnSync('mkfifo', ['wait'], { cwd })
  const script = `"${NODE}" --openssl-config=wait x.js & "${NODE}" "${WATCHED}"; kill -9 $!; wait`
  const { stderr } = await cli(['run', 'sh', '-c', script], { cwd })
  const [header, line] = block(stderr)
  assert.equal(header, messages.notRecorded(1, 2))
  assert.match(
    line,
    /^ {2}node --openssl-config=wait x\.js \(pid \d+, [\d.]+ m?s\): the preload failed .*, or the process ended before$/,
  )
})

test('a process that outlives the command is named', async () => {
  const code = `
    const child = require('node:child_process').spawn(process.execPath,
      ['-e', 'setInterval(() => {}, 1000)', 'daemon'], { env: {}, detached: true, stdio: 'ignore' })
    child.unref()
    console.log(child.pid)
    process.argv[2] = '0'
    require(${JSON.stringify(WATCHED)})`
  const file = path.join(temporaryDirectory(), 'parent.js')
  fs.writeFileSync(file, code)
  const { stdout, stderr } = await cli(['run', NODE, file])
  process.kill(Number(stdout), 'SIGKILL')
  const [header, line] = block(stderr)
  assert.equal(header, messages.notRecorded(1, 2))
  assert.match(line, new RegExp(`daemon \\(pid ${stdout.trim()}, [\\d.]+ m?s, under parent\\): `))
})

test('what a Node process without a recording has used is known to every later report', async () => {
  const spin = `require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))}).spin(600)`
  const file = parent(`
    start({}, '0')
    spawn(process.execPath, ['-e', ${JSON.stringify(`${spin}; process.argv[2] = '0'; require(${JSON.stringify(WATCHED)})`)}],
      { env: {}, stdio: 'inherit' })`)
  const cwd = temporaryDirectory()
  const { stderr } = await cli(['run', '--dir', 'd', '--keep-recordings', NODE, file], { cwd })
  assert.equal(block(stderr)[0], messages.notRecorded(2, 3))
  for (const input of ['d/trace.json', 'd/*.trace.json']) {
    const files = input.includes('*') ? tracesIn(path.join(cwd, 'd')) : [path.join(cwd, input)]
    const { sentence = '', processes } = await report(files)
    assert.match(
      sentence,
      pattern`of the CPU went to ${messages.unrecordedNodes}, started by parent`,
    )
    assert.equal(processes[0].unrecorded?.processes, 2)
    assert.ok(Number(processes[0].unrecorded?.cpuMs) > 500, JSON.stringify(processes[0]))
    assert.ok(stderr.includes(sentence), stderr)
  }
})

test('a daemon that starts as the command ends is recorded, and named', async () => {
  const code = `
    process.on('exit', () => {
      const child = require('node:child_process').spawn(process.execPath,
        ['-e', 'setInterval(() => {}, 1000)', 'daemon'], { detached: true, stdio: 'ignore' })
      console.log(child.pid)
    })
    process.argv[2] = '0'
    require(${JSON.stringify(WATCHED)})`
  const file = path.join(temporaryDirectory(), 'parent.js')
  fs.writeFileSync(file, code)
  const { stdout, stderr } = await cli(['run', '--dir', 'd', NODE, file])
  process.kill(Number(stdout), 'SIGKILL')
  assert.match(stderr, pattern`${messages.outlives} .*: pid ${stdout.trim()}\n`)
})

test('a run inside a run with a folder of its own answers for its processes itself', async () => {
  const file = parent(`start({}, '0'); start(process.env, '0')`)
  const inner = [NODE, BIN, 'run', '--no-merge', '--dir', 'e', NODE, file]
  const separate = await cli(['run', '--no-merge', '--dir', 'd', ...inner])
  assert.match(
    separate.stderr,
    pattern`^cpu-prof: 2 recordings in e .*\n${messages.notRecorded(1, 3)}\n {2}.*\ncpu-prof: 1 recording in d .*\n$`,
  )
  const nested = [NODE, BIN, 'run', NODE, file]
  const part = await cli(['run', '--no-merge', '--dir', 'd', ...nested])
  assert.match(
    part.stderr,
    pattern`^cpu-prof: 3 recordings in d .*\n${messages.notRecorded(1, 4)}\n {2}.*\n$`,
  )
})

test(
  'a recorded process in a container is found by the id that it knows',
  needsNamespaces,
  async () => {
    // The process lives until `run` has looked at it.
    const code = `setInterval(() => require("node:fs").existsSync("seen") && process.exit(), 20)`
    const script = `unshare -p -f "${NODE}" -e '${code}' & "${NODE}" "${WATCHED}"; touch seen; wait`
    const { stderr } = await cli(['run', '--no-merge', 'sh', '-c', script])
    assert.match(stderr, /^cpu-prof: 2 recordings in .*\n$/)
  },
)

test('nothing is said where /proc cannot be read', needsNamespaces, async () => {
  const script = 'mount -t tmpfs none /proc; exec "$@"'
  const command = ['sh', '-c', `env -i "${NODE}" -e 'setTimeout(() => {}, 500)'; exit 4`]
  const { code, stderr } = await cli(['run', ...command], {
    under: ['unshare', '-m', 'sh', '-c', script, 'sh'],
  })
  assert.equal(code, 4)
  assert.match(stderr, pattern`^cpu-prof: ${messages.noneRecorded}: sh started none, .*\n$`)
})
