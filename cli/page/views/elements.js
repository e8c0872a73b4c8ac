'use strict'

// Makes elements and prepares canvases. Texts from profiles are never HTML.

/** Levels that rows are set in, by so many pixels; what is deeper stands below the last. */
const [MAX_LEVEL, INDENT] = [30, 10]

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
 * Makes the cell of a row's name, which selects the row's function or what else the row chooses.
 * @param {{ name: string, place: string, title?: string, item?: number, level?: number, code?: string, choice?: Partial<import('../state.js').State> }} row
 * @param {import('../state.js').Change} change
 */
function nameCell({ name, place, title = place, item, level = 0, code = '', choice }, change) {
  const choose = choice ?? (item === undefined ? undefined : { function: item })
  const link = choose === undefined ? name : button(name, () => change(choose))
  const where = element('span', { className: 'place', textContent: place })
  const text = code === '' ? [] : [' ', element('code', { textContent: code })]
  const whole = `${name} ${title}`.trim()
  const cell = element('td', { className: 'name', title: whole }, link, ' ', where, ...text)
  if (level > 0) cell.style.paddingLeft = `${6 + INDENT * Math.min(level, MAX_LEVEL)}px`
  return cell
}

/** Makes the cell of a bar, beside the number that the bar shows. @param {number} share from 0 to 1 */
function bar(share) {
  const inner = element('span')
  inner.hidden = share === 0
  inner.style.width = `${Math.min(100, 100 * Math.abs(share))}%`
  return element('td', { className: 'bar', 'aria-hidden': 'true' }, inner)
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
  const [across, down] = [width, height].map((size) => Math.max(1, Math.round(size * ratio)))
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
  // Another size takes new memory.
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across
    canvas.height = down
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  context.font = '11px system-ui, sans-serif'
  context.textBaseline = 'middle'
  return context
}

/** Distance of a text from the pointer: pixels. */
const HOVER = 14

/** Fewer characters show only the start of a text. */
const MIN_ENDS = 8
/** Columns of a text are about this wide: pixels. */
const CHARACTER = 6

/** Returns as much of a text as fits: its end tells more than its middle. @param {string} text @param {number} width pixels */
function cutText(text, width) {
  const count = Math.floor((width - 6) / CHARACTER)
  if (count < 2) return ''
  if (text.length <= count) return text
  const end = count < MIN_ENDS ? 0 : Math.floor((count - 1) / 3)
  return `${text.slice(0, count - 1 - end)}…${text.slice(text.length - end)}`
}

/** Returns the value of a CSS variable. @param {string} name */
function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/**
 * Shows lines beside the pointer, or nothing.
 * @param {{ clientX: number, clientY: number }} pointer @param {string[]} lines
 */
function showHover({ clientX, clientY }, lines) {
  const hover = byId('hover')
  hover.hidden = lines.length === 0
  if (lines.length === 0) return
  hover.replaceChildren(...lines.map((textContent) => element('span', { textContent })))
  const { offsetWidth, offsetHeight } = hover
  const { clientWidth } = document.documentElement
  const isLow = clientY + offsetHeight + HOVER > innerHeight
  hover.style.left = `${Math.max(4, Math.min(clientX + HOVER, clientWidth - offsetWidth - 4))}px`
  hover.style.top = `${isLow ? clientY - offsetHeight - HOVER : clientY + HOVER}px`
}

/**
 * Shades what is beside a part of a canvas, or nothing.
 * @param {HTMLElement} canvas @param {{ from: number, to: number }} [part] from 0 on the left to 1
 */
function shade({ parentElement }, part) {
  const [before, after] = /** @type {NodeListOf<HTMLElement>} */ (
    /** @type {HTMLElement} */ (parentElement).querySelectorAll('.shade')
  )
  const percent = (/** @type {number} */ share) => `${100 * Math.max(0, Math.min(1, share))}%`
  before.style.width = percent(part?.from ?? 0)
  after.style.width = percent(part === undefined ? 0 : 1 - part.to)
}

function hideHover() {
  byId('hover').hidden = true
}

module.exports = {
  element,
  button,
  nameCell,
  bar,
  byId,
  widthFor,
  prepare,
  cutText,
  variable,
  shade,
  showHover,
  hideHover,
}
