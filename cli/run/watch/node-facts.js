'use strict'

// Reads what is known about a Node process under a command, and of which run the process is.

const path = require('node:path')
const { variableOf } = require('../../../lib/settings.js')
const { PREFIX, outerRun } = require('../prepare/run-state-dir.js')
const { readExecutable, readIds, readStat, readVariable, readWords } = require('./proc.js')

/** @typedef {import('./descendants.js').Descendant} Descendant */

const NODE_NAMES = ['node', 'nodejs']
/** The folder of a run's state, at the start of a preload's path. */
const STATE_DIR = new RegExp(`/(${PREFIX}\\w+)/\\.\\./`)
/** A replaced file's path ends in this. */
const DELETED = / \(deleted\)$/
const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'busybox']

/**
 * @typedef {object} NodeFacts
 * @property {string} executable absolute path
 * @property {string[]} words of the command line
 * @property {number} namespacePid the pid by which the process knows itself
 * @property {number} user
 * @property {string | null} nodeOptions the variable; null without the variable
 * @property {'this' | 'other' | undefined} run the run whose preload is in NODE_OPTIONS
 * @property {string} [under] name of the last process above that had this run's preload, if the
 *   process does not
 */

/**
 * The folders by which a process is known as one of the run.
 * @typedef {object} RunDirs
 * @property {string} stateDir of the run, absolute
 * @property {string} recordingsDir where recordings are written, absolute
 */

/**
 * Returns what is known about a Node process; undefined if the process is none, or not yet.
 * @param {Descendant} descendant @param {RunDirs} runDirs @returns {NodeFacts | undefined}
 */
function readNode({ pid, parent, startMs }, runDirs) {
  const executable = readExecutable(pid)?.replace(DELETED, '')
  if (executable === undefined || !NODE_NAMES.includes(path.basename(executable))) return undefined
  const stat = readStat(pid)
  // The child of a Node process is a copy of Node until the child runs its own program.
  if (stat === undefined || stat.isCopy || stat.startMs !== startMs) return undefined
  const words = readWords(pid)
  const nodeOptions = readVariable(pid, 'NODE_OPTIONS')
  if (words.length === 0 || nodeOptions === undefined) return undefined
  // The process can have run its own program since the first look, and the words are of that program.
  if (readExecutable(pid)?.replace(DELETED, '') !== executable) return undefined
  const run = runOf(nodeOptions, runDirs)
  const facts = { executable, words, ...readIds(pid), nodeOptions }
  if (run !== undefined) return { ...facts, run }
  const holder = nearestHolder(parent, runDirs)
  return { ...facts, run: holder.run === 'other' ? 'other' : undefined, under: holder.name }
}

/**
 * Returns which run's preload is in NODE_OPTIONS. A run inside a run, with a folder of its own,
 * answers for its processes itself.
 * @param {string | null} nodeOptions @param {RunDirs} runDirs @returns {NodeFacts['run']}
 */
function runOf(nodeOptions, { stateDir, recordingsDir }) {
  if (nodeOptions === null) return undefined
  // The innermost run comes first.
  const name = STATE_DIR.exec(nodeOptions)?.[1]
  if (name === undefined) return undefined
  if (name === path.basename(stateDir)) return 'this'
  const run = outerRun({ NODE_OPTIONS: nodeOptions })
  return run?.variables[variableOf('dir')] === recordingsDir ? 'this' : 'other'
}

/**
 * Finds the nearest process above that has a run's preload. The process, or a shell below, took
 * the preload away.
 * @param {Descendant | undefined} from @param {RunDirs} runDirs
 */
function nearestHolder(from, runDirs) {
  /** @type {string | undefined} */
  let name
  for (let process = from; process !== undefined; process = process.parent) {
    const run =
      process.node?.run ?? runOf(readVariable(process.pid, 'NODE_OPTIONS') ?? null, runDirs)
    if (run === undefined) continue
    name = nameOf(process)
    // A shell says little: the program that started the shell is better known.
    if (run === 'other' || !SHELLS.includes(name)) return { run, name }
  }
  return { run: undefined, name }
}

/** Returns the name of a process for people. @param {Descendant} process */
function nameOf({ pid, name, node }) {
  if (node === undefined) return readStat(pid)?.name ?? name
  const script = node.words.slice(1).find((word) => !word.startsWith('-'))
  // A program that sets its title has a single word: `npm run build`.
  const title = node.words[0].split(' ')[0]
  return path.basename(script ?? title).replace(/\.[cm]?js$/, '')
}

module.exports = { readNode }
