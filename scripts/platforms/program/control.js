'use strict'

// Controls an armed program by the command line: `node control.js <preload> <cpu-prof.js> <dir> [node]`.
// Prints what each command said, as JSON. On the machine itself, since only there is the socket.

const { execFile, fork } = require('node:child_process')
const net = require('node:net')
const path = require('node:path')

const [, , preload, cli, dir, node = process.execPath] = process.argv

/** How many peers ask at once. */
const CROWD = 20

/** Runs a command of the command line. @param {...string} args */
function command(...args) {
  return new Promise((resolve) => {
    execFile(node, [cli, ...args], (error, stdout, stderr) => {
      resolve({ status: error?.code ?? 0, stdout, stderr })
    })
  })
}

/** Sends a line, and returns all that comes back until the other side closes. @param {string} socket @param {string} line */
function ask(socket, line) {
  return new Promise((resolve, reject) => {
    let reply = ''
    const connection = net.connect(socket, () => connection.write(line))
    connection.on('data', (data) => {
      reply += data
    })
    connection.on('error', reject)
    connection.on('close', () => resolve(reply))
  })
}

/** Returns what peers get while others are silent, slow or gone. @param {number} pid */
async function meetPeers(pid) {
  const { listSockets } = require(path.join(path.dirname(cli), '..', 'cli', 'system', 'index.js'))
  const [{ file }] = listSockets(process.env).filter((/** @type {any} */ each) => each.pid === pid)
  const status = '{"v":1,"do":"status"}\n'
  const bad = ['', '{"v":1,"do":"sta', status].map((text) => {
    const peer = net.connect(file, () => peer.pause().write(text))
    return peer.on('error', () => {})
  })
  const gone = net.connect(file, () => gone.destroy())
  const replies = await Promise.all([
    ask(file, 'garbage\n'),
    ...Array.from({ length: CROWD }, () => ask(file, status)),
  ])
  for (const peer of bad) peer.destroy()
  return replies
}

async function main() {
  const env = {
    ...process.env,
    NODE_OPTIONS: `--require "${preload}"`,
    CPU_PROF_START: 'off',
  }
  const child = fork(path.join(__dirname, 'main.js'), ['controlled'], { env, execPath: node })
  await new Promise((resolve) => child.once('message', resolve))
  const pid = String(child.pid)
  const said = {
    pid,
    ps: await command('ps', '--json'),
    start: await command('start', pid, '--dir', dir),
    again: await Promise.all([command('start', pid), command('status', pid)]),
    replies: await meetPeers(Number(pid)),
    stop: await command('stop', pid, '--json'),
    record: await command('record', pid, '--for', '2s', '-o', 'recorded.json'),
  }
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  console.log(JSON.stringify({ ...said, after: await command('ps', '--json') }))
}

main()
