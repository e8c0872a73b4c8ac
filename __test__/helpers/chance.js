'use strict'

/**
 * Returns whether some of all samples are more than a share, beyond chance: where a machine leaves V8 few samples, a
 * share of them says little.
 * @param {number} share @param {number} some @param {number} all
 */
function isMoreThan(share, some, all) {
  const expected = share * all
  return some > expected + 3 * Math.sqrt(expected)
}

module.exports = { isMoreThan }
