'use strict'

// Chooses the rows of the table of labels, and tells what a killed process was working for.

const { formatPlace, formatTime } = require('../terminal/format.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportLabel} ReportLabel */
/** @typedef {import('../../index.js').ReportInFlight} InFlight */
/** @typedef {import('./tables.js').CostTable} CostTable */

/** Labels that are named of a killed process. */
const MAX_NAMES = 3
/** The head of the column of functions. */
const HOTTEST = 'hottest function'
/** The key of requests. */
const HTTP = 'http'

/**
 * Returns the table of labels, without rows if nothing has labels.
 * @param {Report} report @param {{ whole: CostTable['whole'], hasCritical: boolean, cwd: string }} view
 * @returns {CostTable}
 */
function labelTable(report, { whole, hasCritical, cwd }) {
  const { labels, labelKey } = report
  const isBlocked = labels.some(({ blockedMs }) => blockedMs > 0)
  const others = [...(isBlocked ? ['blocked'] : []), ...(hasCritical ? ['critical'] : [])]
  const rows = labels.map((label) => ({
    name: label.name,
    place: hottestOf(label, cwd),
    ms: label.selfMs,
    others: [
      ...(isBlocked ? [formatTime(label.blockedMs)] : []),
      ...(hasCritical ? [formatTime(label.criticalMs)] : []),
    ],
  }))
  return {
    title: `work by ${labelKey ?? 'labels'}`,
    names: [labelKey ?? 'labels', HOTTEST],
    heads: ['self', ...others],
    whole,
    rows: hasLabels(report) ? rows : [],
  }
}

/** Returns the function with the most work for a label, by the name of its file. @param {Pick<ReportLabel, 'hottest'>} label @param {string} cwd */
function hottestOf({ hottest }, cwd) {
  if (hottest === undefined) return ''
  const place = formatPlace(hottest, cwd).split('/').at(-1) ?? ''
  return place === '' ? hottest.name : `${hottest.name} (${place})`
}

/** Returns whether any work has the labels of the list. @param {Report} report */
function hasLabels({ labels }) {
  return labels.some(({ labels }) => Object.keys(labels).length > 0)
}

/**
 * Returns a line for each process that was killed, or whose recording has no end: what it was working for,
 * the oldest first.
 * @param {Report} report @returns {string[]}
 */
function inFlightTexts({ processes }) {
  return processes.flatMap(({ command, pid, signal, inFlight }) => {
    if (inFlight === undefined) return []
    const where = processes.length === 1 ? '' : ` in ${command} (pid ${pid})`
    const when = signal ?? 'the end of the recording'
    const names = inFlight.slice(0, MAX_NAMES).map(nameOf)
    const rest = inFlight.length - names.length
    const more = rest > 0 ? `, and ${rest} more` : ''
    return [`in flight${where} at ${when}: ${names.join(', ')}${more}`]
  })
}

/** Returns `GET /report for 4.20 s`. @param {InFlight} inFlight */
function nameOf({ labels, name, ms }) {
  const { [HTTP]: request, ...others } = labels
  const isRequest = request !== undefined && Object.keys(others).length === 0
  return `${isRequest ? request : name} for ${formatTime(ms)}`
}

module.exports = { HOTTEST, hasLabels, hottestOf, labelTable, inFlightTexts }
