'use strict'

// Says why a process cannot be controlled.

const path = require('node:path')
const { ownerOf, takeSnapshot } = require('../system/index.js')
const { workingDirectory } = require('../terminal/format.js')
const { cutEnd } = require('../terminal/width.js')
const { commandOf } = require('./node-command.js')

/** Columns of a command. */
const COMMAND = 60
/** Other programs that run JavaScript. */
const OTHER_RUNTIME = /^(bun|deno)(\.exe)?$/i

/**
 * Why a word of the command line names no process that can be controlled.
 * @typedef {object} Refusal
 * @property {string} text
 * @property {number} [pid] of a Node process of this user that is not armed
 */

/** Says why a process without a control socket cannot be controlled. @param {number} pid @returns {Refusal} */
function explain(pid) {
  const name = `pid ${pid}`
  const owner = ownerOf(pid)
  const own = process.geteuid?.()
  if (owner !== undefined && owner !== own) {
    const example = `sudo -u '#${owner}' cpu-prof …`
    // Root reaches those that are armed.
    const state = own === 0 ? ' and is not armed' : ''
    return {
      text: `${name} belongs to another user (uid ${owner})${state}: run this as that user (${example})`,
    }
  }
  try {
    process.kill(pid, 0)
  } catch (error) {
    const isForeign = /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
    if (isForeign) return { text: `${name} belongs to another user: run this as that user` }
    return {
      text: `${name}: there is no such process; cpu-prof ps lists those that can be controlled`,
    }
  }
  return explainProgram(pid, name)
}

/** @param {number} pid @param {string} name @returns {Refusal} */
function explainProgram(pid, name) {
  const { executable, node } = programOf(pid)
  if (executable !== undefined && OTHER_RUNTIME.test(path.basename(executable))) {
    return { text: `${name} runs on ${path.basename(executable)}, which lets no addon profile` }
  }
  if (node !== undefined) {
    return { text: `${name} (${commandText(node.words)}) is not armed`, pid }
  }
  const program = executable === undefined ? '' : `, but runs ${executable}`
  return { text: `${name} is no Node process${program}` }
}

/** Returns a command line in a few columns. @param {string[]} words */
function commandText(words) {
  return cutEnd(commandOf(words, workingDirectory()), COMMAND)
}

/**
 * Returns what the system tells about the program of a process, and more of a Node process.
 * @param {number} pid
 * @returns {{ executable?: string, node?: import('../system/index.js').NodeFacts }}
 */
function programOf(pid) {
  try {
    const { readExecutable, readNode, readStat } = takeSnapshot()
    const executable = readExecutable(pid)
    const startMs = readStat(pid)?.startMs
    if (executable === undefined || startMs === undefined) return { executable }
    return { executable, node: readNode(pid, executable, startMs) }
  } catch {
    return {}
  }
}

module.exports = { commandText, explain, programOf }
