'use strict'

// Arms the threads of a process through sessions with its inspector.

const path = require('node:path')
const { loadTools, VERSION } = require('../../lib/addon.js')
const { formatCount } = require('../terminal/format.js')
const { printStatus } = require('../terminal/output.js')

/** @typedef {import('./session.js').Session} Session */

const PACKAGE = path.join(__dirname, '..', '..', 'index.js')

/**
 * Arms all threads. Returns their count. Throws with the reason if the main thread cannot be armed.
 * @param {Session} main @param {number} pid by which the process knows itself
 */
async function armThrough(main, pid) {
  if ((await main.evaluate('process.pid')) !== pid) {
    throw new Error('its port belongs to another process')
  }
  const expression = armingExpression()
  check(await main.evaluate(expression))
  const [, ...workers] = await main.withWorkers().catch(() => [main])
  const results = await Promise.allSettled(workers.map((worker) => worker.evaluate(expression)))
  const left = results.filter(({ status }) => status === 'rejected').length
  if (left > 0) printStatus(`${formatCount(left, 'worker')} gave no answer, and cannot be recorded`)
  return 1 + workers.length - left
}

/** Returns an expression that arms a thread. Its value is empty, or what is in the way. */
function armingExpression() {
  loadTools()
  const tools = Object.keys(require.cache).find((file) =>
    /cpu-prof-tools\.[\w-]+\.node$/.test(file),
  )
  const folder = path.dirname(String(tools))
  return `(() => {
    const path = require('path')
    const addon = Object.keys(require.cache).find((file) => /^cpu-prof\\.[\\w-]+\\.node$/.test(path.basename(file)))
    if (addon && path.dirname(addon) !== ${JSON.stringify(folder)}) return { copy: addon }
    const version = addon && require.cache[addon].exports.cpuProfVersion()
    if (addon && version !== ${JSON.stringify(VERSION)}) return { version }
    const prof = require(${JSON.stringify(PACKAGE)})
    if (prof.isRecording()) return { isRecording: true }
    prof.start({ start: 'off' })
    return {}
  })()`
}

/** Throws if something is in the way of arming. @param {any} value of the expression */
function check({ copy, version, isRecording }) {
  if (copy !== undefined) {
    throw new Error(`it has loaded another copy of cpu-prof (${copy}); use that one's command`)
  }
  if (version !== undefined) {
    throw new Error(
      `it has loaded version ${version} of cpu-prof, and this is ${VERSION}; start the program again`,
    )
  }
  if (isRecording) {
    throw new Error('it is being recorded already, from its start or by its own code')
  }
}

module.exports = { armThrough, PACKAGE }
