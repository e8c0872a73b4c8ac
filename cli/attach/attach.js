'use strict'

// Arms a process that was not started armed: opens its inspector, loads the package, and closes it again.

const { FAILED } = require('../exit-codes.js')
const { endBySignal, inspection, listSockets, onSignals } = require('../system/index.js')
const { printable, formatCount } = require('../terminal/format.js')
const { failWith, printStatus, writeStderr } = require('../terminal/output.js')
const { quoteAll } = require('../terminal/shell.js')
const { armThrough, PACKAGE } = require('./arming.js')
const { openSession } = require('./session.js')
const { readTarget } = require('./target.js')

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('../system/index.js').Listener} Listener */
/** @typedef {Awaited<ReturnType<typeof openSession>>} Connection */

/** How long the sessions with all threads may take: what answers could add threads without end. */
const SESSIONS_MS = 30_000
/** How long the inspector may take to open and to close, and the control socket to appear. */
const WAIT_MS = 5000
const LOOK_MS = 20
const NO_SOCKET =
  'its control socket does not appear where this user looks; its CPU_PROF_SOCKET switches the socket ' +
  'off, or names a folder that the variable has to name here too'

const NO_END =
  `its inspector has not come to an end in ${SESSIONS_MS / 1000} s: the process has very many threads, or the ` +
  'machine is overloaded; try again'

/** Says what arming a process would do, and the command that does it. Sets the exit code. @param {number} pid */
function tellPlan(pid) {
  let target
  try {
    target = readTarget(pid)
  } catch (error) {
    return failWith(error, { before: `pid ${pid} is not armed, and cannot be armed: ` })
  }
  const { open, port, command } = target
  const place = open ? `${open.host}:${open.port}` : `127.0.0.1:${port || '<any port>'}`
  const steps =
    open === undefined
      ? [
          `send SIGUSR1, on which Node opens its inspector on ${place}, and says so on the stderr of the process`,
          '(a program with its own handler for SIGUSR1 gets the signal instead)',
          `load ${PACKAGE} through the inspector, in all threads`,
          'close the inspector again; until then, whoever can connect to the port can run code in the process',
        ]
      : [
          `load ${PACKAGE} in all threads, through the inspector that is open on ${place}`,
          'leave the inspector open',
        ]
  printStatus(`pid ${pid} (${command}) is not armed; to arm it, cpu-prof would`)
  for (const step of steps) writeStderr(`  ${printable(step)}\n`)
  const words = ['cpu-prof', ...process.argv.slice(2), '--inspector']
  writeStderr(`to do this: ${printable(quoteAll(words))}\n`)
  process.exitCode = FAILED
}

/** Arms a process. Says why that is not possible, which sets the exit code. @param {number} pid */
async function arm(pid) {
  /** @type {NodeJS.Signals | undefined} */
  let ended
  const interruption = new AbortController()
  // The first signal must not leave the inspector open. The second one ends this process at once.
  const stopListening = onSignals((signal) => {
    if (ended === undefined) {
      ended = signal
      interruption.abort()
    } else {
      stopListening()
      endBySignal(signal)
    }
  })
  try {
    const target = readTarget(pid)
    printStatus(`arming pid ${pid} (${target.command}) through its inspector`)
    const threads = await armThreads(target, interruption.signal)
    const hasSocket = () =>
      listSockets(process.env).some((socket) => socket.pid === target.namespacePid)
    if (!(await until(hasSocket))) throw new Error(NO_SOCKET)
    printStatus(`armed ${formatCount(threads, 'thread')} of pid ${pid}`)
  } catch (error) {
    failWith(error, { before: `pid ${pid} cannot be armed: ` })
  } finally {
    stopListening()
    if (ended !== undefined) endBySignal(ended)
  }
}

/**
 * Arms the threads of a process. Returns their count.
 * @param {Target} target @param {AbortSignal} interruption
 */
async function armThreads(target, interruption) {
  const listener = target.open ?? (await openInspector(target))
  /** @type {Connection | undefined} */
  let connection
  const armAll = async () => {
    connection = await openSession(listener)
    return await armThrough(connection.session, target.namespacePid)
  }
  try {
    return await inTime(armAll(), interruption)
  } finally {
    if (target.open === undefined) await closeInspector(connection, target.pid, listener)
    connection?.close()
  }
}

/**
 * Returns what work resolves to. Throws if the work takes too long, or is interrupted.
 * @template T @param {Promise<T>} work @param {AbortSignal} interruption @returns {Promise<T>}
 */
function inTime(work, interruption) {
  return new Promise((resolve, reject) => {
    const giveUp = (/** @type {string} */ why) => reject(new Error(why))
    const timer = setTimeout(() => giveUp(NO_END), SESSIONS_MS)
    const interrupt = () => giveUp('a signal interrupted it')
    interruption.addEventListener('abort', interrupt)
    if (interruption.aborted) interrupt()
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Opens the inspector of a process. Returns where it waits. @param {Target} target */
async function openInspector({ pid, port, before }) {
  process.kill(pid, 'SIGUSR1')
  /** @type {Listener | undefined} */
  let found
  const isNew = (/** @type {Listener} */ listener) =>
    port === 0 ? !before.some((other) => other.port === listener.port) : listener.port === port
  await until(() => {
    found = inspection?.listenersOf(pid).find(isNew)
    return found !== undefined
  })
  if (found !== undefined) return found
  throw new Error(
    'its inspector does not open: the program has a handler of its own for SIGUSR1, or is in a long ' +
      'native call, after which the inspector opens and stays open, or had opened it on another port',
  )
}

/**
 * Closes the inspector, and says so if that fails.
 * @param {Connection | undefined} connection @param {number} pid @param {Listener} listener
 */
async function closeInspector(connection, pid, { host, port }) {
  // The connection ends instead of an answer.
  const answer = connection?.session.evaluate("require('inspector').close()").catch(() => {})
  await Promise.race([connection?.closed, answer])
  const isClosed = () => !inspection?.listenersOf(pid).some((other) => other.port === port)
  if (await until(isClosed)) return
  const how = "evaluate require('inspector').close() there, or end the process"
  printStatus(`the inspector of pid ${pid} is still open on ${host}:${port}; ${how}`)
}

/** Waits until something holds, for a limited time. Returns whether it does. @param {() => boolean} isTrue */
async function until(isTrue) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    if (isTrue()) return true
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return isTrue()
}

module.exports = { arm, tellPlan }
