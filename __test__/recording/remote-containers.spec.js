'use strict'

// Programs in containers, recorded as by `kubectl exec` and from an ephemeral container beside them.

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const test = require('node:test')
const { quoteAll } = require('../../cli/terminal/shell.js')
const { cli, textFrom } = require('../helpers/cli.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

const CLI = path.join(PACKAGE, 'bin', 'cpu-prof.js')
/** A user without rights, as most images have. */
const USER = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups']
const OWN_FILES = ['unshare', '--mount', '--propagation', 'private']
const OWN_PIDS = [...OWN_FILES, '--pid', '--fork', '--mount-proc']
/** Makes a root that cannot be written, and a folder of shared memory, as a container has one. */
const READ_ONLY = `
  for mounted in / /tmp; do
    if mountpoint -q $mounted; then mount -o remount,ro,bind $mounted || exit 99; fi
  done
  mount -t tmpfs tmpfs /dev/shm && chmod 1777 /dev/shm || exit 99
  cd /
  exec "$@"`
/** Makes a folder for temporary files that no other container has. */
const OWN_TMP = `
  cd / && export PACKAGE=${quoteAll([PACKAGE])} || exit 99
  case "$PACKAGE" in
    # A checkout among the temporary files stays where it is.
    /tmp/*)
      mount --bind "$PACKAGE" /mnt && mount -t tmpfs tmpfs /tmp && mkdir -p "$PACKAGE" &&
        mount --bind /mnt "$PACKAGE" || exit 99 ;;
    *) mount -t tmpfs tmpfs /tmp || exit 99 ;;
  esac
  exec "$@"`

const PROGRAM = `
  function spin(until) { while (performance.now() < until); }
  setInterval(() => spin(performance.now() + 20), 30)
  setImmediate(() => console.log('ready'))`

const skip = whyNot()

/** Returns why there are no containers here; false if there are. */
function whyNot() {
  const works = (/** @type {string[]} */ [command, ...args]) =>
    spawnSync(command, args, { stdio: 'ignore' }).status === 0
  if (process.platform !== 'linux') return 'only Linux has namespaces'
  if (!works([...OWN_PIDS, 'sh', '-c', READ_ONLY, 'sh', 'true'])) return 'this user cannot mount'
  const load = [process.execPath, '-e', 'require(process.argv[1])', PACKAGE]
  return !works([...USER, ...load]) && 'another user cannot read this checkout'
}

/**
 * Runs an armed program in a container, and kills it at the end. Returns its pid outside.
 * @param {import('node:test').TestContext} t @param {string[]} namespaces @param {string} mounts a script
 * @param {string[]} [user]
 */
async function startIn(t, namespaces, mounts, user = []) {
  const [command, ...args] = [...namespaces, 'sh', '-c', mounts, 'sh', ...user]
  const program = [process.execPath, '--require', PACKAGE, '-e', PROGRAM]
  const env = { ...cleanEnv(), CPU_PROF_START: 'off', XDG_RUNTIME_DIR: undefined }
  const child = spawn(command, [...args, ...program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let pid = Number(child.pid)
  t.after(() => process.kill(pid, 'SIGKILL'))
  await textFrom(child.stdout, 'ready')
  // With a namespace of pids, the program is the command's child.
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  if (children !== '') pid = Number(children)
  return pid
}

/** Runs `cpu-prof` to its end. @param {string[]} under @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
function cpuProf(under, args, env = {}) {
  const [command, ...all] = [...under, process.execPath, CLI, ...args]
  const options = { encoding: /** @type {const} */ ('utf8'), maxBuffer: 1 << 28 }
  return spawnSync(command, all, {
    ...options,
    cwd: temporaryDirectory(),
    env: { ...cleanEnv(), XDG_RUNTIME_DIR: undefined, ...env },
  })
}

test('pid 1 of a container with a root that cannot be written is recorded from inside', {
  skip,
}, async (t) => {
  const pid = await startIn(t, OWN_PIDS, READ_ONLY, USER)
  const exec = ['nsenter', '--target', String(pid), '--mount', '--pid', '--wd=/', ...USER]
  const ps = cpuProf(exec, ['ps', '--json'])
  assert.equal(ps.status, 0, ps.stderr)
  assert.deepEqual(
    JSON.parse(ps.stdout).map((/** @type {any} */ status) => status.pid),
    [1],
  )
  const { status, stdout, stderr } = cpuProf(exec, ['record', '1', '--for', '1s', '-o', '-'])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /"functionName":"spin"/)
  assert.match(stderr, pattern`${messages.functionsBySelf}`)
  assert.doesNotThrow(() => JSON.parse(stdout))
  assert.deepEqual(
    fs.readdirSync(`/proc/${pid}/root/dev/shm/cpu-prof-1000`).map((name) => path.extname(name)),
    ['.sock'],
  )
})

