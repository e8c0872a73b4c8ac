'use strict'

// Places the boxes of a flame graph in pixels, finds them again, and zooms.

/** @typedef {{ from: number, to: number }} Range microseconds */
/**
 * @typedef {object} Box
 * @property {number} item the function
 * @property {number} node of the call tree; -1 where the box stands for those of its function
 * @property {number} from microseconds
 * @property {number} to
 * @property {number} [state] what the thread did, where that is not work
 * @property {number} [label] for what the thread worked, in the graph by time
 *
 * @typedef {Box[][]} Levels
 *
 * @typedef {object} Flame
 * @property {Levels} levels
 * @property {Range} whole all that can be visible
 * @property {Range} visible
 * @property {number} [middle] the level that matters: that of the function between its callers and its
 *   callees, or the first on which the work divides
 */

/** A drag that is shorter is a click: pixels. */
const CLICK = 3
/** Factor of one step of the wheel. */
const ZOOM = 1.3
/** Height of a level: pixels. */
const LEVEL = 18

/** Returns where a box is, in pixels. @param {Box} box @param {Range} visible @param {number} width pixels */
function placeOfBox({ from, to }, visible, width) {
  const scale = width / Math.max(visible.to - visible.from, Number.MIN_VALUE)
  const left = Math.max(0, (from - visible.from) * scale)
  return { left, width: Math.min(width, (to - visible.from) * scale) - left }
}

/** Returns the box at a place, if there is one. @param {Flame} flame @param {number} share of the width @param {number} y pixels */
function boxAt({ levels, visible }, share, y) {
  const at = visible.from + share * (visible.to - visible.from)
  return levels[Math.floor(y / LEVEL)]?.find(({ from, to }) => from <= at && at < to)
}

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

module.exports = { CLICK, LEVEL, ZOOM, placeOfBox, boxAt, scaled, moved, inside }
