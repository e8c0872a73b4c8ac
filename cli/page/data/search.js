'use strict'

// Finds functions by a text, and the time of the stacks with them.

const { nameOf, packageOf, placeOf } = require('./names.js')

/** @typedef {import('./recording.js').Recording} Recording */
/** @typedef {import('./costs.js').Costs} Costs */

/**
 * Returns a test for functions with a text in their names, places or packages.
 * @param {Recording} recording @param {string} query @returns {(item: number) => boolean}
 */
function matcher(recording, query) {
  if (query === '') return () => true
  const text = query.toLowerCase()
  const isWanted = recording.names.map((_, item) =>
    [nameOf, placeOf, packageOf]
      .map((textOf) => textOf(recording, item))
      .join(' ')
      .toLowerCase()
      .includes(text),
  )
  return (item) => isWanted[item]
}

/**
 * Returns the time of all stacks with a wanted function, each once.
 * @param {Recording} recording @param {Costs} costs @param {(item: number) => boolean} isWanted
 */
function timeWith({ functions, parent }, { total }, isWanted) {
  const isInside = new Uint8Array(parent.length)
  let us = 0
  for (let node = 0; node < parent.length; node++) {
    const above = parent[node]
    isInside[node] = above === -1 ? 0 : isInside[above]
    if (isInside[node] === 0 && isWanted(functions[node])) {
      isInside[node] = 1
      us += total[node]
    }
  }
  return us
}

module.exports = { matcher, timeWith }
