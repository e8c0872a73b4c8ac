'use strict'

// Passes on the file descriptors above 2 that this process has inherited, as a shell does.

const { loadTools } = require('../../../lib/addon.js')
const { listOpenFiles } = require('../proc.js')

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
  // Most processes have none, and loading the addon takes milliseconds.
  if (inherited.length > 0) loadTools().cpuProfPassOn(inherited)
}

/**
 * Returns whether a file is not one of Node's own.
 * @param {import('../proc.js').OpenFile} file @param {import('../proc.js').OpenFile[]} all
 */
function isInherited({ target, isWritten }, all) {
  if (!target.startsWith('pipe:')) {
    return target.startsWith('socket:') || (target.startsWith('/') && target !== '/dev/null')
  }
  // libuv's pipes have both ends in this process.
  return !all.some((other) => other.target === target && other.isWritten !== isWritten)
}

module.exports = { passOnFiles }
