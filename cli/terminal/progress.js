'use strict'

const { say, write } = require('./output.js')

/** What takes longer than this is worth a word. */
const PATIENCE_MS = 1000
const BETWEEN_MS = 100

/**
 * Says how far something is; on a terminal in a line that renews itself.
 * @param {string} what
 */
function progress(what) {
  const isTerminal = process.stderr.isTTY
  const start = Date.now()
  let last = start
  let isShown = false
  return {
    /** @param {number} done @param {number} total */
    update(done, total) {
      const now = Date.now()
      if (now - start < PATIENCE_MS || now - last < BETWEEN_MS) return
      last = now
      const percent = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : 0
      if (isTerminal) write(`\r\x1b[Kcpu-prof: ${what}: ${percent} %`)
      else if (!isShown) say(`${what} …`)
      isShown = true
    },
    end() {
      if (isShown && isTerminal) write('\r\x1b[K')
    },
  }
}

module.exports = { progress }
