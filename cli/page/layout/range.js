'use strict'

// Moves the visible part of a graph over the whole.

/** @typedef {{ from: number, to: number }} Range microseconds */

/** Returns a larger or smaller part. @param {Range} part @param {number} factor @param {number} [centre] what stays in its place, from 0 on the left to 1 */
function scaled({ from, to }, factor, centre = 0.5) {
  const at = from + (to - from) * centre
  return { from: at - (at - from) * factor, to: at + (to - at) * factor }
}

/** Returns a part of the same length, to the end of the whole at most. @param {Range} part @param {Range} whole @param {number} share of the part */
function moved({ from, to }, whole, share) {
  const by = Math.max(whole.from - from, Math.min(whole.to - to, share * (to - from)))
  return { from: from + by, to: to + by }
}

/** Returns what a part and the whole share. @param {Range} part @param {Range} whole */
function inside({ from, to }, whole) {
  return { from: Math.max(whole.from, from), to: Math.min(whole.to, to) }
}

module.exports = { scaled, moved, inside }
