'use strict'

// Notes in the recordings of a run what Node processes without a recording have used.

// A later report would only know the sum of all programs below a process.

const { loadTools } = require('../../../lib/addon.js')
const { TRACE } = require('../../../lib/settings.js')
const { findMissing } = require('./missing.js')
const { recordedProcesses } = require('./recorded.js')

/** @typedef {import('../watch/watch.js').Descendant} Descendant */
/** @typedef {import('../watch/watch.js').Seen} Seen */
/** @typedef {import('../prepare/recordings-dir.js').Header} Header */
/** @typedef {{ nodes: number, nodesMs: number, othersMs: number }} Programs without a recording, below one process */

/**
 * Notes the programs in the recording of the nearest recorded process above.
 * @param {Seen[]} nodes that were seen @param {Header[]} recordings
 */
function noteUnrecorded(nodes, recordings) {
  for (const [{ file }, { nodes: count, nodesMs, othersMs }] of programsBelow(nodes, recordings)) {
    loadTools().cpuProfNoteUnrecorded(file, count, nodesMs, othersMs)
  }
}

/**
 * Returns the programs without a recording by the recording that is to tell them, if Node processes are among them.
 * @param {Seen[]} nodes that were seen @param {Header[]} recordings
 */
function programsBelow(nodes, recordings) {
  /** @type {[Header, Programs][]} */
  const programs = []
  /** @type {Set<Descendant>} */
  const missing = new Set(findMissing(nodes, recordings))
  if (missing.size === 0) return programs
  const { find } = recordedProcesses(recordings)
  const recordingsOf = (/** @type {Descendant} */ { node, startMs }) =>
    node && find(node.namespacePid, startMs)
  for (const process of nodes) {
    // The last segment: the earlier ones can be removed by now.
    const header = recordingsOf(process)?.filter(isOfMainThread).at(-1)
    if (header === undefined) continue
    const sums = { nodes: 0, nodesMs: 0, othersMs: 0 }
    const below = [...process.children]
    for (const one of below) {
      if (recordingsOf(one) !== undefined) continue
      below.push(...one.children)
      if (missing.has(one)) sums.nodes++
      // The system counts the time of a child for its parent when the child has ended.
      if (!one.isRunning) sums[missing.has(one) ? 'nodesMs' : 'othersMs'] += one.cpuMs
    }
    if (sums.nodes > 0) programs.push([header, sums])
  }
  return programs
}

/** @param {Header} header */
const isOfMainThread = ({ file, thread }) => thread === 0 && file.endsWith(TRACE)

module.exports = { noteUnrecorded, programsBelow }
