'use strict'

// Calms the picture of a track: threads change their states too often for single pixels.

const { IDLE } = require('../data/recording.js')
const { ALIVE, VALUES } = require('./timeline.js')

/** Pixels on each side that a calm picture mixes, with the mixed pixels of those. */
const CALM = 3
/** Pixels of a shorter time stay as they are: samples are wide there. Microseconds. */
const SHORT = 200

/**
 * Mixes the states of neighbouring pixels. What is marked keeps its place.
 * @param {Float32Array} shares of each pixel @param {number} width pixels
 * @param {number} usPerPixel
 */
function calmed(shares, width, usPerPixel) {
  if (usPerPixel < SHORT) return shares
  const calm = shares.slice()
  const alive = mixed(column(shares, ALIVE, width))
  for (let state = 0; state < IDLE; state++) {
    const before = column(shares, state, width)
    if (before.every((share) => share === 0)) continue
    const part = mixed(before)
    for (let pixel = 0; pixel < width; pixel++) {
      const at = pixel * VALUES
      // Beside a border there is less to mix.
      if (alive[pixel] > 0) calm[at + state] = (part[pixel] / alive[pixel]) * shares[at + ALIVE]
    }
  }
  return calm
}

/** @param {Float32Array} shares @param {number} value which of {@link VALUES} @param {number} width pixels */
function column(shares, value, width) {
  const values = new Float32Array(width)
  for (let pixel = 0; pixel < width; pixel++) values[pixel] = shares[pixel * VALUES + value]
  return values
}

/** Returns means of neighbours, twice. @param {Float32Array} values */
function mixed(values) {
  for (let round = 0; round < 2; round++) values = means(values)
  return values
}

/** @param {Float32Array} values */
function means(values) {
  const made = new Float32Array(values.length)
  let sum = 0
  for (let index = -CALM; index < values.length; index++) {
    sum += (values[index + CALM] ?? 0) - (values[index - CALM - 1] ?? 0)
    if (index >= 0) made[index] = Math.max(0, sum) / (2 * CALM + 1)
  }
  return made
}

module.exports = { calmed }
