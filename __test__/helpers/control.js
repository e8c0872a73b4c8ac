'use strict'

// Armed programs, and a client of their sockets, as small as the protocol allows.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { run, message, temporaryDirectory } = require('./run.js')

/** Why armed processes are not controlled by this client here; false if they are. */
const NEEDS_SOCKET = process.platform === 'win32' && 'a process of Windows has a pipe elsewhere'

/**
 * @typedef {object} ArmedProgram
 * @property {import('node:child_process').ChildProcess} child
 * @property {string} dir its working directory, and that of its recordings
 * @property {string} folder of its socket
 * @property {string} socket
 * @property {(request: object) => Promise<any>} ask
 * @property {(holds: (status: any) => boolean) => Promise<any>} status waits until something holds of the
 *   status, and returns the status
 * @property {(threads: number) => Promise<string[]>} recorded waits until so many threads are being recorded,
 *   and returns the files
 */

/**
 * Runs an armed program until `then` has resolved, and kills it unless it has ended. Returns as `run()`.
 * @param {string[]} args as for `run()`; the program sends a message when it is ready
 * @param {(program: ArmedProgram) => Promise<void>} then
 * @param {Parameters<typeof run>[1]} [options] as for `run()`
 */
async function runArmed(args, then, options = {}) {
  const dir = options.cwd ?? temporaryDirectory()
  const folder = temporaryDirectory('cpu-prof-socket-')
  const env = { CPU_PROF_START: 'off', CPU_PROF_SOCKET: folder, ...options.env }
  /** @type {Promise<void> | undefined} */
  let finished
  const during = async (/** @type {ArmedProgram['child']} */ child) => {
    await message(child)
    const socket = socketOf(folder, child.pid)
    const status = (/** @type {(status: any) => boolean} */ holds) => statusOf(socket, holds)
    await then({
      child,
      dir,
      folder,
      socket,
      ask: (request) => ask(socket, request),
      status,
      recorded: async (threads) => {
        const { recording } = await status(({ recording }) => recording?.threads === threads)
        return recording.files
      },
    })
  }
  const result = await run(args, {
    ...options,
    cwd: dir,
    env,
    during: (child) => {
      child.setMaxListeners(0)
      finished = during(child).finally(() => child.kill('SIGKILL'))
      finished.catch(() => {})
    },
  })
  await finished
  return { ...result, folder }
}

/**
 * Sends a request, and resolves with the reply.
 * @param {string} socket @param {object} request without its version
 * @returns {Promise<any>}
 */
const ask = (socket, request) => reply(socket, `${JSON.stringify({ v: 1, ...request })}\n`)

/** @param {string} socket @param {(status: any) => boolean} holds */
async function statusOf(socket, holds) {
  for (const end = Date.now() + 60_000; ; ) {
    const { status } = await ask(socket, { do: 'status' })
    if (holds(status)) return status
    assert.ok(Date.now() < end, `it never holds: ${holds}; ${JSON.stringify(status)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/**
 * Sends a line, and resolves with the reply. Tries again if this process got no core for a second, after
 * which a peer is given up.
 * @param {string} socket @param {string | Buffer} line @param {number} [tries]
 * @returns {Promise<any>}
 */
async function reply(socket, line, tries = 5) {
  const text = await send(socket, line).catch((error) => {
    if (tries === 0) throw error
    return ''
  })
  const isLate = text === '' || text.includes('no request came within')
  return isLate && tries > 0 ? reply(socket, line, tries - 1) : JSON.parse(text)
}

/**
 * Writes bytes to a socket, and resolves with all that comes back until the other side closes.
 * @param {string} socket @param {string | Buffer} bytes
 * @param {{ ends?: boolean }} [options] whether nothing follows
 * @returns {Promise<string>}
 */
function send(socket, bytes, { ends = false } = {}) {
  return new Promise((resolve, reject) => {
    const connection = net.connect(socket)
    let reply = ''
    connection.on('data', (data) => {
      reply += data
    })
    // A reply can come before all was written.
    connection.on('error', (error) => (reply === '' ? reject(error) : resolve(reply)))
    connection.on('close', () => resolve(reply))
    if (ends) connection.end(bytes)
    else connection.write(bytes)
  })
}

/** Returns the only socket of a process in a folder. @param {string} folder @param {number | undefined} pid */
function socketOf(folder, pid) {
  const found = fs.readdirSync(folder).filter((name) => name.startsWith(`${pid}-`))
  assert.equal(found.length, 1, `sockets of ${pid}: ${found}`)
  return path.join(folder, found[0])
}

module.exports = { ask, reply, send, socketOf, runArmed, NEEDS_SOCKET }
