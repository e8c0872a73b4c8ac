'use strict'

// Puts runs in the order of their commits.

/**
 * @typedef {object} OrderedRun
 * @property {string} id
 * @property {number} position index of its commit; of the run, if it has none
 * @property {string} name short hash of the commit, or the start of the run
 * @property {string | null} commit
 * @property {number | null} seq
 * @property {string | null} host
 * @property {number} busy microseconds
 * @property {number} interval microseconds
 */

/** Characters of a hash that are shown. */
const SHORT = 10

/**
 * Returns runs by commit, then by start. A run whose commit has no place in the order comes after the
 * commit of the run that started before it.
 * @param {Record<string, any>[]} rows by start @returns {OrderedRun[]}
 */
function ordered(rows) {
  let last = Number.NEGATIVE_INFINITY
  const placed = rows.map((row) => {
    const seq = row.commit_seq ?? last
    if (row.commit_seq != null) last = seq
    return { row, seq, isAfter: row.commit_seq == null }
  })
  // Commits of one place in the order, of several branches, are apart.
  const first = new Map()
  placed.forEach(({ row }, at) => {
    if (row.commit != null && !first.has(row.commit)) first.set(row.commit, at)
  })
  const keyed = placed.map((one, at) => ({ ...one, at: first.get(one.row.commit) ?? at }))
  const by = (/** @type {number} */ a, /** @type {number} */ b) => (a === b ? 0 : a < b ? -1 : 1)
  keyed.sort((a, b) => by(a.seq, b.seq) || Number(a.isAfter) - Number(b.isAfter) || a.at - b.at)
  let position = -1
  let before = {}
  return keyed.map(({ row, at, seq }) => {
    const key = row.commit ?? (row.commit_seq == null ? at : `seq ${seq}`)
    if (key !== before) position++
    before = key
    return {
      id: row.run_id,
      position,
      name: row.commit?.slice(0, SHORT) ?? String(row.started_at),
      commit: row.commit,
      seq: row.commit_seq,
      host: row.host,
      busy: row.busy_us,
      interval: row.interval_us,
    }
  })
}

module.exports = { ordered }
