'use strict'

// Asks what the headers of recordings tell about their processes.

const { loadTools } = require('../../lib/addon.js')

/**
 * What is known of one file of a recording.
 * @typedef {object} Header
 * @property {string} file
 * @property {number | null} pid as the process itself sees its id; null if nothing tells it
 * @property {number | null} startMs milliseconds after the system's start
 * @property {string | null} run the id of the run that the process belonged to
 * @property {string | null} recording what the segments of one recording have in common
 * @property {boolean} isGrowing whether a living process still writes the file
 */

/** Returns the headers of files, and of the files in folders. @param {string[]} files @returns {Header[]} */
const headersOf = (files) => JSON.parse(loadTools().cpuProfHeaders(files))

module.exports = { headersOf }
