'use strict'

// Records the workers that a recorded thread creates in code, where no preload reaches them.

// A diagnostics channel announces a new worker. An inspector session then evaluates one expression
// in the worker, which calls the addon there.
//
// While a session exists, the inspector keeps what the program logs to the console, up to the next
// sweep or stop(). But when a session begins to watch workers, Node walks its list of them and tells of
// each by JavaScript, in which the end of another can change the list: then Node crashes (18 to 26). So
// the session stays open while workers come and go.

const diagnosticsChannel = require('node:diagnostics_channel')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
// Tests can replace the global timers with a fake clock.
const { setInterval, clearInterval, setTimeout } = require('node:timers')

const CHANNEL = 'worker_threads'
const MAJOR = Number(process.versions.node.split('.')[0])
/** Node 18 announces new workers only to an inspector session. */
const HAS_CHANNEL = MAJOR >= 20
/**
 * Before Node 22, Node aborts if a starting worker is terminated while it evaluates an expression.
 * Workers of these versions get the expression START_MS later, when they have started.
 */
const IS_SAFE_FROM_START = MAJOR >= 22
const START_MS = 250
const SWEEP_MS = 1000
/** Count of sweeps without a new worker after which the session is closed while workers live. */
const QUIET_SWEEPS = 10
/** A worker can be reached before it has a `process` object; then the expression is sent again. */
const RETRY_MS = 5
const MAX_ATTEMPTS = 400

/**
 * @typedef {object} Cover what a recording asks for its workers
 * @property {number} recording the number of the recording
 * @property {string} [binding] name of the addon's linked binding; without one, the samples come from
 *   the inspector
 */

/**
 * @typedef {object} Task a worker to be recorded
 * @property {Cover} cover
 * @property {number} threadId
 * @property {{ threadId: number }} [worker] the Worker object; its id is -1 once the thread ended
 * @property {number} attempts how often the expression was evaluated in vain
 * @property {string} [sessionId] the worker's id in the inspector session, once it is attached
 * @property {string} [message] the request that evaluates the expression
 */

/** Workers to be recorded, by thread id. @type {Map<number, Task>} */
const tasks = new Map()

/** The announced workers that live. @type {Set<{ threadId: number }>} */
const liveWorkers = new Set()

/** Count of the sweeps since the last new worker. */
let quietSweeps = 0

/** Covers every new worker: set on Node 18, where workers are not announced one by one. @type {Cover | undefined} */
let coverForAll

/** @type {import('node:inspector').Session | undefined} */
let session

/** @type {NodeJS.Timeout | undefined} */
let sweeper

/**
 * Records the workers that the calling thread creates from now on.
 * @param {Cover} cover
 * @returns {() => void} leaves later workers alone
 */
function attach(cover) {
  if (cover.binding === undefined && !IS_SAFE_FROM_START) return () => {}
  return HAS_CHANNEL ? attachToAnnounced(cover) : attachToAll(cover)
}

/** @param {Cover} cover */
function attachToAnnounced(cover) {
  /** @param {any} message */
  const onWorker = ({ worker }) =>
    guarded(() => {
      const { threadId } = worker
      if (threadId <= 0) return
      tasks.set(threadId, { cover, threadId, worker, attempts: 0 })
      liveWorkers.add(worker)
      quietSweeps = 0
      connect()
    })
  diagnosticsChannel.subscribe(CHANNEL, onWorker)
  return () => {
    diagnosticsChannel.unsubscribe(CHANNEL, onWorker)
    guarded(() => post('Runtime.discardConsoleEntries'))
  }
}

/** Keeps the session open until the recording stops. @param {Cover} cover */
function attachToAll(cover) {
  // Existing workers are reported during this call, and stay unrecorded.
  connect()
  coverForAll = cover
  return () => {
    coverForAll = undefined
    disconnectIfIdle()
  }
}

/** Opens the session, unless it is open. */
function connect() {
  if (session !== undefined) return
  const { Session } = require('node:inspector')
  session = new Session()
  session.connect()
  sweeper = setInterval(() => guarded(sweep), SWEEP_MS).unref()
  on('NodeWorker.attachedToWorker', onAttached)
  on('NodeWorker.receivedMessageFromWorker', onAnswer)
  on('NodeWorker.detachedFromWorker', onDetached)
  post('NodeWorker.enable', { waitForDebuggerOnStart: false })
}

/** @param {{ sessionId: string, workerInfo: { title: string, url: string } }} params */
function onAttached({ sessionId, workerInfo }) {
  const { threadId, name } = readTitle(workerInfo)
  if (coverForAll !== undefined) tasks.set(threadId, { cover: coverForAll, threadId, attempts: 0 })
  const task = tasks.get(threadId)
  if (task === undefined) return post('NodeWorker.detach', { sessionId })
  task.sessionId = sessionId
  task.message = evaluateRequest(expressionFor(task, name, workerInfo.url))
  if (IS_SAFE_FROM_START) send(task)
  else sendLater(task, START_MS)
}

/** @param {{ sessionId: string, message: string }} params */
function onAnswer({ sessionId, message }) {
  const task = taskOf(sessionId)
  if (task === undefined) return
  const isDone = JSON.parse(message).result?.result?.value === true
  if (isDone || ++task.attempts === MAX_ATTEMPTS) finish(task)
  else sendLater(task, RETRY_MS)
}

