'use strict'

// The terminal while it shows a screen that changes: another screen, keys, and what was there before.

const fs = require('node:fs')
const readline = require('node:readline')

/** The other screen, without a cursor, where long lines are not continued. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l'
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l'
const HOME = '\x1b[H'
const END_OF_LINE = '\x1b[K'
const BELOW = '\x1b[J'

/** @typedef {import('./choices.js').Key} Key */

/** Returns whether the streams are a terminal that can show a screen. */
function hasScreen() {
  return Boolean(process.stdin.isTTY && process.stdout.isTTY) && process.env.TERM !== 'dumb'
}

/**
 * Takes the terminal. Calls `onKey` for each key, `onResize` when the size has changed, and `onGone` when
 * nothing can be read or written any more.
 * @param {{ onKey: (key: Key) => void, onResize: () => void, onGone: () => void }} listener
 */
function openScreen({ onKey, onResize, onGone }) {
  const { stdin, stdout } = process
  let isOpen = true
  const onKeypress = (/** @type {string} */ _, /** @type {Key} */ key) => onKey(key)
  // A stopped process goes on with the terminal of its shell.
  const onContinue = () => {
    take()
    onResize()
  }
  const take = () => {
    stdin.setRawMode(true)
    stdout.write(ENTER)
  }

  /** Gives the terminal back. Can be called at any time, also while the process ends. */
  function close() {
    if (!isOpen) return
    isOpen = false
    stdin.off('keypress', onKeypress)
    stdout.off('resize', onResize)
    process.off('SIGCONT', onContinue)
    process.off('exit', close)
    try {
      stdin.setRawMode(false)
      stdin.pause()
      fs.writeSync(stdout.fd, LEAVE)
    } catch {
      // The terminal is gone.
    }
  }

  process.on('exit', close)
  process.on('SIGCONT', onContinue)
  for (const stream of [stdin, stdout]) stream.on('error', onGone)
  stdin.on('end', onGone)
  stdout.on('resize', onResize)
  readline.emitKeypressEvents(stdin)
  stdin.on('keypress', onKeypress)
  take()
  stdin.resume()

  return {
    close,
    /** @returns {import('./render.js').Size} */
    size: () => ({
      columns: stdout.columns || 80,
      rows: stdout.rows || 24,
      colours: Boolean(stdout.hasColors?.()),
    }),
    /** Shows lines, as many as the screen has or fewer. @param {string[]} lines */
    draw(lines) {
      if (isOpen)
        stdout.write(`${HOME}${lines.map((line) => line + END_OF_LINE).join('\r\n')}${BELOW}`)
    },
  }
}

module.exports = { hasScreen, openScreen }
