'use strict'

// Makes the tables of a run.

const { selectionOf } = require('@org/cpu-prof/own-packages').offline
const { resultOf } = require('@org/cpu-prof/own-packages').jsonResult
const { loadFleet } = require('../addon.js')

/**
 * @typedef {object} LakeFacts what the user knows about a run; what is missing is not known
 * @property {string} repo `owner/name`
 * @property {string} [commit] hash
 * @property {number} [commitSeq] count of commits up to this one
 * @property {string} [branch]
 * @property {string} [job]
 * @property {string} [host]
 * @property {string} [node] version; default: that of the recordings
 * @property {string} [root] of the repository, where the run was recorded: files are named from there
 */

/**
 * @typedef {object} LakeTables the tables of a run
 * @property {string} stem name of the run's files in a lake
 * @property {string} runId
 * @property {string} date of the start, UTC
 * @property {string} startedAt ISO 8601, UTC
 * @property {number} functions count
 * @property {number} samples count
 * @property {number} durationMs
 * @property {number} bytes size of all tables
 * @property {string[]} repaired
 * @property {{ file: string, reason: string }[]} failed
 * @property {string[]} notes
 */

/**
 * Writes the tables of a run for a lake into a folder.
 * @param {string | string[]} inputs @param {LakeFacts} facts @param {string} folder that exists
 * @param {import('@org/cpu-prof').Selection} [selection]
 * @returns {Promise<LakeTables>}
 */
async function lakeTables(inputs, facts, folder, selection = {}) {
  const [paths, json, filters] = [[inputs].flat(), JSON.stringify(facts), selectionOf(selection)]
  return resultOf(() => loadFleet().cpuProfLakeTables(paths, json, folder, filters))
}

module.exports = { lakeTables }