/** @param {{ sessionId: string }} params */
function onDetached({ sessionId }) {
  const task = taskOf(sessionId)
  if (task !== undefined) finish(task)
}

/** Reads the title: `[worker 1] name`. The session's own worker ids differ. @param {{ title: string }} info */
function readTitle({ title }) {
  const [, threadId, name = ''] = /^\[worker (\d+)\](.*)$/s.exec(title) ?? []
  return { threadId: Number(threadId), name }
}

/** @param {string} sessionId */
function taskOf(sessionId) {
  return [...tasks.values()].find((task) => task.sessionId === sessionId)
}

/**
 * Returns what the worker evaluates; the result is true once the recording could be started.
 * @param {Task} task @param {string} name the worker's name @param {string} script its script
 */
function expressionFor({ threadId, cover }, name, script) {
  const thread = { threadId, name, execArgv: [], version: process.version, lib: __dirname }
  const worker = JSON.stringify({ thread, recording: cover.recording, script })
  return cover.binding === undefined
    ? callRecordWorker(worker)
    : callBinding(worker, JSON.stringify(cover.binding))
}

/**
 * Returns an expression that starts the recording by the addon, as the parent has loaded it. It can
 * interrupt the worker in the middle of Node's own start-up, and while a library is being loaded:
 * loading one now would wait for the end of that for ever.
 * @param {string} worker @param {string} binding
 */
function callBinding(worker, binding) {
  return `typeof process === 'object' && typeof process._linkedBinding === 'function' &&
    (process._linkedBinding(${binding}).cpuProfRecordCovered({ worker: ${worker} }), true)`
}

/**
 * Returns an expression that starts the recording with the inspector source, which runs JavaScript.
 * It waits until Node has started the worker, which then has a script in argv. The evaluation can
 * interrupt Node's own JavaScript, so a microtask sets the immediate. The immediate loads the addon,
 * since a library that is being loaded can run microtasks too.
 * @param {string} worker
 */
function callRecordWorker(worker) {
  const file = JSON.stringify(path.join(__dirname, 'record.js'))
  return `typeof process === 'object' && process.argv.length > 1 &&
    ((async () => {
      await null
      const { setImmediate } = process.getBuiltinModule('timers')
      const record = () => {
        try {
          process.getBuiltinModule('module').createRequire(${file})(${file})
            .recordWorker(${worker})
        } catch {}
      }
      setImmediate(record).unref()
    })().catch(() => {}), true)`
}

/** @param {string} code */
function evaluateRequest(code) {
  // With the name of this file, profiles show the code as the profiler's own.
  const expression = `${code}\n//# sourceURL=${pathToFileURL(__filename)}`
  const params = { expression, returnByValue: true }
  return forWorker(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }))
}

/**
 * Returns a message for the inspector of a worker: Node passes only the characters of ASCII on as they are.
 * @param {string} json
 */
function forWorker(json) {
  return json.replace(
    /[\x80-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** @param {Task} task */
function send({ sessionId, message }) {
  post('NodeWorker.sendMessageToWorker', { sessionId, message })
}

/** @param {Task} task @param {number} ms */
function sendLater(task, ms) {
  inMicrotask(() => setTimeout(send, ms, task).unref())
}

/** Leaves a worker alone from now on. @param {Task} task */
function finish({ threadId, sessionId }) {
  tasks.delete(threadId)
  inMicrotask(() => post('NodeWorker.detach', { sessionId }))
}

/** Drops workers that ended before they were attached, and what the inspector kept of the log. */
function sweep() {
  post('Runtime.discardConsoleEntries')
  for (const { threadId, sessionId, worker } of tasks.values()) {
    const hasEnded = worker !== undefined && worker.threadId < 0
    if (sessionId === undefined && hasEnded) tasks.delete(threadId)
  }
  quietSweeps += 1
  for (const worker of liveWorkers) if (worker.threadId < 0) liveWorkers.delete(worker)
  disconnectIfIdle()
}

function disconnectIfIdle() {
  if (tasks.size > 0 || coverForAll !== undefined) return
  if (liveWorkers.size > 0 && quietSweeps < QUIET_SWEEPS) return
  liveWorkers.clear()
  clearInterval(sweeper)
  post('Runtime.discardConsoleEntries')
  post('NodeWorker.disable')
  session?.disconnect()
  session = undefined
}

/**
 * Calls a function in a microtask. Inspector events interrupt this thread's JavaScript anywhere,
 * Node's own included: setting a timer while Node walks its timer lists makes it loop forever.
 * @param {() => void} f
 */
async function inMicrotask(f) {
  await null
  guarded(f)
}

/** Calls a function, and hides its errors from the program. @param {() => void} f */
function guarded(f) {
  try {
    f()
  } catch {
    // The permission model can forbid an inspector session, for example. The worker stays unrecorded.
  }
}

/** @param {string} event @param {(params: any) => void} listener */
function on(event, listener) {
  session?.on(/** @type {any} */ (event), ({ params }) => guarded(() => listener(params)))
}

/** @param {string} method @param {object} [params] */
function post(method, params) {
  // With a callback, an error is an answer instead of an exception. A worker can be gone by now.
  session?.post(/** @type {any} */ (method), params, () => {})
}

module.exports = { attach, forWorker }
