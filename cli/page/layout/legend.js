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
    ...{ colour: colourOfOthers, us: others.reduce((sum, { us }) => sum + us, 0) },
  }
  return [...named, rest].filter(({ us }) => us > ENOUGH * workUs)
}

module.exports = { layoutLegend }
