'use strict'

// Records the workers that a recorded thread starts, without a preload of their own and without the
// program seeing it: a channel tells of a new worker, and an inspector session reaches into it,
// once, to load the addon there. The session lives only for as long as that takes: while there is
// one, the inspector keeps all that the program logs to the console.

const diagnosticsChannel = require('node:diagnostics_channel')
const path = require('node:path')
// A test's clock can stand in for the global ones.
const { setInterval, clearInterval, setTimeout } = require('node:timers')

const CHANNEL = 'worker_threads'
const MAJOR = Number(process.versions.node.split('.')[0])
/** Node 18 tells of a new worker by nothing but a session. */
const HAS_CHANNEL = MAJOR >= 20
/**
 * Before, Node aborts if a worker that is just starting is terminated in the very moment in which it
 * runs what it was sent. So it is left alone for as long as a start takes.
 */
const IS_SAFE_FROM_START = MAJOR >= 22
const START_MS = 250
const TIDY_MS = 1000
/** A worker can be reached before it has a `process`. */
const RETRY_MS = 5
const TRIES = 400

/** @typedef {{ addon: string, recording: number, isInspector: boolean }} Order for whom is recorded, and whether it is JavaScript that samples */
/** @typedef {{ order: Order, threadId: number, worker?: { threadId: number }, tries: number, sessionId?: string, message?: string }} Task */

/**
 * Covers the calling thread's workers from now on. Gives what ends that.
 * @param {Order} order
 * @returns {() => void}
 */
function cover(order) {
  if (order.isInspector && !IS_SAFE_FROM_START) return () => {}
  if (!HAS_CHANNEL) return coverAll(order)
  /** @param {any} message */
  const onWorker = ({ worker }) =>
    guarded(() => {
      if (worker.threadId <= 0) return
      tasks.set(worker.threadId, { order, threadId: worker.threadId, worker, tries: 0 })
      connect()
    })
  diagnosticsChannel.subscribe(CHANNEL, onWorker)
  return () => diagnosticsChannel.unsubscribe(CHANNEL, onWorker)
}

/** Keeps a session for as long as there is something to cover. @param {Order} order */
function coverAll(order) {
  // Those that are there by now are told of at once.
  connect()
  everyWorker = order
  return () => {
    everyWorker = undefined
    disconnectIfIdle()
  }
}

/** What is to be run in a worker, by its thread id, until it was. @type {Map<number, Task>} */
const tasks = new Map()

/** What is to be run in every worker that comes. @type {Order | undefined} */
let everyWorker

/** @type {import('node:inspector').Session | undefined} */
let session

/** @type {NodeJS.Timeout | undefined} */
let tidying

function connect() {
  if (session !== undefined) return
  const { Session } = require('node:inspector')
  session = new Session()
  session.connect()
  tidying = setInterval(() => guarded(tidy), TIDY_MS).unref()
  on('NodeWorker.attachedToWorker', ({ sessionId, workerInfo }) => {
    const threadId = threadIdOf(workerInfo)
    if (everyWorker !== undefined) tasks.set(threadId, { order: everyWorker, threadId, tries: 0 })
    const task = tasks.get(threadId)
    if (task === undefined) return post('NodeWorker.detach', { sessionId })
    task.sessionId = sessionId
    const thread = { threadId, execArgv: [], version: process.version }
    const { addon, recording, isInspector } = task.order
    const worker = JSON.stringify({ thread, recording, script: workerInfo.url })
    const expression = isInspector
      ? whereJavaScriptSamples(worker)
      : whereTheAddonSamples(worker, addon)
    task.message = JSON.stringify({
      id: 1,
      method: 'Runtime.evaluate',
      params: { expression, returnByValue: true },
    })
    if (IS_SAFE_FROM_START) send(task)
    else sendLater(task, START_MS)
  })
  on('NodeWorker.receivedMessageFromWorker', ({ sessionId, message }) => {
    const task = find(sessionId)
    if (task === undefined) return
    const isDone = JSON.parse(message).result?.result?.value === true
    if (isDone || ++task.tries === TRIES) forget(task)
    else sendLater(task, RETRY_MS)
  })
  on('NodeWorker.detachedFromWorker', ({ sessionId }) => {
    const task = find(sessionId)
    if (task !== undefined) forget(task)
  })
  post('NodeWorker.enable', { waitForDebuggerOnStart: false })
}

/** The session's own ids count the workers that it has met. @param {{ title: string }} info */
function threadIdOf({ title }) {
  return Number(/^\[worker (\d+)\]/.exec(title)?.[1])
}

/** Forgets what was logged, and workers that ended before they were met. */
function tidy() {
  post('Runtime.discardConsoleEntries')
  for (const task of tasks.values()) {
    if (task.sessionId === undefined && task.worker !== undefined && task.worker.threadId < 0) {
      tasks.delete(task.threadId)
    }
  }
  disconnectIfIdle()
}

// What a worker is to run; it gives true once it could.

/** One call, as short as it can be: the worker may just be starting. @param {string} worker @param {string} addon */
function whereTheAddonSamples(worker, addon) {
  return `typeof process === 'object' && typeof process.dlopen === 'function' &&
    (process.dlopen({ exports: { coveredWorker: ${worker} } }, ${JSON.stringify(addon)}), true)`
}

/**
 * Node has started the worker once that has a script, and what has a state waits for a microtask
 * there too. @param {string} worker
 */
function whereJavaScriptSamples(worker) {
  const binding = JSON.stringify(path.join(__dirname, 'addon.js'))
  return `typeof process === 'object' && process.argv.length > 1 &&
    ((async () => {
      await null
      process.getBuiltinModule('module').createRequire(${binding})(${binding})
        .recordWorker(${worker})
    })().catch(() => {}), true)`
}

/** @param {Task} task */
function send({ sessionId, message }) {
  post('NodeWorker.sendMessageToWorker', { sessionId, message })
}

/** @param {Task} task @param {number} ms */
function sendLater(task, ms) {
  whenSafe(() => setTimeout(send, ms, task).unref())
}

/** @param {string} sessionId */
function find(sessionId) {
  return [...tasks.values()].find((task) => task.sessionId === sessionId)
}

/** @param {Task} task */
function forget({ threadId, sessionId }) {
  tasks.delete(threadId)
  whenSafe(() => {
    post('NodeWorker.detach', { sessionId })
    disconnectIfIdle()
  })
}

function disconnectIfIdle() {
  if (tasks.size > 0 || everyWorker !== undefined) return
  clearInterval(tidying)
  post('Runtime.discardConsoleEntries')
  post('NodeWorker.disable')
  session?.disconnect()
  session = undefined
}

/**
 * Events come in the midst of this thread's JavaScript, Node's own too, and so does what they call.
 * What has a state of Node's waits for a microtask: a timer that is set while Node sorts its timers
 * has it go through them for ever.
 * @param {() => void} f
 */
async function whenSafe(f) {
  await null
  guarded(f)
}

/** Nothing here may become an error of the program's. @param {() => void} f */
function guarded(f) {
  try {
    f()
  } catch {
    // The permission model forbids it, say. Such a worker is not recorded.
  }
}

/** @param {string} event @param {(params: any) => void} listener */
function on(event, listener) {
  session?.on(/** @type {any} */ (event), ({ params }) => guarded(() => listener(params)))
}

/** @param {string} method @param {object} [params] */
function post(method, params) {
  // Errors are answered to the callback: a worker that is gone, for instance.
  session?.post(/** @type {any} */ (method), params, () => {})
}

module.exports = { cover }
