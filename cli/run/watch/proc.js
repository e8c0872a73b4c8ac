'use strict'

// Reads what Linux tells about processes, from /proc.

const fs = require('node:fs')

/** Flag of a process that has run no program since its fork: the process is a copy of its parent. */
const FORKED_NO_EXEC = 0x40
/** Length of a clock tick in /proc, milliseconds. The addon uses the same. */
const TICK_MS = 10
/** Holds a `stat`, which has about 300 bytes. */
const buffer = Buffer.alloc(1024)

/**
 * @typedef {object} Stat
 * @property {number} parent process id
 * @property {number} group process id of the group's first process
 * @property {number} session process id of the session's first process
 * @property {number} terminal its device; 0 without a terminal
 * @property {number} foregroundGroup the group to which the terminal sends Ctrl-C; -1 without a terminal
 * @property {boolean} hasEnded whether the process only waits for its parent to notice its end
 * @property {boolean} isCopy whether the process has run no program since its fork
 * @property {number} startMs milliseconds after the system's start
 * @property {string} name of the program, at most 15 characters
 */

/** Returns whether /proc shows the processes by the ids that this process knows. */
function isProcReadable() {
  try {
    return fs.readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}

/** Returns the ids of all processes. */
function listPids() {
  return fs.readdirSync('/proc').map(Number).filter(Boolean)
}

/** Returns the state of a process; undefined if the process is gone. @param {number | 'self'} pid @returns {Stat | undefined} */
function readStat(pid) {
  const text = readShort(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name can hold spaces and brackets.
  const end = text.lastIndexOf(')')
  const fields = text.slice(end + 2).split(' ')
  const [state] = fields
  const [, parent, group, session, terminal, foregroundGroup, flags] = fields.map(Number)
  return {
    parent,
    group,
    session,
    terminal,
    foregroundGroup,
    hasEnded: state === 'Z' || state === 'X',
    isCopy: (flags & FORKED_NO_EXEC) !== 0,
    startMs: Number(fields[19]) * TICK_MS,
    name: text.slice(text.indexOf('(') + 1, end),
  }
}

/** Returns the path of a process's executable; undefined if the path cannot be read. @param {number} pid */
function readExecutable(pid) {
  try {
    return fs.readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

/** Returns a process's command line; empty while a program starts. @param {number} pid */
function readWords(pid) {
  return split(read(pid, 'cmdline'))
}

/**
 * Returns a variable of the environment that a process was started with.
 * @param {number} pid @param {string} name
 * @returns {string | null | undefined} null without the variable, undefined if nothing can be read
 */
function readVariable(pid, name) {
  const text = read(pid, 'environ')
  if (text === undefined) return undefined
  const entry = split(text).find((entry) => entry.startsWith(`${name}=`))
  return entry === undefined ? null : entry.slice(name.length + 1)
}

/**
 * Returns the id by which a process knows itself, which differs in a container, and its user.
 * @param {number} pid
 */
function readIds(pid) {
  const text = read(pid, 'status')
  const namespacePid = /^NSpid:.*?(\d+)$/m.exec(text ?? '')?.[1]
  const user = /^Uid:\s+\d+\s+(\d+)/m.exec(text ?? '')?.[1]
  return { namespacePid: Number(namespacePid ?? pid), user: Number(user) }
}

/** @param {string | undefined} text of words, each with a zero behind it */
function split(text = '') {
  const words = text.split('\0')
  if (words.at(-1) === '') words.pop()
  return words
}

/** Reads a file that fits the buffer: half the cost of `readFileSync()`. @param {string} file */
function readShort(file) {
  try {
    const opened = fs.openSync(file, 'r')
    try {
      return buffer.toString('latin1', 0, fs.readSync(opened, buffer))
    } finally {
      fs.closeSync(opened)
    }
  } catch {
    // The process is gone.
    return undefined
  }
}

/** @param {number} pid @param {string} file */
function read(pid, file) {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process is gone, or belongs to another user.
    return undefined
  }
}

module.exports = {
  isProcReadable,
  listPids,
  readStat,
  readExecutable,
  readWords,
  readVariable,
  readIds,
}
