'use strict'

// The sentences about runs that were added to a lake.

const { formatBytes, formatCount } = require('@org/cpu-prof/own-packages').format

/** Digits of a commit that are shown. */
const SHORT = 12

/**
 * Returns what became of a run, in one line.
 * @param {import('./add-run.js').Added} added @param {string} lake as the user knows it
 */
function addedText({ outcome, facts, tables }, lake) {
  const { runId, bytes, functions, samples } = tables
  const what = [
    facts.repo,
    ...(facts.commit === undefined ? [] : [facts.commit.slice(0, SHORT)]),
    ...(facts.branch === undefined ? [] : [facts.branch]),
  ].join(' ')
  if (outcome === 'present') return `already in the lake ${lake}: run ${runId} (${what})`
  const size = `${formatBytes(bytes)}, ${formatCount(functions, 'function')}, ${formatCount(samples, 'sample')}`
  return `${outcome} in the lake ${lake}: run ${runId} (${what}; ${size})`.replace(
    /^added in/,
    'added to',
  )
}

module.exports = { addedText }
