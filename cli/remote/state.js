'use strict'

// Describes the state of an armed process in a few words.

const path = require('node:path')
const { formatTime } = require('../terminal/format.js')

/** @typedef {import('../control/processes.js').Armed} Armed */
/** @typedef {import('../control/status.js').Recording} Recording */

/** Returns the state of a process. @param {Armed} armed @param {number} nowMs */
function stateOf({ status, problem }, nowMs) {
  if (status === undefined) return problem ?? ''
  const { recording, conditions } = status
  if (recording !== null) return `recording ${formatTime(Math.max(0, nowMs - recording.sinceMs))}`
  return conditions.length > 0 ? `armed: ${conditions.join(', ')}` : 'armed'
}

/** Returns who or what started a recording, and when it ends by itself. @param {Recording} recording @param {number} nowMs */
function detailsOf({ by, reason, forMs, sinceMs }, nowMs) {
  const cause = by ?? reason
  return [
    ...(cause === undefined ? [] : [`started by ${cause}`]),
    ...(forMs === undefined ? [] : [`ends in ${formatTime(Math.max(0, sinceMs + forMs - nowMs))}`]),
  ].join(', ')
}

/** Returns the folder into which a process records, or would. @param {import('../control/status.js').Status} status */
function folderOf({ recording, dir }) {
  const [file] = recording?.files ?? []
  return file === undefined ? dir : path.dirname(file)
}

module.exports = { stateOf, detailsOf, folderOf }
