'use strict'

/** Returns the depth of a text's brackets. @param {string} text */
function parse(text) {
  let at = 0
  const brackets = () => {
    let deepest = 0
    while (text[at] === '(') {
      at++
      deepest = Math.max(deepest, 1 + brackets())
      at++
    }
    return deepest
  }
  return brackets()
}

module.exports = { parse }
