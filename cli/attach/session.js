'use strict'

// Speaks the protocol of Node's inspector with the threads of a process.

const http = require('node:http')
// @ts-expect-error the package has no types
const WebSocket = require('ws')
const { forWorker } = require('../../lib/worker-attach.js')

/** How long the inspector may take for an answer: a thread can be in a long native call. */
const ANSWER_MS = 5000
/** Longest list of targets, and largest message. */
const MAX_BYTES = 1 << 20

/** @typedef {import('../system/index.js').Listener} Listener */

/** A session with one thread. Its messages go over a connection, or through the session with its parent. */
class Session {
  /** @param {(message: string) => void} send */
  constructor(send) {
    this.send = send
    this.lastId = 0
    /** @type {Map<number, (message: any) => void>} */
    this.waiting = new Map()
    /** The sessions with the workers of the thread, by the inspector's ids. @type {Map<string, Session>} */
    this.workers = new Map()
  }

  /** Takes a message of the inspector. Throws if the message is none. @param {string} text */
  receive(text) {
    const { id, method, params, ...answer } = JSON.parse(text)
    if (id !== undefined) this.waiting.get(id)?.(answer)
    else if (method === 'NodeWorker.attachedToWorker') this.addWorker(params.sessionId)
    else if (method === 'NodeWorker.receivedMessageFromWorker') {
      this.workers.get(params.sessionId)?.receive(params.message)
    }
  }

  /** @param {string} sessionId */
  addWorker(sessionId) {
    const send = (/** @type {string} */ json) => {
      const message = forWorker(json)
      this.call('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(() => {})
    }
    this.workers.set(sessionId, new Session(send))
  }

  /** Returns the result of a method. @param {string} method @param {object} [params] @returns {Promise<any>} */
  call(method, params = {}) {
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id)
        reject(
          new Error('it gives no answer: it is in a long native call, or a debugger stopped it'),
        )
      }, ANSWER_MS).unref()
      this.waiting.set(id, ({ result, error }) => {
        clearTimeout(timer)
        this.waiting.delete(id)
        if (error) reject(new Error(String(error.message)))
        else resolve(result)
      })
      this.send(JSON.stringify({ id, method, params }))
    })
  }

  /** Returns the value of an expression, which can use `require`. @param {string} expression */
  async evaluate(expression) {
    const options = { includeCommandLineAPI: true, returnByValue: true }
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', {
      expression,
      ...options,
    })
    if (exceptionDetails === undefined) return result.value
    const { description, value } = exceptionDetails.exception ?? {}
    throw new Error(String(description ?? value ?? exceptionDetails.text).split('\n', 1)[0])
  }

  /** Opens sessions with the workers that run, and with theirs. Returns the sessions of all threads. @returns {Promise<Session[]>} */
  async withWorkers() {
    await this.call('NodeWorker.enable', { waitForDebuggerOnStart: false })
    const below = await Promise.all(
      // The sessions of workers that do not answer have no workers that can be reached.
      [...this.workers.values()].map((worker) => worker.withWorkers().catch(() => [worker])),
    )
    return [this, ...below.flat()]
  }
}

/**
 * Opens a session with the main thread of a process.
 * @param {Listener} listener where the inspector waits
 */
async function openSession({ host, port }) {
  const id = await targetId(host, port)
  const address = host.includes(':') ? `[${host}]` : host
  const socket = new WebSocket(`ws://${address}:${port}/${id}`, {
    perMessageDeflate: false,
    maxPayload: MAX_BYTES,
  })
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(noAnswer(host, port))
      socket.terminate()
    }, ANSWER_MS)
    socket.once('open', resolve)
    socket.on('error', reject)
    socket.once('close', () => clearTimeout(timer))
    socket.once('open', () => clearTimeout(timer))
  })
  const session = new Session((message) => socket.send(message))
  socket.on('message', (/** @type {Buffer} */ data) => {
    try {
      session.receive(String(data))
    } catch {
      socket.terminate()
    }
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  return { session, closed, close: () => socket.terminate() }
}

/**
 * Returns the error of an answer that is not whole in time. Neither Node's own limit nor that of `ws` would do:
 * they begin anew with each byte.
 * @param {string} host @param {number} port
 */
const noAnswer = (host, port) =>
  new Error(
    `${host}:${port} gives no whole answer in ${ANSWER_MS / 1000} s: it is not an inspector, or a debugger ` +
      'has stopped the process; name another process, or let the debugger go on',
  )

/** Returns the inspector's id of the main thread. @param {string} host @param {number} port @returns {Promise<string>} */
function targetId(host, port) {
  return new Promise((resolve, reject) => {
    const request = http.get({ host, port, path: '/json/list' }, (response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
        if (text.length > MAX_BYTES) request.destroy()
      })
      response.on('end', () => {
        const id = /"id":\s*"([\w-]+)"/.exec(text)?.[1]
        if (id === undefined) reject(new Error(`there is no inspector on ${host}:${port}`))
        else resolve(id)
      })
    })
    const timer = setTimeout(() => request.destroy(noAnswer(host, port)), ANSWER_MS)
    request.on('error', reject)
    request.on('close', () => {
      clearTimeout(timer)
      reject(new Error(`the inspector on ${host}:${port} closed`))
    })
  })
}

module.exports = { openSession, Session }
