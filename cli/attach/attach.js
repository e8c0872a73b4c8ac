'use strict'

// Arms a process that was not started armed: opens its inspector, loads the package, and closes it again.

const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { FAILED } = require('../exit-codes.js')
const { endBySignal, inspection, listSockets, onSignals } = require('../system/index.js')
const { printable, formatCount } = require('../terminal/format.js')
const { fail, messageOf, printStatus, writeStderr } = require('../terminal/output.js')
const { quoteAll } = require('../terminal/shell.js')
const { openSession } = require('./session.js')
const { readTarget } = require('./target.js')

/** @typedef {import('./target.js').Target} Target */

const PACKAGE = path.join(__dirname, '..', '..', 'index.js')
/** How long the inspector may take to open and to close, and the control socket to appear. */
const WAIT_MS = 5000
const LOOK_MS = 20

/** Says what arming a process would do, and the command that does it. Sets the exit code. @param {number} pid */
function tellPlan(pid) {
  let target
  try {
    target = readTarget(pid)
  } catch (error) {
    return fail(`pid ${pid} is not armed, and cannot be armed: ${messageOf(error)}`)
  }
  const { open, port, command } = target
  const place = open ? `${open.host}:${open.port}` : `127.0.0.1:${port || '<any port>'}`
  const steps =
    open === undefined
      ? [
          `send SIGUSR1, on which Node opens its inspector on ${place}, and says so on the stderr of the process`,
          '(a program with its own handler for SIGUSR1 gets the signal instead)',
          `load ${PACKAGE} through the inspector, in all threads`,
          'close the inspector again; until then, who can connect to the port can run code in the process',
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
  // A signal must not leave the inspector open.
  const stopListening = onSignals((signal) => {
    ended = signal
  })
  try {
    const target = readTarget(pid)
    printStatus(`arming pid ${pid} (${target.command}) through its inspector`)
    const threads = await armThreads(target)
    await until(() => listSockets(process.env).some((socket) => socket.pid === target.namespacePid))
    printStatus(`armed ${formatCount(threads, 'thread')} of pid ${pid}`)
  } catch (error) {
    fail(`pid ${pid} cannot be armed: ${messageOf(error)}`)
  } finally {
    stopListening()
    if (ended !== undefined) endBySignal(ended)
  }
}

/** Arms the threads of a process. Returns their count. @param {Target} target */
async function armThreads(target) {
  const listener = target.open ?? (await openInspector(target))
  const connection = await openSession(listener)
  try {
    return await armThrough(connection.session, target)
  } finally {
    if (target.open === undefined) await closeInspector(connection, target, listener)
    connection.close()
  }
}

/** Opens the inspector of a process. Returns where it waits. @param {Target} target */
async function openInspector({ pid, port, before }) {
  process.kill(pid, 'SIGUSR1')
  /** @type {import('../system/index.js').Listener | undefined} */
  let found
  const isNew = (/** @type {import('../system/index.js').Listener} */ listener) =>
    port === 0 ? !before.some((other) => other.port === listener.port) : listener.port === port
  await until(() => {
    found = inspection?.listenersOf(pid).find(isNew)
    return found !== undefined
  })
  if (found !== undefined) return found
  throw new Error(
    'its inspector does not open: the program has a handler of its own for SIGUSR1, or its inspector ' +
      'is open on another port',
  )
}

/** @param {Awaited<ReturnType<typeof openSession>>['session']} main @param {Target} target */
async function armThrough(main, { namespacePid }) {
  if ((await main.evaluate('process.pid')) !== namespacePid) {
    throw new Error('its port belongs to another process')
  }
  const sessions = await main.withWorkers().catch(() => [main])
  const expression = armingExpression()
  check(await main.evaluate(expression))
  const workers = sessions.slice(1).map((worker) => worker.evaluate(expression))
  const results = await Promise.allSettled(workers)
  const left = results.filter(({ status }) => status === 'rejected').length
  if (left > 0) printStatus(`${formatCount(left, 'worker')} gave no answer, and cannot be recorded`)
  return sessions.length - left
}

/** Returns an expression that arms a thread, and whose value is empty or names what is in the way. */
function armingExpression() {
  loadTools()
  const tools = Object.keys(require.cache).find((file) =>
    /cpu-prof-tools\.[\w-]+\.node$/.test(file),
  )
  const own = JSON.stringify(path.dirname(String(tools)))
  return `(() => {
    const path = require('path')
    const addons = Object.keys(require.cache).filter((file) => /^cpu-prof\\.[\\w-]+\\.node$/.test(path.basename(file)))
    const other = addons.find((file) => path.dirname(file) !== ${own})
    if (other) return 'other ' + other
    const prof = require(${JSON.stringify(PACKAGE)})
    if (prof.isRecording()) return 'recording'
    prof.start({ start: 'off' })
    return ''
  })()`
}

/** Throws if something is in the way of arming. @param {unknown} value of the expression */
function check(value) {
  if (value === 'recording') {
    throw new Error('it is being recorded already, from its start or by its own code')
  }
  const [, other] = /^other (.*)$/s.exec(String(value)) ?? []
  if (other !== undefined) {
    throw new Error(`it has loaded another copy of cpu-prof (${other}); use that one's command`)
  }
}

/**
 * Closes the inspector, and says so if that fails.
 * @param {Awaited<ReturnType<typeof openSession>>} connection @param {Target} target
 * @param {import('../system/index.js').Listener} listener
 */
async function closeInspector({ session, closed }, { pid }, { host, port }) {
  // The connection ends instead of an answer.
  const answer = session.evaluate("require('inspector').close()").catch(() => {})
  await Promise.race([closed, answer])
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
