'use strict'

// Draws what the colours of the flame graph mean.

const { element, byId } = require('./elements.js')
const { formatShare } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

/** Packages that are named. */
const NAMED = 7
/** Smaller parts of the work are not named. */
const ENOUGH = 0.002
const TEXTS = /** @type {Record<string, string>} */ ({
  '(own code)': 'own code',
  'node:': 'Node',
  '(native)': 'native',
})

/**
 * @param {Recording} recording @param {Shown} shown
 * @param {(name: string) => string} [colourOf] packages
 */
function drawLegend({ packages }, { costs, sides }, colourOf) {
  const { packageCosts, workUs } = costs
  const rows = [...packages.keys()]
    .filter((item) => packageCosts.self[item] > ENOUGH * workUs)
    .sort((a, b) => packageCosts.self[b] - packageCosts.self[a])
    .slice(0, NAMED)
    .map((item) => {
      const swatch = element('span', { className: 'swatch' })
      swatch.style.background = colourOf?.(packages[item]) ?? ''
      const name = TEXTS[packages[item]] ?? packages[item]
      const share = element('b', { textContent: formatShare(packageCosts.self[item], workUs) })
      return element('li', { title: `${name}, by self time` }, swatch, share, ` ${name}`)
    })
  byId('packages').replaceChildren(...(sides ? [] : rows))
}

module.exports = { drawLegend }
