'use strict'

// Finds the recordings of a process among those of a run.

const { START_TOLERANCE_MS } = require('../../system/index.js')

/** @typedef {import('../prepare/recordings-dir.js').Header} Header */

/**
 * Returns the count of the processes that have recordings, and a function that finds those of one: by its id, as
 * the process itself sees it, and by its start, because a later process can have the same id.
 * @param {Header[]} recordings @param {number} toleranceMs
 */
function recordedProcesses(recordings, toleranceMs = START_TOLERANCE_MS) {
  const isSame = (/** @type {number | null} */ a, /** @type {number | null} */ b) =>
    a === null || b === null || Math.abs(a - b) <= toleranceMs
  /** The processes by their ids. @type {Map<number | null, { startMs: number | null, headers: Header[] }[]>} */
  const byPid = new Map()
  const find = (/** @type {number | null} */ pid, /** @type {number | null} */ startMs) =>
    byPid.get(pid)?.find((process) => isSame(process.startMs, startMs))?.headers
  for (const header of recordings) {
    const { pid, startMs } = header
    const known = find(pid, startMs)
    if (known !== undefined) known.push(header)
    else byPid.set(pid, [...(byPid.get(pid) ?? []), { startMs, headers: [header] }])
  }
  return { count: [...byPid.values()].flat().length, find }
}

module.exports = { recordedProcesses }
