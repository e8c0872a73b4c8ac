'use strict'

// What Linux tells about processes, this one's terminal and its open files, in /proc.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const inspection = require('./linux-inspector.js')
const posix = require('./posix.js')
const { usualFolders } = require('./posix-sockets.js')

/** Flag of a process that has run no program since its fork: the process is a copy of its parent. */
const FORKED_NO_EXEC = 0x40
/** Length of a clock tick in /proc, milliseconds. The addon uses the same. */
const TICK_MS = 10
/** Path of a Node; the path of a file that was replaced has an end. */
const NODE = /\/node(js)?( \(deleted\))?$/

/** @typedef {import('./index.js').NodeFacts} NodeFacts */
/**
 * @typedef {object} More that only Linux tells
 * @property {boolean} isCopy whether the process has run no program since its fork
 * @property {number} terminal its device; 0 without a terminal
 * @property {number} foregroundGroup the group to which the terminal sends Ctrl-C; -1 without a terminal
 *
 * @typedef {import('./index.js').Stat & More} Stat
 */

/** @returns {import('./index.js').Snapshot} */
function takeSnapshot() {
  const pids = listPids()
  // Ids grow up to a limit.
  const pidsBefore = (/** @type {number} */ pid) => pids.filter((other) => other < pid)
  return { pids, pidsBefore, readStat, readExecutable, readNode }
}

/** Returns the ids of all processes, in their order. Throws where /proc shows other ids than processes know. */
function listPids() {
  if (fs.readlinkSync('/proc/self') !== String(process.pid)) throw new Error('another /proc')
  return fs.readdirSync('/proc').map(Number).filter(Boolean)
}

/** Returns the state of a process; undefined if the process is gone. @param {number | 'self'} pid @returns {Stat | undefined} */
function readStat(pid) {
  const text = read(pid, 'stat')
  if (text === undefined) return undefined
  // The name before can hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [, parent, group, session, terminal, foregroundGroup, flags] = fields.map(Number)
  return {
    parent,
    group,
    session,
    terminal,
    foregroundGroup,
    isCopy: (flags & FORKED_NO_EXEC) !== 0,
    startMs: Number(fields[19]) * TICK_MS,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
  }
}

