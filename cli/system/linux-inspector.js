'use strict'

// What Linux tells about a process whose inspector is to be opened.

const fs = require('node:fs')

/** SIGUSR1 in a mask of signals. */
const SIGUSR1 = 1n << 9n
/** State of a socket that waits for connections, in /proc/net/tcp. */
const LISTENING = '0A'
/** Addresses as /proc/net/tcp writes them, and the addresses to connect to. @type {Record<string, string>} */
const HOSTS = {
  '0100007F': '127.0.0.1',
  '00000000': '127.0.0.1',
  '00000000000000000000000001000000': '::1',
  '00000000000000000000000000000000': '::1',
}

/** @typedef {import('./index.js').Listener} Listener */

/**
 * Returns whether a process has a handler for SIGUSR1; the signal ends any other process. Throws if the
 * system does not tell.
 * @param {number} pid
 */
function handlesDebugSignal(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8')
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'
  return (BigInt(`0x${mask}`) & SIGUSR1) !== 0n
}

/**
 * Returns where a process waits for connections from this machine. Throws if the system does not tell.
 * @param {number} pid @returns {Listener[]}
 */
function listenersOf(pid) {
  const own = inodesOf(pid)
  return listeners(pid).flatMap(({ inode, ...listener }) => (own.has(inode) ? [listener] : []))
}

/**
 * Returns whether any process in the network of a process waits for connections on a port.
 * @param {number} pid @param {number} port
 */
function isPortTaken(pid, port) {
  return listeners(pid).some((listener) => listener.port === port)
}

/** @param {number} pid */
function listeners(pid) {
  return ['tcp', 'tcp6'].flatMap((name) => {
    const lines = tableOf(pid, name).trim().split('\n').slice(1)
    return lines.flatMap((line) => {
      const fields = line.trim().split(/\s+/)
      const [address, port] = (fields[1] ?? '').split(':')
      const host = HOSTS[address]
      if (fields[3] !== LISTENING || host === undefined) return []
      return [{ host, port: Number.parseInt(port, 16), inode: fields[9] }]
    })
  })
}

/** @param {number} pid @param {string} name */
function tableOf(pid, name) {
  try {
    return fs.readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
  } catch (error) {
    // A machine can be without IPv6.
    if (name === 'tcp6') return ''
    throw error
  }
}

/** Returns the inodes of a process's sockets. @param {number} pid */
function inodesOf(pid) {
  const folder = `/proc/${pid}/fd`
  return new Set(
    fs.readdirSync(folder).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`${folder}/${fd}`))?.[1]]
      } catch {
        // Closed by now.
        return []
      }
    }),
  )
}

module.exports = { handlesDebugSignal, listenersOf, isPortTaken }
