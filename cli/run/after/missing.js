'use strict'

// Names the Node processes under a run that left no recording, in a few lines.

const { TRACE } = require('../../../lib/settings.js')
const { commandOf, scriptAt } = require('../../control/node-command.js')
const { formatCount, formatTime, printable } = require('../../terminal/format.js')
const { cutEnd } = require('../../terminal/width.js')
const { recordedProcesses } = require('./recorded.js')

/** @typedef {import('../watch/watch.js').Seen} Seen */
/** @typedef {import('../prepare/recordings-dir.js').Header} Header */

/** With these options Node runs no program in this process, and preloads nothing. */
const WITHOUT_PROGRAM =
  /^(-v|--(version|v8-options|completion-bash|experimental-sea-config|build-sea|run|watch|watch-path))(=|$)/
/** Most lines about processes. */
const MAX_LINES = 6
/** Columns of a command. */
const COMMAND = 60

/**
 * Returns the text that names the processes; empty if none is missing, or if a recording does not tell
 * its process.
 * @param {Seen[]} nodes that were seen @param {Header[]} recordings @param {string} cwd
 * @param {number} [toleranceMs]
 */
function missingText(nodes, recordings, cwd, toleranceMs) {
  const missing = findMissing(nodes, recordings, toleranceMs)
  if (missing.length === 0) return ''
  const { count } = recordedProcesses(recordings, toleranceMs)
  /** The processes of one program with one cause. @type {Map<string, Seen[]>} */
  const groups = new Map()
  for (const one of missing) {
    const { words, under } = one.node
    const key = [words.slice(0, scriptAt(words) + 1), under, whyMissing(one.node)].join('\n')
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const shown = [...groups.values()].slice(0, MAX_LINES)
  const rest = missing.length - shown.flat().length
  return [
    `not recorded: ${missing.length} of ${formatCount(count + missing.length, 'Node process', 'Node processes')}`,
    ...shown.map((group) => `  ${lineOf(group, cwd)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    '',
  ].join('\n')
}

/**
 * Returns the processes without a recording, those that lived longest first; none if a recording does not tell its
 * process.
 * @param {Seen[]} nodes that were seen @param {Header[]} recordings @param {number} [toleranceMs]
 */
function findMissing(nodes, recordings, toleranceMs) {
  if (recordings.some(({ pid }) => pid === null)) return []
  const { find } = recordedProcesses(recordings, toleranceMs)
  // A `.cpuprofile` is written at the end: a killed process has none.
  const isStreamed = recordings.every(({ file }) => file.endsWith(TRACE))
  const mayHaveIt = (/** @type {Seen['node']} */ { run, nodeOptions }) =>
    run === 'this' || nodeOptions === undefined
  const isMissing = (/** @type {Seen} */ { node, startMs, isRunning, hasNone }) =>
    find(node.namespacePid, startMs) === undefined &&
    !runsNoProgram(node.words) &&
    // The preload of a running process may be ahead.
    !(mayHaveIt(node) && ((isRunning && !hasNone) || !isStreamed))
  return nodes.filter(isMissing).sort((a, b) => b.lifeMs - a.lifeMs)
}

/** Names the process of a group that lived longest. @param {Seen[]} group @param {string} cwd */
function lineOf([{ pid, lifeMs, node }, ...others], cwd) {
  const command = cutEnd(commandOf(node.words, cwd), COMMAND)
  const facts = [`pid ${pid}`, formatTime(lifeMs), ...(node.under ? [`under ${node.under}`] : [])]
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return printable(`${command} (${facts.join(', ')})${more}: ${whyMissing(node)}`)
}

/** @param {string[]} words */
function runsNoProgram(words) {
  return words.slice(1, scriptAt(words)).some((word) => WITHOUT_PROGRAM.test(word))
}

/** Returns the likely cause, and what to do. @param {Seen['node']} node */
function whyMissing({ nodeOptions, run, under }) {
  if (nodeOptions === undefined) {
    return 'the system does not tell the cause: no NODE_OPTIONS, a failed preload, no program to run, another run, or another program called node'
  }
  if (nodeOptions === null) {
    const todo = under === 'turbo' ? 'start turbo with --env-mode=loose' : 'pass NODE_OPTIONS on'
    return `its environment has no NODE_OPTIONS; ${todo}`
  }
  if (run === undefined) {
    return 'its NODE_OPTIONS was replaced; add to the variable instead of replacing it'
  }
  return 'the preload failed (a line on stderr says why), another user runs it, or the process ended before'
}

module.exports = { findMissing, missingText, runsNoProgram }
