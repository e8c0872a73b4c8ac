'use strict'

// Asks an armed process over its control socket: one request, one reply, each a line of JSON.

const net = require('node:net')
const { loadTools } = require('../../lib/addon.js')

const VERSION = 1
/** A longer reply is none of cpu-prof. */
const MAX_REPLY_BYTES = 1 << 20
/** How long a status may take. */
const STATUS_MS = 2000
/** How long a start may take, and a stop, which waits for complete files. */
const CHANGE_MS = 20_000

/** @typedef {{ file: string, user?: number }} ControlSocket */
/**
 * @typedef {object} StartRequest
 * @property {string} by who starts, for people
 * @property {Record<string, string>} settings as text, by their names in code
 * @property {number} [forMs]
 */

/**
 * Why a process gave no answer: `gone` (ended), `silent` (none in time), `garbled` (not by the rules), or
 * the code of the process's own refusal, such as `busy`.
 */
class ControlError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

/** Returns the reply to a status request. @param {ControlSocket} socket */
const askStatus = (socket) => ask(socket, { do: 'status' }, STATUS_MS)

/** Starts a recording of all threads. @param {ControlSocket} socket @param {StartRequest} request */
const askStart = (socket, request) => ask(socket, { do: 'start', ...request }, CHANGE_MS)

/** Stops the recording. @param {ControlSocket} socket */
const askStop = (socket) => ask(socket, { do: 'stop' }, CHANGE_MS)

/**
 * Sends a request, and returns the reply. Rejects with a {@link ControlError}.
 * @param {ControlSocket} socket @param {Record<string, unknown>} request @param {number} timeoutMs
 * @returns {Promise<Record<string, unknown>>}
 */
function ask({ file, user }, request, timeoutMs) {
  return new Promise((resolve, reject) => {
    const connection = net.connect(file)
    /** @type {Buffer[]} */
    const parts = []
    let bytes = 0
    const end = (/** @type {() => void} */ settle) => {
      clearTimeout(timer)
      connection.destroy()
      settle()
    }
    const fail = (/** @type {string} */ code, /** @type {string} */ message) =>
      end(() => reject(new ControlError(code, message)))
    const timer = setTimeout(
      () =>
        fail('silent', `it gave no answer in ${timeoutMs / 1000} s; it is stopped, or overloaded`),
      timeoutMs,
    )
    const read = () => {
      try {
        const reply = parseReply(Buffer.concat(parts).toString())
        end(() => resolve(reply))
      } catch (error) {
        end(() => reject(error))
      }
    }
    connection.on('connect', () => {
      if (isServedBy(connection, user)) {
        connection.write(`${JSON.stringify({ v: VERSION, ...request })}\n`)
      } else fail('garbled', 'its socket leads to a process of another user')
    })
    connection.on('data', (part) => {
      parts.push(part)
      bytes += part.length
      if (bytes > MAX_REPLY_BYTES) fail('garbled', 'its answer is too long')
      else if (part.includes(10)) read()
    })
    connection.on('end', () => fail('silent', 'it closed the connection without an answer'))
    connection.on('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) => {
      if (code === 'ECONNREFUSED' || code === 'ENOENT') fail('gone', 'it has ended')
      else fail('silent', `its socket cannot be used: ${message}`)
    })
  })
}

/**
 * Returns whether a user serves a connection. A folder of this user has no other sockets; one of another user
 * can have a link to any socket by now.
 * @param {net.Socket} connection @param {number} [user]
 */
function isServedBy(connection, user) {
  if (user === undefined || user === process.geteuid?.()) return true
  const { fd } = /** @type {any} */ (connection)._handle ?? {}
  return typeof fd === 'number' && loadTools().cpuProfPeerUser(fd) === user
}

/** Returns the reply in a text. Throws a {@link ControlError} for a refusal. @param {string} text */
function parseReply(text) {
  /** @type {any} */
  let reply
  try {
    reply = JSON.parse(text.slice(0, text.indexOf('\n')))
  } catch {
    throw new ControlError('garbled', 'its answer is not JSON')
  }
  const { code, message } = reply?.error ?? {}
  if (typeof code === 'string' && typeof message === 'string') throw new ControlError(code, message)
  if (reply?.v !== VERSION) {
    throw new ControlError('garbled', 'its answer is not one of this version of cpu-prof')
  }
  return reply
}

module.exports = { ControlError, askStatus, askStart, askStop }
