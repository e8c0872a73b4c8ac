'use strict'

// Records the workers that a recorded thread starts, without a preload of their own and without the
// program seeing it: a channel tells of a new worker, and an inspector session reaches into it,
// once, to load the addon there. The session lives only for as long as that takes: while there is
// one, the inspector keeps all that the program logs to the console.

const diagnosticsChannel = require('node:diagnostics_channel')

const CHANNEL = 'worker_threads'
/** Node 18 tells of a new worker by nothing but a session. */
const HAS_CHANNEL = Number(process.versions.node.split('.')[0]) >= 20
const DISCARD_MS = 1000
/** A worker can be reached before it has a `process`. */
const RETRY_MS = 5
const TRIES = 400

/**
 * Covers the calling thread's workers from now on. Gives what ends that.
 * @param {string} addon the addon's path
 * @param {number} recording the number of the recording that covers them
 * @returns {() => void}
 */
function cover(addon, recording) {
  if (!HAS_CHANNEL) return coverAll({ addon, recording })
  /** @param {any} message */
  const onWorker = ({ worker }) => {
    try {
      if (worker.threadId <= 0) return
      add(String(worker.threadId), { addon, recording })
      connect()
    } catch {
      // The permission model forbids it, say. Such a worker is not recorded.
    }
  }
  diagnosticsChannel.subscribe(CHANNEL, onWorker)
  return () => diagnosticsChannel.unsubscribe(CHANNEL, onWorker)
}

/** Keeps a session for as long as there is something to cover. @param {Order} order */
function coverAll(order) {
  // Those that are there by now are told of at once.
  connect()
  everyWorker = order
  const discard = setInterval(post, DISCARD_MS, 'Runtime.discardConsoleEntries').unref()
  return () => {
    clearInterval(discard)
    everyWorker = undefined
    disconnectIfIdle()
  }
}

/** What is to be run in a worker, by its thread id, until it was. @type {Map<string, Task>} */
const tasks = new Map()
/** @typedef {{ addon: string, recording: number }} Order */
/** @typedef {Order & { threadId: string, tries: number, sessionId?: string, message?: string }} Task */

/** @param {string} threadId @param {Order} order */
function add(threadId, order) {
  tasks.set(threadId, { ...order, threadId, tries: 0 })
}

/** What is to be run in every worker that comes. @type {Order | undefined} */
let everyWorker

/** @type {import('node:inspector').Session | undefined} */
let session

function connect() {
  if (session !== undefined) return
  const { Session } = require('node:inspector')
  session = new Session()
  session.connect()
  on('NodeWorker.attachedToWorker', ({ sessionId, workerInfo }) => {
    const { workerId } = workerInfo
    if (everyWorker !== undefined) add(workerId, everyWorker)
    const task = tasks.get(workerId)
    if (task === undefined) return post('NodeWorker.detach', { sessionId })
    task.sessionId = sessionId
    task.message = message(workerInfo, task)
    send(task)
  })
  on('NodeWorker.receivedMessageFromWorker', ({ sessionId, message }) => {
    const task = find(sessionId)
    if (task === undefined) return
    const isDone = JSON.parse(message).result?.result?.value === true
    if (isDone || ++task.tries === TRIES) forget(task)
    else setTimeout(send, RETRY_MS, task).unref()
  })
  on('NodeWorker.detachedFromWorker', ({ sessionId }) => {
    const task = find(sessionId)
    if (task !== undefined) forget(task)
  })
  post('NodeWorker.enable', { waitForDebuggerOnStart: false })
}

/** What a worker is to do. It uses nothing that must be loaded: the worker may just be starting. */
function message(/** @type {any} */ { workerId, url }, /** @type {Task} */ { addon, recording }) {
  const thread = { threadId: Number(workerId), execArgv: [], version: process.version }
  const values = [thread, recording, url].map((value) => JSON.stringify(value))
  const expression = `(() => {
    if (typeof process !== 'object' || typeof process.dlopen !== 'function') return false
    const loaded = { exports: {} }
    process.dlopen(loaded, ${JSON.stringify(addon)})
    loaded.exports.recordWorker(${values})
    return true
  })()`
  return JSON.stringify({
    id: 1,
    method: 'Runtime.evaluate',
    params: { expression, returnByValue: true },
  })
}

/** @param {Task} task */
function send({ sessionId, message }) {
  post('NodeWorker.sendMessageToWorker', { sessionId, message })
}

/** @param {string} sessionId */
function find(sessionId) {
  return [...tasks.values()].find((task) => task.sessionId === sessionId)
}

/** @param {Task} task */
function forget({ threadId, sessionId }) {
  tasks.delete(threadId)
  post('NodeWorker.detach', { sessionId })
  disconnectIfIdle()
}

function disconnectIfIdle() {
  if (tasks.size > 0 || everyWorker !== undefined) return
  post('Runtime.discardConsoleEntries')
  post('NodeWorker.disable')
  session?.disconnect()
  session = undefined
}

/** @param {string} event @param {(params: any) => void} listener */
function on(event, listener) {
  session?.on(/** @type {any} */ (event), ({ params }) => {
    try {
      listener(params)
    } catch {
      // Nothing here may become an error of the program's.
    }
  })
}

/** @param {string} method @param {object} [params] */
function post(method, params) {
  // Errors are answered to the callback: a worker that is gone, for instance.
  session?.post(/** @type {any} */ (method), params, () => {})
}

module.exports = { cover }
