'use strict'

// Ends the process of a command that is over.

const { loadedTools } = require('../lib/addon.js')

/** Options of Node that leave nothing to do at its end: limits, and what is turned off. */
const HARMLESS = /^--(max|no)[-_]/
/** Variables for which Node writes files at its end. */
const WRITTEN_AT_END = ['NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE']

/**
 * Ends this process as soon as nothing keeps it alive, without Node's own end. Node waits there for its
 * threads that compile, and where one of them waits for a garbage collection of the main thread, both wait for
 * ever (nodejs/node#54918). Node does so first when its event loop is empty, before the events `beforeExit` and
 * `exit`, so this looks at the loop instead.
 *
 * Leaves a process to Node in which something else may have work at the end, and one that has not loaded the
 * addon: a command that prints its help would be slower for it.
 */
function endWhenOver() {
  const tools = loadedTools()
  if (tools === undefined || hasWorkAtEnd(process)) return
  const look = () => {
    // Also takes away the handle by which Node kept the loop alive for this call.
    const next = setImmediate(look).unref()
    const turn = tools.cpuProfNextTurn()
    // What is being closed keeps the loop alive up to the end of this turn only. Where the loop waits, the next
    // look comes with the next event.
    if (turn === 'at once') next.ref()
    if (turn === 'at once' || turn === 'later') return
    clearImmediate(next)
    // Only Node itself knows when to emit `beforeExit`.
    if (turn === 'never' && process.listenerCount('beforeExit') === 0) end(tools)
  }
  setImmediate(look)
}

/** Ends this process, after its listeners of `exit`. @param {import('../lib/addon.js').Tools} tools */
function end(tools) {
  const endNow = () => {
    // A listener that came later has not been called yet.
    if (process.listeners('exit').at(-1) === endNow)
      tools.cpuProfEndNow(Number(process.exitCode ?? 0))
  }
  process.on('exit', endNow)
  // Node ends the process if the addon does not: a listener can have written what is not out yet.
  process.exit()
}

/**
 * Returns whether Node, or something that it was told to load, may have work at the end of the process, such as
 * writing a profile.
 * @param {{ execArgv: string[], env: NodeJS.ProcessEnv }} process
 */
function hasWorkAtEnd({ execArgv, env }) {
  const options = [...execArgv, ...(env.NODE_OPTIONS ?? '').split(/\s+/)].filter(Boolean)
  return (
    !options.every((option) => HARMLESS.test(option)) ||
    WRITTEN_AT_END.some((name) => env[name] !== undefined)
  )
}

module.exports = { endWhenOver }
