'use strict'

// Lists the armed processes that this user can control.

const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { listSockets, removeSocket } = require('../system/index.js')
const { messageOf } = require('../terminal/error-text.js')
const { askStatus } = require('./client.js')
const { readStatus } = require('./status.js')

/** How many processes are asked at the same time. */
const MAX_AT_ONCE = 200
/** Largest package.json that is read. */
const MAX_MANIFEST_BYTES = 1 << 20

/**
 * @typedef {object} Armed a process that can be controlled
 * @property {import('../system/index.js').ControlSocket} socket
 * @property {number} pid by which this process knows it
 * @property {import('./status.js').Status} [status] none if the process does not answer
 * @property {string} [packageName] of its program
 * @property {string} [problem] why the process does not answer
 */

/** Asks all other armed processes for their status, and removes the sockets of those that have ended. @returns {Promise<Armed[]>} */
async function listArmed(env = process.env) {
  // This process is armed itself where the environment of a container arms all.
  const sockets = listSockets(env).filter(({ outerPid }) => outerPid !== process.pid)
  /** @type {Armed[]} */
  const armed = []
  // Each connection is an open file, of which this process may have few.
  const left = sockets.values()
  const readRest = async () => {
    for (const socket of left) armed.push(...(await readArmed(socket)))
  }
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, readRest))
  return armed.sort((a, b) => a.pid - b.pid)
}

/** @param {import('../system/index.js').ControlSocket} socket @returns {Promise<Armed[]>} */
async function readArmed(socket) {
  const pid = socket.outerPid
  try {
    const status = readStatus(await askStatus(socket))
    return [{ socket, pid, status, packageName: packageOf(status, socket.root) }]
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'gone') {
      return [{ socket, pid, problem: messageOf(error) }]
    }
    removeSocket(socket)
    return []
  }
}

/** Returns the name in the nearest package.json of a program. @param {import('./status.js').Status} status @param {string} root of its files */
function packageOf({ script, cwd }, root) {
  const start = path.isAbsolute(script) ? path.dirname(script) : cwd
  if (!path.isAbsolute(start)) return undefined
  for (let folder = start; ; folder = path.dirname(folder)) {
    const name = nameIn(path.join(root, folder, 'package.json'))
    if (name !== undefined || folder === path.dirname(folder)) return name
  }
}

/** Returns the name in a package.json; undefined without one. @param {string} file */
function nameIn(file) {
  try {
    // By the addon: a pipe would never end.
    const text = loadTools().cpuProfReadRegularFile(file, MAX_MANIFEST_BYTES)
    const { name } = JSON.parse(text ?? '{}')
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}

module.exports = { listArmed }
