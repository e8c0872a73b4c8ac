'use strict'

// Draws what the colours of the flame graph mean, and lets the user choose them.

const { labelLegend, layoutLegend } = require('../layout/legend.js')
const { element, byId } = require('./elements.js')
const { formatShare } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../state.js').Shown} Shown */

/** The choice of packages. */
const PACKAGES = ''

/**
 * @param {Recording} recording @param {Shown} shown
 * @param {(name: string) => string} [colourOf] packages
 * @param {Map<number, string>} [ofLabels] colours of labels, where they colour the graph
 */
function drawLegend(recording, { costs, sides }, colourOf = () => '', ofLabels) {
  const { labels } = recording
  const ofPackages = () => (sides ? [] : layoutLegend(recording, costs, colourOf))
  const parts = labels && ofLabels ? labelLegend(labels, costs, ofLabels) : ofPackages()
  const rows = parts.map(({ name, colour, us }) => {
    const swatch = element('span', { className: 'swatch' })
    swatch.style.background = colour
    const share = element('b', { textContent: formatShare(us, costs.workUs) })
    return element('li', { title: `${name}, by self time` }, swatch, share, ` ${name}`)
  })
  byId('packages').replaceChildren(...rows)
}

/**
 * Makes the choice between packages and the values of a label, which is hidden where there are no labels.
 * @param {Recording} recording @param {import('../state.js').Change} change
 */
function colourChoice({ labels }, change) {
  const keys = labels?.keys ?? []
  const options = [PACKAGES, ...keys].map((key) =>
    element('option', { value: key, textContent: key === PACKAGES ? 'colours: packages' : key }),
  )
  const select = byId('colours')
  select.replaceChildren(...options)
  select.addEventListener('change', () => change({ colours: select.value || undefined }))
  return {
    /** @param {import('../state.js').State} state @param {boolean} isByTime */
    draw(state, isByTime) {
      select.hidden = keys.length === 0 || !isByTime
      select.value = state.colours ?? PACKAGES
    },
  }
}

module.exports = { colourChoice, drawLegend }
