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

/** @param {string} id @returns {any} */
function byId(id) {
  return document.getElementById(id)
}

module.exports = { element, button, byId }
