'use strict'

// Draws what the colours of the flame graph mean.

const { layoutLegend } = require('../layout/legend.js')
const { element, byId } = require('./elements.js')
const { formatShare } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

/**
 * @param {Recording} recording @param {Shown} shown
 * @param {(name: string) => string} [colourOf] packages
 */
function drawLegend(recording, { costs, sides }, colourOf = () => '') {
  const parts = sides ? [] : layoutLegend(recording, costs, colourOf)
  const rows = parts.map(({ name, colour, us }) => {
    const swatch = element('span', { className: 'swatch' })
    swatch.style.background = colour
    const share = element('b', { textContent: formatShare(us, costs.workUs) })
    return element('li', { title: `${name}, by self time` }, swatch, share, ` ${name}`)
  })
  byId('packages').replaceChildren(...rows)
}

module.exports = { drawLegend }
