'use strict'

// Lays out what the colours of the flame graph mean: packages and what belongs to none, with their shares.

const { GC } = require('../data/recording.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {{ name: string, colour: string, us: number }} Part of the work */

/** Smaller parts of the work are not named. */
const ENOUGH = 0.002
const TEXTS = /** @type {Record<string, string>} */ ({
  '(own code)': 'own code',
  'node:': 'Node',
  '(native)': 'native functions',
  '(program)': 'other native code',
  '(garbage collector)': 'gc',
})

/**
 * Returns the parts with a colour of their own, the longest first, and the others as one.
 * @param {Recording} recording @param {import('../data/costs.js').Costs} costs
 * @param {(name: string) => string} colourOf packages @returns {Part[]}
 */
function layoutLegend({ packages }, { packageCosts, states, workUs }, colourOf) {
  const ofPackages = packages.map((name, item) => ({ name, us: packageCosts.self[item] }))
  const inPackages = ofPackages.reduce((sum, { us }) => sum + us, 0)
  const parts = [
    ...ofPackages,
    { name: '(garbage collector)', us: states[GC] },
    { name: '(program)', us: workUs - inPackages - states[GC] },
  ]
  const colourOfOthers = colourOf('')
  const named = []
  const others = []
  for (const { name, us } of parts.sort((a, b) => b.us - a.us)) {
    const colour = colourOf(name)
    if (colour === colourOfOthers && us > 0) others.push({ name, colour, us })
    else named.push({ name: TEXTS[name] ?? name, colour, us })
  }
  const rest = {
    name: others.length === 1 ? others[0].name : `${others.length} other packages`,
    colour: colourOfOthers,
    us: others.reduce((sum, { us }) => sum + us, 0),
  }
  return [...named, rest].filter(({ us }) => us > ENOUGH * workUs)
}

/**
 * Returns the values of a label with a colour of their own, and the others as one.
 * @param {import('../data/labels.js').Labels} labels @param {import('../data/costs.js').Costs} costs
 * @param {Map<number, string>} colours by the items @returns {Part[]}
 */
function labelLegend({ items }, { labelCosts, workUs }, colours) {
  /** @type {Map<string, Part[]>} */
  const byColour = new Map()
  for (const [item, colour] of colours) {
    const part = { name: items[item].name, colour, us: labelCosts.self[item] }
    byColour.set(colour, [...(byColour.get(colour) ?? []), part])
  }
  const parts = [...byColour].map(([colour, parts]) => ({
    name: parts.length === 1 ? parts[0].name : `${parts.length} others`,
    colour,
    us: parts.reduce((sum, { us }) => sum + us, 0),
  }))
  return parts.filter(({ us }) => us > ENOUGH * workUs)
}

module.exports = { labelLegend, layoutLegend }
