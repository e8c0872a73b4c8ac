'use strict'

// What the user has chosen to see, and what each key changes.

/** @typedef {import('../live/follower.js').LiveKind} LiveKind */
/** @typedef {import('../live/follower.js').LabelKind} LabelKind */

/**
 * @typedef {object} Choices
 * @property {LiveKind} by what the rows are of
 * @property {LabelKind} labels what rows by label are of
 * @property {'self' | 'total'} sort
 * @property {number} seconds the time before the last event that is shown
 * @property {string} filter what rows have in their names or places; empty for all rows
 * @property {number} offset rows above the screen
 * @property {boolean} isPaused
 * @property {boolean} isTyping whether keys are letters of the filter
 * @property {boolean} hasHelp whether the help is shown
 * @property {boolean} isDone
 */

/** The lengths of time that + and - choose from, seconds. */
const LENGTHS = [1, 2, 5, 10, 20, 30, 60]
const MAX_FILTER = 60

/** The keys that choose what the rows are of. @type {Record<typeof import('../commands/top.js').KINDS[number], string>} */
const KEYS = { function: 'f', file: 'i', package: 'p', thread: 't', label: 'l' }
/** What the rows are of, by key. */
const KINDS = /** @type {Record<string, LiveKind>} */ (
  Object.fromEntries(Object.entries(KEYS).map(([kind, key]) => [key, kind]))
)

/** @type {Choices} */
const DEFAULTS = {
  by: 'function',
  labels: 'label',
  sort: 'self',
  seconds: 10,
  filter: '',
  offset: 0,
  isPaused: false,
  isTyping: false,
  hasHelp: false,
  isDone: false,
}

/** A key as `node:readline` names it. @typedef {{ name?: string, sequence?: string, ctrl?: boolean, meta?: boolean }} Key */

/** Returns whether rows are by label. @param {LiveKind} by @returns {by is LabelKind} */
const isLabel = (by) => by.startsWith('label')

/** Returns the choices after a key. @param {Choices} choices @param {Key} key @param {number} page rows of the screen @returns {Choices} */
function press(choices, key, page) {
  if (key.ctrl) return key.name === 'c' || key.name === 'd' ? { ...choices, isDone: true } : choices
  if (choices.isTyping) return type(choices, key)
  if (choices.hasHelp) return { ...choices, hasHelp: false }
  const { sequence = '', name = '' } = key
  if (Object.hasOwn(KINDS, sequence)) {
    const by = KINDS[sequence]
    return { ...choices, by: by === 'label' ? choices.labels : by, offset: 0 }
  }
  const moved = (/** @type {number} */ rows) => ({
    ...choices,
    offset: Math.max(0, choices.offset + rows),
  })
  switch (name === 'space' ? ' ' : sequence) {
    case 'q':
      return { ...choices, isDone: true }
    case 's':
      return { ...choices, sort: choices.sort === 'self' ? 'total' : 'self', offset: 0 }
    case '+':
    case '=':
      return { ...choices, seconds: LENGTHS.find((s) => s > choices.seconds) ?? choices.seconds }
    case '-': {
      const shorter = LENGTHS.filter((seconds) => seconds < choices.seconds)
      return { ...choices, seconds: shorter.at(-1) ?? choices.seconds }
    }
    case ' ':
      return { ...choices, isPaused: !choices.isPaused }
    case '/':
      return { ...choices, isTyping: true, filter: '', offset: 0 }
    case '?':
    case 'h':
      return { ...choices, hasHelp: true }
    case 'j':
      return moved(1)
    case 'k':
      return moved(-1)
  }
  switch (name) {
    case 'down':
      return moved(1)
    case 'up':
      return moved(-1)
    case 'pagedown':
      return moved(page)
    case 'pageup':
      return moved(-page)
    case 'home':
      return { ...choices, offset: 0 }
    case 'escape':
      return { ...choices, filter: '', offset: 0 }
  }
  return choices
}

/** Returns the choices after a key of the filter. @param {Choices} choices @param {Key} key @returns {Choices} */
function type(choices, { name, sequence = '' }) {
  const { filter } = choices
  if (name === 'return' || name === 'enter') return { ...choices, isTyping: false }
  if (name === 'escape') return { ...choices, isTyping: false, filter: '' }
  if (name === 'backspace') return { ...choices, filter: [...filter].slice(0, -1).join('') }
  // Control characters and the sequences of other keys are no text.
  if (!/^\P{C}+$/u.test(sequence)) return choices
  return { ...choices, filter: (filter + sequence).slice(0, MAX_FILTER) }
}

module.exports = { DEFAULTS, KINDS, isLabel, press }
