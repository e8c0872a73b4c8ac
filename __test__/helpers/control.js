'use strict'

// A client of control sockets, as small as the protocol allows.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')

/**
 * Sends a request, and resolves with the reply.
 * @param {string} socket @param {object} request without its version
 * @returns {Promise<any>}
 */
async function ask(socket, request) {
  const reply = await send(socket, `${JSON.stringify({ v: 1, ...request })}\n`)
  return JSON.parse(reply)
}

/**
 * Writes bytes to a socket, and resolves with all that comes back until the other side closes.
 * @param {string} socket @param {string | Buffer} bytes
 * @returns {Promise<string>}
 */
function send(socket, bytes) {
  return new Promise((resolve, reject) => {
    const connection = net.connect(socket)
    let reply = ''
    connection.on('data', (data) => {
      reply += data
    })
    connection.on('error', reject)
    connection.on('close', () => resolve(reply))
    connection.write(bytes)
  })
}

/** Returns the only socket of a process in a folder. @param {string} folder @param {number | undefined} pid */
function socketOf(folder, pid) {
  const found = fs.readdirSync(folder).filter((name) => name.startsWith(`${pid}-`))
  assert.equal(found.length, 1, `sockets of ${pid}: ${found}`)
  return path.join(folder, found[0])
}

module.exports = { ask, send, socketOf }
