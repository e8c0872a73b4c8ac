'use strict'

// Paints what threads did, pixel by pixel: much faster than a shape for each.

const { BLOCKED, GC, JAVASCRIPT, NATIVE, WAITING, STATES } = require('../data/recording.js')
const { ALIVE, MARK, VALUES } = require('../layout/timeline.js')

/** What a track shows, from its bottom. */
const STACK = [JAVASCRIPT, NATIVE, GC, WAITING, BLOCKED]
/** Space above and below the track, and the height of the mark below: pixels. */
const SPACE = 2
const MARK_HEIGHT = 3
/** Part of the colour that stays where nothing is marked or selected. */
const FAINT = 0.3
/** Length of a step of the hatching: pixels. */
const HATCH = 3

/**
 * @typedef {object} Palette colours as pixels of an image
 * @property {number[]} full by state
 * @property {number[]} faint
 * @property {number} alive
 * @property {number} aliveFaint
 * @property {number} mark
 * @property {number} page
 */

/** Returns the colours of a theme. @param {(name: string) => string} colourOf the value of a CSS variable @returns {Palette} */
function paletteOf(colourOf) {
  const page = parse(colourOf('--page'))
  const colours = STATES.map((name) => parse(colourOf(`--${name}`)))
  const faint = (/** @type {number[]} */ colour) =>
    colour.map((part, index) => Math.round(page[index] + FAINT * (part - page[index])))
  const alive = parse(colourOf('--idle'))
  return {
    full: colours.map(pixel),
    faint: colours.map((colour) => pixel(faint(colour))),
    alive: pixel(alive),
    aliveFaint: pixel(faint(alive)),
    mark: pixel(parse(colourOf('--text'))),
    page: pixel(page),
  }
}

/** @param {string} colour `#rrggbb` */
function parse(colour) {
  const number = Number.parseInt(colour.slice(1), 16)
  return [number >> 16, (number >> 8) & 255, number & 255]
}

/** Returns a pixel as browsers keep it in memory, on processors with the low byte first. @param {number[]} colour */
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

/**
 * Paints one track.
 * @param {{ pixels: Uint32Array, width: number, height: number }} image
 * @param {Float32Array} shares of each pixel of the width
 * @param {{ top: number, height: number, ratio: number }} place pixels of the image; ratio of them to
 *   those of the page
 * @param {Palette} palette @param {{ isFaint: boolean, isMarked: boolean }} look isMarked: whether only
 *   the times with a mark have full colours
 */
function paintTrack(image, shares, { top, height, ratio }, palette, { isFaint, isMarked }) {
  const { pixels, width } = image
  const space = Math.round(SPACE * ratio)
  const markHeight = Math.round(MARK_HEIGHT * ratio)
  const hatch = Math.max(2, Math.round(HATCH * ratio))
  const bottom = top + height - space - markHeight
  const room = bottom - top - space
  /** @param {number} column @param {number} from @param {number} to @param {number} colour */
  const fill = (column, from, to, colour) => {
    const end = Math.min(to, image.height)
    for (let y = Math.max(0, from); y < end; y++) pixels[y * width + column] = colour
  }
  for (let column = 0; column < width; column++) {
    const at = column * VALUES
    const alive = shares[at + ALIVE]
    if (alive === 0) continue
    const hasMark = shares[at + MARK] > 0
    const isPale = isFaint || (isMarked && !hasMark)
    const colours = isPale ? palette.faint : palette.full
    fill(column, bottom - room, bottom, isPale ? palette.aliveFaint : palette.alive)
    let sum = 0
    for (const state of STACK) {
      const share = shares[at + state]
      if (share === 0) continue
      const low = bottom - Math.round(sum * room)
      sum = Math.min(1, sum + share)
      const high = bottom - Math.round(sum * room)
      if (state === WAITING)
        hatchColumn(image, column, high, low, colours[state], palette.page, hatch)
      else fill(column, high, low, colours[state])
    }
    if (hasMark && !isFaint) fill(column, bottom + 1, bottom + markHeight, palette.mark)
  }
}

/**
 * Paints diagonal stripes.
 * @param {{ pixels: Uint32Array, width: number, height: number }} image @param {number} column
 * @param {number} from @param {number} to @param {number} colour @param {number} between @param {number} step
 */
function hatchColumn({ pixels, width, height }, column, from, to, colour, between, step) {
  const end = Math.min(to, height)
  for (let y = Math.max(0, from); y < end; y++) {
    pixels[y * width + column] = (column + y) % (2 * step) < step ? colour : between
  }
}

module.exports = { paletteOf, paintTrack }
