'use strict'

// Passes on the file descriptors above 2 that this process has inherited, as a shell does.

const fs = require('node:fs')
const { loadTools } = require('../../../lib/addon.js')

const FOLDER = '/proc/self/fd'

/**
 * Lets the processes that this process starts inherit the files that this process has inherited,
 * under the same numbers. Node closes them to its children.
 * @param {NodeJS.ProcessEnv} env
 */
function passOnFiles({ MAKEFLAGS = '', NODE_CHANNEL_FD }) {
  const ipcChannel = Number(NODE_CHANNEL_FD)
  const inherited = inheritedAbove2(jobserver(MAKEFLAGS)).filter((fd) => fd !== ipcChannel)
  // Most processes have none, and loading the addon takes milliseconds.
  if (inherited.length > 0) loadTools().cpuProfPassOn(inherited)
}

/** @param {Set<number>} known to be inherited @returns {number[]} */
function inheritedAbove2(known) {
  const targets = readTargets()
  const pipes = [...targets].filter(([, { isPipe }]) => isPipe)
  return [...targets]
    .filter(([fd, { target, isPipe, isWritten }]) => {
      if (known.has(fd)) return true
      // libuv's pipes have both ends in this process.
      const hasOtherEnd = pipes.some(
        ([, other]) => other.target === target && other.isWritten !== isWritten,
      )
      if (isPipe) return !hasOtherEnd
      return target.startsWith('socket:') || (target.startsWith('/') && target !== '/dev/null')
    })
    .map(([fd]) => fd)
}

/** @typedef {{ target: string, isPipe: boolean, isWritten: boolean }} Target */

/** Returns the open file descriptors above 2, as far as the system tells them. */
function readTargets() {
  /** @type {Map<number, Target>} */
  const targets = new Map()
  try {
    for (const name of fs.readdirSync(FOLDER)) {
      const fd = Number(name)
      if (fd <= 2) continue
      try {
        const target = fs.readlinkSync(`${FOLDER}/${name}`)
        const mode = fs.lstatSync(`${FOLDER}/${name}`).mode
        targets.set(fd, {
          target,
          isPipe: target.startsWith('pipe:'),
          isWritten: (mode & 0o200) !== 0,
        })
      } catch {
        // The descriptor of the listing itself is closed by now.
      }
    }
  } catch {
    // Not Linux.
  }
  return targets
}

/** Returns the descriptors of make's jobserver, a pipe with both ends. @param {string} flags */
function jobserver(flags) {
  const found = /--jobserver-(?:auth|fds)=(\d+),(\d+)/.exec(flags)
  return new Set(found ? [Number(found[1]), Number(found[2])] : [])
}

module.exports = { passOnFiles }
