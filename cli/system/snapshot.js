'use strict'

// The processes of a machine as the addon lists them, where the system has no files that tell.

const { loadTools } = require('../../lib/addon.js')
const { parsed } = require('../../lib/json-result.js')

/**
 * A process. What the system does not tell is missing.
 * @typedef {object} Listed
 * @property {number} pid
 * @property {number} parent process id; on Windows that of the creator, which can have ended
 * @property {number} [group]
 * @property {number} [session]
 * @property {boolean} [hasTerminal]
 * @property {boolean} [isForeground] whether the process gets the signals of its terminal's keys
 * @property {number} [startMs] milliseconds after the system's start; after 1970 on macOS
 * @property {string} [executable] a path, or the file's name
 * @property {string[]} [words] of the command line
 * @property {string | null} [nodeOptions] the variable; null without the variable
 */

/** Returns the processes of this machine. Throws if the addon cannot list them. @returns {Listed[]} */
function listProcesses() {
  /** @type {Listed[] | null} */
  const processes = parsed(loadTools().cpuProfProcesses())
  if (processes === null) throw new Error('the system does not tell about processes')
  return processes
}

/** @param {Listed[]} listed @param {RegExp} isNode matches the executable of a Node @returns {import('./index.js').Snapshot} */
function snapshotOf(listed, isNode) {
  const processes = new Map(listed.map((one) => [one.pid, one]))
  const startOf = (/** @type {number} */ pid) => processes.get(pid)?.startMs
  return {
    pids: [...processes.keys()],
    pidsBefore(pid) {
      const startMs = startOf(pid) ?? Number.POSITIVE_INFINITY
      return [...processes.keys()].filter((other) => Number(startOf(other)) < startMs)
    },
    readStat(pid) {
      const { parent = 0, group = 0, session = 0, startMs } = processes.get(pid) ?? {}
      if (startMs === undefined) return undefined
      // The id of a parent that has ended can be that of a new process.
      const isOlder = !(Number(startOf(parent)) > startMs)
      return { parent: isOlder ? parent : 0, group, session, startMs }
    },
    readExecutable: (pid) => processes.get(pid)?.executable,
    readNode(pid, executable, startMs) {
      const one = processes.get(pid)
      if (!isNode.test(executable) || one?.startMs !== startMs) return undefined
      const { words = [executable], nodeOptions } = one
      return { words, nodeOptions, namespacePid: pid }
    },
  }
}

module.exports = { listProcesses, snapshotOf }
