'use strict'

// Follows recordings that grow: shows what their threads did in the last seconds.

const { loadTools } = require('../../lib/addon.js')
const { resultOf } = require('../../lib/json-result.js')
const { selectionOf } = require('../../lib/offline.js')

/**
 * What a look shows. Names and times are those of `report` of the same seconds.
 * @typedef {object} LiveView
 * @property {number} fromMs start of what the look shows, after the start of the first recording
 * @property {number} toMs end of it: the last event of any recording
 * @property {number} silentMs time since the recordings last grew
 * @property {number} growing count of the recordings that grow, or can grow
 * @property {number} recordings count of all recordings, also of those that have ended or have no event so far
 * @property {LiveProcess[]} processes
 * @property {import('../../index.js').ReportTimes} totals
 * @property {LiveFunction[]} functions empty unless the rows are by function
 * @property {LiveFile[]} files likewise
 * @property {LivePackage[]} packages likewise
 * @property {LiveLabel[]} labels likewise; empty if no sample has labels
 * @property {{ file: string, reason: string }[]} failed files that cannot be followed
 * @property {string[]} notes
 *
 * @typedef {import('../../index.js').ReportTimes & {
 *   threadId: number, name: string, samples: number
 * }} LiveThread
 *
 * @typedef {object} LiveProcess
 * @property {number} pid
 * @property {string} name
 * @property {string} command
 * @property {{ javascriptMs: number, nativeMs: number }} [cpu] CPU time by the system's count
 * @property {boolean} launcher whether the rows are without this process, which only starts others
 * @property {LiveThread[]} threads
 *
 * @typedef {object} LiveCost
 * @property {number} selfMs
 * @property {number} totalMs
 * @property {number} blockedMs
 * @property {number} waitingMs
 *
 * @typedef {LiveCost & { name: string, file: string, line: number, column: number, package: string }} LiveFunction
 * @typedef {LiveCost & { file: string, package: string }} LiveFile
 * @typedef {LiveCost & { name: string }} LivePackage
 * @typedef {LiveCost & Pick<import('../../index.js').ReportLabel, 'name' | 'hottest'>} LiveLabel
 *
 * @typedef {'label' | `label:${string}`} LabelKind
 * @typedef {typeof import('../commands/top.js').KINDS[number] | LabelKind} LiveKind
 */

class Follower {
  /** @param {string[] | (() => Promise<string[]>)} inputs files and folders, found anew at each look */
  constructor(inputs) {
    this.inputs = typeof inputs === 'function' ? inputs : async () => inputs
    this.addon = loadTools()
    this.state = this.addon.cpuProfFollow()
  }

  /**
   * Looks at the last seconds. `limit` is the count of the rows by self time, and of those by total time.
   * @param {{ seconds?: number, by?: LiveKind, limit?: number } & import('../../index.js').Selection} [options]
   *   with the filters of all tools
   * @returns {Promise<LiveView>}
   */
  async look({ seconds = 10, by = 'function', limit = 20, ...filters } = {}) {
    const selection = selectionOf(filters)
    const inputs = await this.inputs()
    return resultOf(() =>
      this.addon.cpuProfFollowLook(this.state, inputs, seconds, by, limit, selection),
    )
  }
}

module.exports = { Follower }
