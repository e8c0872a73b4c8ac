'use strict'

// Answers the keyboard on the time line: keys move to another moment or row, and select time.

/** Parts of the visible time that keys move by. */
const STEPS = { ArrowLeft: -0.005, ArrowRight: 0.005, PageUp: -0.1, PageDown: 0.1 }
const ROWS = { ArrowUp: -1, ArrowDown: 1 }

/**
 * @typedef {object} Place
 * @property {number} us
 * @property {number} index of the row
 *
 * @typedef {object} Actions
 * @property {() => import('../layout/boxes.js').Range} visible
 * @property {() => number} count of the rows
 * @property {(place: Place) => void} show
 * @property {() => void} hide
 * @property {(from: number, to: number) => void} select
 * @property {(index: number) => void} open shows a row by time
 */

/** @param {HTMLElement} canvas @param {Actions} actions */
function listenOnTimeline(canvas, actions) {
  /** @type {Place} */
  let place = { us: 0, index: 0 }
  /** Where a selection began, microseconds. @type {number | undefined} */
  let start
  const show = () => {
    const { from, to } = actions.visible()
    const us = Math.max(from, Math.min(to, place.us))
    place = { us, index: Math.max(0, Math.min(actions.count() - 1, place.index)) }
    actions.show(place)
  }
  /** @param {number} us @param {boolean} isSelected whether the time on the way is selected */
  const move = (us, isSelected) => {
    start = isSelected ? (start ?? place.us) : undefined
    place.us = us
    show()
    if (start === undefined || start === place.us) return
    actions.select(Math.min(start, place.us), Math.max(start, place.us))
  }
  /** @param {KeyboardEvent} event @returns {boolean} whether the key means something here */
  const answer = ({ key, shiftKey }) => {
    const { from, to } = actions.visible()
    if (key in STEPS) move(place.us + STEPS[/** @type {'PageUp'} */ (key)] * (to - from), shiftKey)
    else if (key === 'Home' || key === 'End') move(key === 'Home' ? from : to, shiftKey)
    else if (key === 'Enter') actions.open(place.index)
    else if (key in ROWS) {
      place.index += ROWS[/** @type {'ArrowUp'} */ (key)]
      show()
    } else return false
    return true
  }
  // A click gives the focus too, and shows what is under the pointer.
  canvas.addEventListener('focus', () => canvas.matches(':focus-visible') && show())
  canvas.addEventListener('blur', actions.hide)
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !answer(event)) return
    event.preventDefault()
    event.stopPropagation()
  })
}

module.exports = { listenOnTimeline }
