'use strict'

// Makes elements and prepares canvases. Texts from profiles are never HTML.

/**
 * @param {string} tag @param {Record<string, any>} [properties] of the element, or its attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') made.setAttribute(name, value)
    else Object.assign(made, { [name]: value })
  }
  made.append(...children)
  return made
}

/**
 * @param {string} textContent @param {(event: MouseEvent) => void} onClick
 * @param {Record<string, any>} [properties]
 */
function button(textContent, onClick, properties) {
  const made = element('button', { type: 'button', textContent, ...properties })
  made.addEventListener('click', onClick)
  return made
}

/**
 * Makes the cell of a row's name, which selects the row's function if there is one.
 * @param {{ name: string, place: string, item?: number }} row @param {import('../state.js').Change} change
 */
function nameCell({ name, place, item }, change) {
  const link = item === undefined ? name : button(name, () => change({ function: item }))
  const where = element('span', { className: 'place', textContent: place })
  const title = item === undefined ? name : place
  return element('td', { className: 'name', title }, link, ' ', where)
}

/** @param {string} id @returns {any} */
function byId(id) {
  return document.getElementById(id)
}

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

module.exports = { element, button, nameCell, byId, widthFor, prepare, cutText, variable }
