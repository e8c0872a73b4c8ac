'use strict'

// The spec files that failed in a run whose failures are judged at its end: see scripts/repeat.js.

const fs = require('node:fs')

/** @typedef {{ file: string, node: string, version: string, source?: string }} Failure a spec file, the Node that ran it, and the source of its recordings */

/** The file that keeps the failures; undefined where each failure is final. */
const { SPEC_FAILURES } = process.env

/** @param {Failure} failure */
function addFailure(failure) {
  if (SPEC_FAILURES) fs.appendFileSync(SPEC_FAILURES, `${JSON.stringify(failure)}\n`)
}

/** @returns {Failure[]} */
function readFailures() {
  if (!SPEC_FAILURES || !fs.existsSync(SPEC_FAILURES)) return []
  const lines = fs.readFileSync(SPEC_FAILURES, 'utf8').trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

module.exports = { addFailure, readFailures, isJudgedLater: Boolean(SPEC_FAILURES) }
