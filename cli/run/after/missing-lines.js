'use strict'

// Names the Node processes without a recording in a few lines.

const path = require('node:path')
const { findMissing } = require('./missing.js')
const { formatCount, formatPath, formatTime, printable } = require('../../terminal/format.js')

/** @typedef {import('./missing.js').Missing} Missing */

/** Most lines about processes. */
const MAX_LINES = 6
/** Most pids in a line. */
const MAX_PIDS = 3
/** Most characters of a command. */
const MAX_COMMAND = 60
/** Most folders and files of a path. */
const MAX_SEGMENTS = 3

/**
 * Returns the text that names the processes; empty if none is missing.
 * @param {import('../watch/descendants.js').Descendant[]} nodes that were seen
 * @param {string[]} recordings files @param {string} cwd
 */
function missingText(nodes, recordings, cwd) {
  const { missing, total } = findMissing(nodes, recordings)
  if (missing.length === 0) return ''
  const groups = groupsOf(missing, cwd)
  const shown = groups.slice(0, MAX_LINES)
  const rest = groups.slice(MAX_LINES).flat().length
  return [
    `not recorded: ${missing.length} of ${formatCount(total, 'Node process', 'Node processes')}`,
    ...shown.map((group) => `  ${lineOf(group, cwd)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    '',
  ].join('\n')
}

/**
 * Groups the processes of one program with one cause, the largest groups first.
 * @param {Missing[]} missing @param {string} cwd
 */
function groupsOf(missing, cwd) {
  /** @type {Map<string, Missing[]>} */
  const groups = new Map()
  for (const one of missing) {
    const { node } = one.process
    const key = [programOf(node.words, cwd), node.under, one.why].join('\n')
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()].sort((a, b) => b.length - a.length || longest(b) - longest(a))
}

/** @param {Missing[]} group */
function longest(group) {
  return Math.max(...group.map(({ lifeMs }) => lifeMs))
}

/** @param {Missing[]} group @param {string} cwd */
function lineOf(group, cwd) {
  const { words, under } = group[0].process.node
  const commands = new Set(group.map(({ process }) => commandOf(process.node.words, cwd)))
  const command = commands.size === 1 ? [...commands][0] : `${programOf(words, cwd)} …`
  const facts = [...whoOf(group), ...(under === undefined ? [] : [`under ${under}`])]
  return printable(`${command} (${facts.join(', ')}): ${group[0].why}`)
}

/** Returns the pids, and how long they ran. @param {Missing[]} group */
function whoOf(group) {
  const pids = group.slice(0, MAX_PIDS).map(({ process }) => process.pid)
  const who = `pid ${pids.join(', ')}${group.length > MAX_PIDS ? ', …' : ''}`
  const isRunning = group.some((one) => one.isRunning)
  const life = `${group.length > 1 ? 'up to ' : ''}${formatTime(longest(group))}`
  return [
    ...(group.length > 1 ? [`${group.length} processes`] : []),
    who,
    isRunning ? `${life}, still running` : life,
  ]
}

/** Returns a command line, shortened. @param {string[]} words @param {string} cwd */
function commandOf([file, ...args], cwd) {
  return shortened([path.basename(file), ...args.map((arg) => lastSegments(arg, cwd))].join(' '))
}

/**
 * Returns the end of a long path, so that there is room for the arguments after the script.
 * @param {string} arg @param {string} cwd
 */
function lastSegments(arg, cwd) {
  const file = formatPath(arg, cwd)
  const segments = file.split('/')
  const isLong = !arg.startsWith('-') && segments.length > MAX_SEGMENTS
  return isLong ? `…/${segments.slice(-MAX_SEGMENTS).join('/')}` : file
}

/** Returns a command line up to the program's script. @param {string[]} words @param {string} cwd */
function programOf(words, cwd) {
  const script = words.findIndex((word, at) => at > 0 && !word.startsWith('-'))
  return commandOf(script === -1 ? words : words.slice(0, script + 1), cwd)
}

/** @param {string} text */
function shortened(text) {
  return text.length > MAX_COMMAND ? `${text.slice(0, MAX_COMMAND - 1)}…` : text
}

module.exports = { missingText }
