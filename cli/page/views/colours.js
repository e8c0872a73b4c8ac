'use strict'

// Chooses colours that people with colour blindness tell apart, by Okabe and Ito.

const { packageOf } = require('../data/names.js')
const { variable } = require('./elements.js')

/** @typedef {import('../data/recording.js').Recording} Recording */

/** Colours of packages, apart from own code and Node's: fill for the light and the dark theme. */
const PACKAGES = [
  ['#8fc9ec', '#2c6f97'],
  ['#7fcfb4', '#16735a'],
  ['#e3b3cd', '#8a4c6c'],
  ['#f0e58a', '#7d7215'],
  ['#b9c3f2', '#49559c'],
  ['#f2bd9a', '#94512a'],
]
/** Packages without a colour of their own. */
const OTHERS = ['#e2ddcf', '#5d584c']
const OWN = ['#ffb74d', '#b26a00']
const NODE = ['#dcdfe3', '#43484f']
const NATIVE = ['#b8bcc2', '#646b74']

/**
 * Chooses the colours of packages: the busiest have a colour of their own.
 * @param {Recording} recording @param {import('../data/costs.js').Costs} costs of everything
 * @param {boolean} isDark @returns {(name: string) => string}
 */
function packageColours({ packages }, { packageCosts }, isDark) {
  const theme = isDark ? 1 : 0
  const known = new Map([
    ['(own code)', OWN[theme]],
    ['node:', NODE[theme]],
    ['(native)', NATIVE[theme]],
    ['(program)', NATIVE[theme]],
    ['(garbage collector)', variable('--gc')],
  ])
  const busiest = [...packages.keys()]
    .filter((item) => !known.has(packages[item]))
    .sort((a, b) => packageCosts.self[b] - packageCosts.self[a])
  for (const [rank, item] of busiest.slice(0, PACKAGES.length).entries()) {
    known.set(packages[item], PACKAGES[rank][theme])
  }
  return (name) => known.get(name) ?? OTHERS[theme]
}

/**
 * Returns the colours of labels: the values with the most work have a colour of their own.
 * @param {import('../data/labels.js').Labels} labels @param {import('../data/costs.js').Costs} costs
 * @param {string} key @param {boolean} isDark @returns {Map<number, string>} the colours by the items
 */
function labelColours({ items }, { labelCosts }, key, isDark) {
  const theme = isDark ? 1 : 0
  const ofKey = [...items.keys()].filter((item) => items[item].key === key)
  ofKey.sort((a, b) => labelCosts.self[b] - labelCosts.self[a])
  return new Map(ofKey.map((item, rank) => [item, (PACKAGES[rank] ?? OTHERS)[theme]]))
}

/**
 * Returns the colour of each function.
 * @param {Recording} recording @param {(name: string) => string} colourOf packages
 */
function functionColours(recording, colourOf) {
  return recording.names.map((_, item) => colourOf(packageOf(recording, item)))
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

module.exports = { labelColours, packageColours, functionColours, differenceColour }
