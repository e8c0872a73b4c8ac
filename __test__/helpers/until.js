'use strict'

const assert = require('node:assert/strict')

const LIMIT_MS = 30_000
const LOOK_MS = 10

/**
 * Waits until something holds. Fails if it does not within the limit.
 * @param {() => boolean} isTrue @param {string} [problem] what the failure says
 */
async function until(isTrue, problem = `it never holds: ${isTrue}`) {
  for (const end = Date.now() + LIMIT_MS; !isTrue(); ) {
    assert.ok(Date.now() < end, problem)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

module.exports = { until }
