'use strict'

// Draws what the colours of the flame graph mean.

const { element, byId } = require('./elements.js')
const { formatShare } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

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
function drawLegend({ packages }, { costs, sides }, colourOf = () => '') {
  const { packageCosts, workUs } = costs
  /** @param {string} name @param {string} colour @param {number} us */
  const row = (name, colour, us) => {
    const swatch = element('span', { className: 'swatch' })
    swatch.style.background = colour
    const share = element('b', { textContent: formatShare(us, workUs) })
    return element('li', { title: `${name}, by self time` }, swatch, share, ` ${name}`)
  }
  const colourOfOthers = colourOf('')
  const known = packages
    .map((name, item) => ({ name, colour: colourOf(name), us: packageCosts.self[item] }))
    .sort((a, b) => b.us - a.us)
  const others = known.filter(({ colour, us }) => colour === colourOfOthers && us > 0)
  const rows = known
    .filter(({ colour, us }) => colour !== colourOfOthers && us > ENOUGH * workUs)
    .map(({ name, colour, us }) => row(TEXTS[name] ?? name, colour, us))
  const othersUs = others.reduce((sum, { us }) => sum + us, 0)
  if (othersUs > ENOUGH * workUs) {
    const name = others.length === 1 ? others[0].name : `${others.length} other packages`
    rows.push(row(name, colourOfOthers, othersUs))
  }
  byId('packages').replaceChildren(...(sides ? [] : rows))
}

module.exports = { drawLegend }
