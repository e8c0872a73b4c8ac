'use strict'

// Says on stderr why something is not recorded, while the program runs on.

/** @param {string} what is not recorded @param {unknown} error */
function sayWhy(what, error) {
  const [reason] = String(error).replace('Error: cpu-prof: ', '').split('\n', 1)
  try {
    require('node:fs').writeSync(2, `cpu-prof: ${what}: ${reason}\n`)
  } catch {
    // stderr is closed.
  }
}

module.exports = { sayWhy }
