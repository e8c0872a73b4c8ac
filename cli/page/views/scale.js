'use strict'

// Draws the scale of time, and a line where the pointer is.

const { SCALE } = require('../layout/timeline.js')
const { byId, hideHover, variable } = require('./elements.js')

/** @param {CanvasRenderingContext2D} context @param {{ x: number, label: string }[]} ticks */
function drawScale(context, ticks) {
  const [line, text] = [variable('--line'), variable('--faint')]
  for (const { x, label } of ticks) {
    context.fillStyle = line
    context.fillRect(x, 4, 1, SCALE)
    context.fillStyle = text
    context.fillText(label, x + 4, SCALE / 2 + 1)
  }
}

/** @param {CanvasRenderingContext2D} context @param {{ x: number }[]} ticks @param {number} height */
function drawGrid(context, ticks, height) {
  context.fillStyle = variable('--grid')
  for (const { x } of ticks) context.fillRect(x, 0, 1, height)
}

/** Shows a line over the time line and the graph by time. @param {number} share of the visible time, from 0 to 1 @param {string} time */
function showMoment(share, time) {
  for (const line of linesOf()) {
    line.hidden = false
    line.style.left = `${100 * share}%`
  }
  byId('moment').textContent = time
}

/** Hides the line, and the text beside the pointer. */
function hideMoment() {
  hideHover()
  for (const line of linesOf()) line.hidden = true
}

/** @returns {NodeListOf<HTMLElement>} */
function linesOf() {
  return document.querySelectorAll('.moment')
}

module.exports = { drawScale, drawGrid, showMoment, hideMoment }
