'use strict'

// Prepares canvases for sharp drawings, and cuts texts to the width of a box.

/** Returns the width that a canvas can have: pixels. @param {HTMLCanvasElement} canvas */
function widthFor({ parentElement }) {
  return /** @type {HTMLElement} */ (parentElement).clientWidth
}

/**
 * Gives a canvas its size, clears it, and returns its context in CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1
  canvas.width = Math.max(1, Math.round(width * ratio))
  canvas.height = Math.max(1, Math.round(height * ratio))
  canvas.style.width = `${width}px`
  canvas.style.height = `${height}px`
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
  context.scale(ratio, ratio)
  context.font = '11px system-ui, sans-serif'
  context.textBaseline = 'middle'
  return context
}

/** Columns of a text are about this wide: pixels. */
const CHARACTER = 6

/** Returns as much of a text as fits. @param {string} text @param {number} width pixels */
function cutText(text, width) {
  const count = Math.floor((width - 6) / CHARACTER)
  if (count < 2) return ''
  return text.length <= count ? text : `${text.slice(0, count - 1)}…`
}

/** Returns the value of a CSS variable. @param {string} name */
function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

module.exports = { widthFor, prepare, cutText, variable }
