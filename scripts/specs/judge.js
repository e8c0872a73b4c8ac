'use strict'

// Decides whether spec files that failed are unstable or broken.

/** @typedef {import('./failures.js').Failure} Failure */

/** Runs that must pass before a failure counts as unstable. */
const REPEATS = 3
/** Spec files that may be unstable in one run of everything. */
const MOST_UNSTABLE = 3

/**
 * Repeats failures and judges them.
 * @param {Failure[]} failures @param {(failure: Failure) => boolean} passes runs a file, and tells
 *   whether it passed
 */
function judge(failures, passes) {
  const isTooMany = new Set(failures.map(({ file }) => file)).size > MOST_UNSTABLE
  /** @type {string[]} */
  const unstable = []
  /** @type {string[]} */
  const broken = []
  for (const failure of failures) {
    const line = describe(failure)
    // The outcome is known, and repeating many files takes long.
    if (isTooMany) broken.push(`${line} (not repeated)`)
    else if (Array.from({ length: REPEATS }).every(() => passes(failure))) unstable.push(line)
    else broken.push(line)
  }
  return { unstable, broken, isTooMany }
}

/** @param {Failure} failure */
function describe({ file, version, source }) {
  return `${file} on Node ${version}${source === undefined ? '' : `, source ${source}`}`
}

module.exports = { judge, MOST_UNSTABLE, REPEATS }
