'use strict'

// Finds the sockets by which this user's armed processes are controlled, on Linux and macOS.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** The name of a socket: the process's id and start. */
const NAME = /^(\d{1,10})-\d+\.sock$/
/** Age up to which a socket is new. */
const NEW_MS = 10_000

/** @typedef {import('./index.js').ControlSocket} ControlSocket */

/** Returns the folders in which the sockets of this user's armed processes are. @param {NodeJS.ProcessEnv} env */
function socketFolders(env) {
  /** Folders by what they are: one can have two paths. @type {Map<string, string>} */
  const folders = new Map()
  for (const folder of candidates(env)) {
    const id = privateId(folder)
    if (id !== undefined && !folders.has(id)) folders.set(id, folder)
  }
  return [...folders.values()]
}

/** Lists the sockets of this user's armed processes. @param {NodeJS.ProcessEnv} env @returns {ControlSocket[]} */
function listSockets(env) {
  return socketFolders(env).flatMap((folder) =>
    namesIn(folder).flatMap((name) => {
      const file = path.join(folder, name)
      const pid = Number(NAME.exec(name)?.[1])
      return pid > 0 && isOwnSocket(file) ? [{ file, folder, pid }] : []
    }),
  )
}

/** Returns the folders in which a process can have made its socket: one that is given is the only one. @param {NodeJS.ProcessEnv} env */
function candidates({ CPU_PROF_SOCKET: given, XDG_RUNTIME_DIR: runtime }) {
  if (given && path.isAbsolute(given)) return [given]
  const uid = process.geteuid?.()
  return [
    ...(runtime && path.isAbsolute(runtime) ? [path.join(runtime, 'cpu-prof')] : []),
    path.join('/run/user', String(uid), 'cpu-prof'),
    ...[os.tmpdir(), '/tmp', '/dev/shm'].map((folder) => path.join(folder, `cpu-prof-${uid}`)),
  ]
}

/**
 * Returns what identifies a folder that only this user can have filled; undefined for any other. The folder
 * keeps its path: that of another container, `/proc/<pid>/root/tmp`, has no real one.
 * @param {string} folder
 */
function privateId(folder) {
  try {
    const stat = fs.lstatSync(folder)
    const isPrivate = stat.uid === process.geteuid?.() && (stat.mode & 0o077) === 0
    return stat.isDirectory() && isPrivate ? `${stat.dev}:${stat.ino}` : undefined
  } catch {
    return undefined
  }
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

/** @param {string} file */
function isOwnSocket(file) {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  return stat?.isSocket() === true && stat.uid === process.geteuid?.()
}

/** Removes a socket that refuses connections: its process has ended. @param {ControlSocket} socket */
function removeSocket({ file }) {
  try {
    // A new socket refuses connections for a moment.
    if (Date.now() - fs.lstatSync(file).mtimeMs > NEW_MS) fs.unlinkSync(file)
  } catch {
    // Another process was faster.
  }
}

module.exports = { listSockets, removeSocket, socketFolders }