test('root reaches the processes of other users, and of containers', { skip }, async (t) => {
  const pid = await startIn(t, OWN_PIDS, READ_ONLY, USER)
  const ps = cpuProf([], ['ps', '--json'])
  assert.equal(ps.status, 0, ps.stderr)
  const listed = JSON.parse(ps.stdout).find((/** @type {any} */ one) => one.pid === pid)
  assert.deepEqual([listed.user, listed.recording], [1000, null])
  assert.match(
    cpuProf([], ['ps']).stdout,
    new RegExp(`^ *pid +user +.*\\n(.*\\n)*? *${pid} +1000 `),
  )
  const folder = `/proc/${pid}/root/dev/shm/cpu-prof-1000`
  const namesIn = () => fs.readdirSync(folder).map((name) => path.extname(name))

  const { status, stdout, stderr } = cpuProf([], ['record', String(pid), '--for', '1s', '-o', '-'])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /"functionName":"spin"/)
  assert.deepEqual(namesIn(), ['.sock'])
  // From inside, by its own id.
  const exec = ['nsenter', '--target', String(pid), '--mount', '--pid', '--wd=/']
  const inside = cpuProf(exec, ['record', '1', '--for', '1s', '-o', '-'])
  assert.equal(inside.status, 0, inside.stderr)
  assert.match(inside.stdout, /"functionName":"spin"/)
  assert.deepEqual(namesIn(), ['.sock'])
  // Another user reaches nothing.
  const other = cpuProf(['setpriv', '--reuid=1001', '--clear-groups'], ['stop', String(pid)])
  assert.equal(other.status, 1)
  assert.match(
    other.stderr,
    pattern`${messages.ofAnotherUser} \(uid 1000\): ${messages.asThatUser}`,
  )
})

test('root asks only sockets that the user of their folder serves', { skip }, async (t) => {
  const folder = temporaryDirectory('s-')
  const [mine, served] = [path.join(folder, '1-1.sock'), path.join(folder, '2-2.sock')]
  /** @type {string[]} */
  const asked = []
  const server = net.createServer((connection) =>
    connection.on('data', (data) => asked.push(String(data))),
  )
  await new Promise((resolve) => server.listen(mine, () => resolve(undefined)))
  t.after(() => server.close())
  const code = `require('net').createServer((c) => c.end('{"v":1,"status":{"pid":2}}\\n')).listen(process.argv[1], () => console.log('ready'))`
  fs.chmodSync(folder, 0o700)
  for (const file of [folder, mine]) fs.chownSync(file, 1000, 1000)
  const [command, ...args] = [...USER, process.execPath, '-e', code, served]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await textFrom(child.stdout, 'ready')
  const env = { CPU_PROF_SOCKET: folder }
  const { stdout } = await cli(['ps', '--json'], { env })
  assert.deepEqual(
    JSON.parse(stdout).map((/** @type {any} */ { pid, problem }) => [pid, problem]),
    [
      [1, 'its socket leads to a process of another user'],
      [2, undefined],
    ],
  )
  assert.deepEqual(asked, [])
})

test('a container beside the program reaches its files by /proc', { skip }, async (t) => {
  const pid = await startIn(t, OWN_FILES, OWN_TMP)
  const uid = process.geteuid?.()
  const env = { CPU_PROF_SOCKET: `/proc/${pid}/root/tmp/cpu-prof-${uid}` }
  const { status, stdout, stderr } = cpuProf(
    [],
    ['record', String(pid), '--for', '1s', '-o', '-'],
    env,
  )
  assert.equal(status, 0, stderr)
  assert.match(stdout, /"functionName":"spin"/)
  assert.deepEqual(
    fs.readdirSync(env.CPU_PROF_SOCKET).map((name) => path.extname(name)),
    ['.sock'],
  )
})
