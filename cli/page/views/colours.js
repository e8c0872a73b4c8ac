'use strict'

// Chooses colours that people with colour blindness tell apart, by Okabe and Ito.

const { packageOf } = require('../data/names.js')

/** Colours of packages, apart from own code and Node's: fill for the light and the dark theme. */
const PACKAGES = [
  ['#8fc9ec', '#2c6f97'],
  ['#7fcfb4', '#16735a'],
  ['#e3b3cd', '#8a4c6c'],
  ['#f0e58a', '#7d7215'],
  ['#b9c3f2', '#49559c'],
  ['#f2bd9a', '#94512a'],
]
const OWN = ['#ffb74d', '#b26a00']
const NODE = ['#d5d8dc', '#4a4f57']
const STATE = ['#b8bcc2', '#5f656e']

/** Colours of what threads did. */
const STATES = {
  javascript: ['#0072b2', '#56b4e9'],
  gc: ['#d55e00', '#f08030'],
  native: ['#7f8790', '#9aa3ad'],
  waiting: ['#e6c84f', '#b8a03a'],
  blocked: ['#cc79a7', '#d795b9'],
}

/**
 * Returns the colour of each function.
 * @param {import('../data/recording.js').Recording} recording @param {boolean} isDark
 */
function coloursOf(recording, isDark) {
  const theme = isDark ? 1 : 0
  return recording.names.map((_, item) => {
    const name = packageOf(recording, item)
    if (name === '(own code)') return OWN[theme]
    if (name === '(garbage collector)') return STATES.gc[theme]
    if (recording.files[item] === -1) return STATE[theme]
    if (name === 'node:' || name === '(native)') return NODE[theme]
    return PACKAGES[hash(name) % PACKAGES.length][theme]
  })
}

/** Colours of a comparison. */
const SLOWER = ['#f08a4b', '#b5500a']
const FASTER = ['#7db8e8', '#1f6fa8']
const SAME = ['#e6e8eb', '#43484f']
/** Part of the work that has the full colour. */
const FULL = 0.05

/** Returns the colour of a difference. @param {number} us @param {number} workUs @param {boolean} isDark */
function differenceColour(us, workUs, isDark) {
  const theme = isDark ? 1 : 0
  const part = workUs > 0 ? Math.min(1, Math.abs(us) / workUs / FULL) : 0
  const colour = (us > 0 ? SLOWER : FASTER)[theme]
  return `color-mix(in srgb, ${colour} ${Math.round(100 * part)}%, ${SAME[theme]})`
}

/** @param {string} text */
function hash(text) {
  let sum = 7
  for (let index = 0; index < text.length; index++) sum = (sum * 31 + text.charCodeAt(index)) >>> 0
  return sum
}

module.exports = { STATES, coloursOf, differenceColour }
