'use strict'

// Decides whether a process that is not armed can be reached by its inspector, before anything is sent.

const { scriptAt } = require('../control/node-command.js')
const { commandText, programOf } = require('../control/refusal.js')
const { inspection } = require('../system/index.js')

const DEFAULT_PORT = 9229
/** The option that sets the port of the inspector, with `[host:]port`. */
const PORT = /^--(?:inspect|debug)(?:-port|-brk|-wait)?=(?:.*:)?(\d+)$/
const PERMISSION = /^--(experimental-)?permission$/

/** @typedef {import('../system/index.js').Listener} Listener */
/**
 * @typedef {object} Target a process that is not armed
 * @property {number} pid
 * @property {number} namespacePid the pid by which the process knows itself
 * @property {string} command
 * @property {number} port of its inspector; 0 for any
 * @property {Listener} [open] the inspector, if it is open already
 * @property {Listener[]} before where the process waits for connections already
 */

/** Looks at a process. Throws with the reason if its inspector cannot be used. @param {number} pid @returns {Target} */
function readTarget(pid) {
  if (inspection === undefined) {
    throw new Error('only on Linux can a process be armed that was not started so')
  }
  const { handlesDebugSignal, listenersOf, isPortTaken } = inspection
  const { node } = programOf(pid)
  if (node === undefined) throw new Error('it has ended')
  const { words, nodeOptions, namespacePid } = node
  const options = [...(nodeOptions ?? '').split(/\s+/), ...words.slice(1, scriptAt(words))]
  const before = orRefuse(() => listenersOf(pid))
  const target = { pid, namespacePid, command: commandText(words), port: portIn(options), before }
  const open = before.find(({ port }) => port === target.port)
  if (open !== undefined) return { ...target, open }
  refuseOptions(options)
  if (!orRefuse(() => handlesDebugSignal(pid))) {
    throw new Error('SIGUSR1 would end it: it has just started, or has switched the signal off')
  }
  if (isPortTaken(pid, target.port)) {
    throw new Error(
      `port ${target.port}, where its inspector would open, is used by another process`,
    )
  }
  return target
}

/** Returns the port where the inspector is or would be. @param {string[]} options */
function portIn(options) {
  const ports = options.flatMap((option) => PORT.exec(option)?.[1] ?? [])
  return Number(ports.at(-1) ?? DEFAULT_PORT)
}

/** @param {string[]} options */
function refuseOptions(options) {
  if (options.some((option) => PERMISSION.test(option))) {
    throw new Error(
      'it runs with --permission, under which Node has no inspector and loads no addon',
    )
  }
  if (options.includes('--disable-sigusr1')) {
    throw new Error('it runs with --disable-sigusr1, so it never opens its inspector')
  }
}

/** @template T @param {() => T} look @returns {T} */
function orRefuse(look) {
  try {
    return look()
  } catch {
    throw new Error(
      'the system does not show its signals and sockets to this user, or it has ended',
    )
  }
}

module.exports = { readTarget }
