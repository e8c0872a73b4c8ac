'use strict'

// Finds the sockets by which armed processes are controlled, on Linux and macOS.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { asUserOf } = require('./as-user.js')
const { namedIn } = require('./socket-names.js')

/** Age up to which a socket is new. */
const NEW_MS = 10_000

/** @typedef {import('./index.js').ControlSocket} ControlSocket */
/**
 * @typedef {object} Place where the processes of one user can have their sockets
 * @property {string[]} folders
 * @property {number} [user] the owner that the folders must have; root takes any owner if undefined
 * @property {string} [root] the path of the root of their files
 */

/** Returns the folders in which the sockets of this user's armed processes are. @param {NodeJS.ProcessEnv} env */
function socketFolders(env) {
  return privateFolders([ownPlace(env)]).map(({ folder }) => folder)
}

/**
 * Lists the sockets of armed processes: of this user, and in other places.
 * @param {NodeJS.ProcessEnv} env @param {Place[]} [others] @returns {ControlSocket[]}
 */
function listSockets(env, others = []) {
  return privateFolders([ownPlace(env), ...others]).flatMap(({ folder, user, group, root }) =>
    namedIn(folder)
      .filter(({ file }) => isSocketOf(file, user))
      .map((socket) => ({ ...socket, user, group, root })),
  )
}

/** Returns where this user's processes can have their sockets: a folder that is given is the only one. @param {NodeJS.ProcessEnv} env @returns {Place} */
function ownPlace({ CPU_PROF_SOCKET: given, XDG_RUNTIME_DIR: runtime }) {
  const user = process.geteuid?.()
  if (given && path.isAbsolute(given)) {
    return { folders: [given], user: user === 0 ? undefined : user }
  }
  const ofRuntime = runtime && path.isAbsolute(runtime) ? [path.join(runtime, 'cpu-prof')] : []
  const temporary = path.join(os.tmpdir(), `cpu-prof-${user}`)
  return { folders: [...ofRuntime, temporary, ...usualFolders(user)], user }
}

/** Returns where processes of a user have their sockets by default. @param {number | undefined} user @param {string} [root] */
function usualFolders(user, root = '') {
  const names = [`/run/user/${user}/cpu-prof`, `/tmp/cpu-prof-${user}`, `/dev/shm/cpu-prof-${user}`]
  return names.map((name) => root + name)
}

/**
 * Returns the folders that nobody but their user can have filled. A folder keeps its path: that of another
 * container, `/proc/<pid>/root/tmp`, has no real one.
 * @param {Place[]} places
 */
function privateFolders(places) {
  /** Folders by what they are: one can have two paths. @type {Map<string, { folder: string, user: number, group: number, root: string }>} */
  const found = new Map()
  for (const { folders, user, root = '' } of places) {
    for (const folder of folders) {
      const stat = statOf(folder)
      if (!stat?.isDirectory() || (stat.mode & 0o077) !== 0) continue
      if (user !== undefined && stat.uid !== user) continue
      const id = `${stat.dev}:${stat.ino}`
      if (!found.has(id)) found.set(id, { folder, user: stat.uid, group: stat.gid, root })
    }
  }
  return [...found.values()]
}

/** @param {string} file */
function statOf(file) {
  try {
    return fs.lstatSync(file)
  } catch {
    return undefined
  }
}

/** @param {string} file @param {number} user */
function isSocketOf(file, user) {
  const stat = statOf(file)
  return stat?.isSocket() === true && stat.uid === user
}

/** Removes a socket that refuses connections: its process has ended. @param {ControlSocket} socket */
function removeSocket(socket) {
  const { file } = socket
  try {
    // A new socket refuses connections for a moment.
    if (Date.now() - fs.lstatSync(file).mtimeMs > NEW_MS)
      asUserOf(socket, () => fs.unlinkSync(file))
  } catch {
    // Another process was faster.
  }
}

module.exports = { listSockets, removeSocket, socketFolders, usualFolders }
