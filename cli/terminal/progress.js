'use strict'

// Shows the progress of a long task on stderr.

const { printStatus, writeStderr } = require('./output.js')

/** Tasks that take less time show nothing. */
const DELAY_MS = 1000
const UPDATE_MS = 100

/**
 * Returns a progress display: one line that is redrawn on a terminal, or one printed line elsewhere.
 * @param {string} task
 */
function progress(task) {
  const isTerminal = process.stderr.isTTY
  const start = Date.now()
  let last = start
  let isShown = false
  return {
    /** @param {number} done @param {number} total */
    update(done, total) {
      const now = Date.now()
      if (now - start < DELAY_MS || now - last < UPDATE_MS) return
      last = now
      const percent = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : 0
      if (isTerminal) writeStderr(`\r\x1b[Kcpu-prof: ${task}: ${percent} %`)
      else if (!isShown) printStatus(`${task} …`)
      isShown = true
    },
    end() {
      if (isShown && isTerminal) writeStderr('\r\x1b[K')
    },
  }
}

module.exports = { progress }
