'use strict'

// Makes elements. Texts from profiles are never HTML.

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

module.exports = { element, button, nameCell, byId }