/** Returns the path of a process's executable; undefined if the process has ended, or is another user's. @param {number} pid */
function readExecutable(pid) {
  try {
    return fs.readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

/**
 * Returns what is known about a Node process; undefined if the process is none, or not yet.
 * @param {number} pid @param {string} executable @param {number} startMs @returns {NodeFacts | undefined}
 */
function readNode(pid, executable, startMs) {
  if (!NODE.test(executable)) return undefined
  const stat = readStat(pid)
  // The child of a Node process is a copy of Node until the child runs its own program.
  if (stat === undefined || stat.isCopy || stat.startMs !== startMs) return undefined
  const [cmdline, environ, status] = ['cmdline', 'environ', 'status'].map((name) => read(pid, name))
  // A program that starts has no words yet. The words can be those of the next program.
  if (!cmdline || environ === undefined || readExecutable(pid) !== executable) return undefined
  const variable = environ.split('\0').find((entry) => entry.startsWith('NODE_OPTIONS='))
  return {
    words: cmdline.replace(/\0$/, '').split('\0'),
    nodeOptions: variable?.slice('NODE_OPTIONS='.length) ?? null,
    namespacePid: Number(/^NSpid:.*?(\d+)$/m.exec(status ?? '')?.[1] ?? pid),
  }
}

/** @returns {import('./posix.js').Terminal} */
function readTerminal() {
  const stat = readStat('self')
  if (stat === undefined) return posix.guessTerminal()
  return { isThere: stat.terminal !== 0, isForeground: stat.foregroundGroup === stat.group }
}

/**
 * Lets the processes that this process starts inherit the files that this process has inherited,
 * under the same numbers. Node closes them to its children.
 * @param {NodeJS.ProcessEnv} env
 */
function passOnFiles({ MAKEFLAGS = '', NODE_CHANNEL_FD }) {
  // A pipe with both ends.
  const [, ...jobserver] = /--jobserver-(?:auth|fds)=(\d+),(\d+)/.exec(MAKEFLAGS) ?? []
  const files = listOpenFiles().filter(({ fd }) => fd > 2)
  const inherited = files
    .filter((file) => jobserver.includes(String(file.fd)) || isInherited(file, files))
    .map(({ fd }) => fd)
    .filter((fd) => fd !== Number(NODE_CHANNEL_FD))
  loadTools().cpuProfPassOn(inherited)
}

/**
 * Returns whether a file is not one of Node's own.
 * @param {OpenFile} file @param {OpenFile[]} all
 */
function isInherited({ target, isWritten }, all) {
  if (!target.startsWith('pipe:')) {
    return target.startsWith('socket:') || (target.startsWith('/') && target !== '/dev/null')
  }
  // libuv's pipes have both ends in this process.
  return !all.some((other) => other.target === target && other.isWritten !== isWritten)
}

/**
 * An open file of this process.
 * @typedef {object} OpenFile
 * @property {number} fd
 * @property {string} target a path, or what the file is: `pipe:[1]`
 * @property {boolean} isWritten
 */

/** Returns the open files of this process, as far as the system tells them. @returns {OpenFile[]} */
function listOpenFiles() {
  return linksIn('/proc/self/fd').flatMap(({ name, target }) => {
    try {
      const { mode } = fs.lstatSync(`/proc/self/fd/${name}`)
      return [{ fd: Number(name), target, isWritten: (mode & 0o200) !== 0 }]
    } catch {
      // The file was closed meanwhile.
      return []
    }
  })
}

/**
 * Returns the paths of the files that a process has open. A path of a container begins with the root of
 * its process. Another user's process has none.
 * @param {number} pid @returns {string[]}
 */
function openFilesOf(pid) {
  const folder = `/proc/${pid}/fd`
  const paths = linksIn(folder).flatMap(({ name, target }) => {
    if (!target.startsWith('/')) return []
    const places = [target, `/proc/${pid}/root${target}`]
    const place = places.find((place) => isSameFile(place, `${folder}/${name}`))
    return place === undefined ? [] : [place]
  })
  return [...new Set(paths)]
}

/** Returns the links in a folder, as far as the system tells them. @param {string} folder @returns {{ name: string, target: string }[]} */
function linksIn(folder) {
  /** @type {string[]} */
  let names = []
  try {
    names = fs.readdirSync(folder)
  } catch {
    // There is no /proc, no descriptor is free, or the process is gone or belongs to another user.
  }
  return names.flatMap((name) => {
    try {
      return [{ name, target: fs.readlinkSync(`${folder}/${name}`) }]
    } catch {
      // The file was closed meanwhile, as the descriptor of the listing itself.
      return []
    }
  })
}

/** Returns whether two paths lead to one file. @param {string} one @param {string} other */
function isSameFile(one, other) {
  try {
    const [a, b] = [fs.statSync(one), fs.statSync(other)]
    return a.ino === b.ino && a.dev === b.dev
  } catch {
    return false
  }
}

/**
 * Lists the sockets of this user's armed processes; for root, those of all users, also in containers.
 * @param {NodeJS.ProcessEnv} env @returns {import('./index.js').ControlSocket[]}
 */
function listSockets(env) {
  const isGiven = path.isAbsolute(env.CPU_PROF_SOCKET ?? '')
  if (process.geteuid?.() !== 0 || isGiven) return posix.listSockets(env)
  const nodes = listNodes()
  const pids = new Map(nodes.map(({ name, pid }) => [name, pid]))
  const places = nodes.map(({ user, root }) => ({ user, root, folders: usualFolders(user, root) }))
  return posix.listSockets(env, places).map((socket) => {
    const outerPid = pids.get(path.basename(socket.file, '.sock')) ?? socket.pid
    return { ...socket, outerPid }
  })
}

/** Returns the Node processes of all users, with the root of their files, and the names of their sockets. */
function listNodes() {
  return listPids().flatMap((pid) => {
    const [stat, status] = [readStat(pid), read(pid, 'status') ?? '']
    const user = /^Uid:\t\d+\t(\d+)/m.exec(status)?.[1]
    const isNode = NODE.test(readExecutable(pid) ?? '')
    const root = isNode ? rootOf(pid) : undefined
    if (stat === undefined || user === undefined || root === undefined) return []
    const ownPid = /^NSpid:.*?(\d+)$/m.exec(status)?.[1] ?? pid
    return [{ pid, user: Number(user), root, name: `${ownPid}-${stat.startMs}` }]
  })
}

/** Returns the path of the root of a process's files: empty if it is that of this process, undefined if the process is gone. @param {number} pid */
function rootOf(pid) {
  const linksOf = (/** @type {string | number} */ of) =>
    ['ns/mnt', 'root'].map((name) => fs.readlinkSync(`/proc/${of}/${name}`)).join(' ')
  try {
    return linksOf(pid) === linksOf('self') ? '' : `/proc/${pid}/root`
  } catch {
    return undefined
  }
}

/** Returns the user of a process; undefined if the process is gone. @param {number} pid */
function ownerOf(pid) {
  const uids = /^Uid:\t(\d+)/m.exec(read(pid, 'status') ?? '')
  return uids === null ? undefined : Number(uids[1])
}

/** @param {number | 'self'} pid @param {string} file */
function read(pid, file) {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process is gone, or belongs to another user.
    return undefined
  }
}

/** @type {import('./index.js').System} */
module.exports = {
  ...posix,
  START_TOLERANCE_MS: 0,
  takeSnapshot,
  openFilesOf,
  watchTerminal: () => posix.terminalWatcher(readTerminal().isThere, readTerminal),
  passOnFiles,
  listSockets,
  ownerOf,
  seesFolder: (pid, folder) => isSameFile(folder, `/proc/${pid}/root${folder}`),
  inspection,
}
