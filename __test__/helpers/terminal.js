'use strict'

// Runs the command line in a terminal of 80 columns and 24 rows, by script(1) of util-linux.

const { spawn, spawnSync } = require('node:child_process')
const { BIN } = require('./cli.js')
const { cleanEnv } = require('./files.js')
const { until } = require('./until.js')

const SIZE = { columns: 80, rows: 24 }

/** Why no terminal can be opened; false if one can. */
const NO_TERMINAL = /util-linux/.test(String(spawnSync('script', ['--version']).stdout))
  ? false
  : 'there is no script(1) of util-linux'

/** The screen of a terminal: enough of one for what cpu-prof writes. */
class Screen {
  constructor() {
    /** All that was written to the terminal. */
    this.text = ''
  }

  /** Returns whether the other screen is shown. */
  get isOther() {
    return this.text.lastIndexOf('\x1b[?1049h') > this.text.lastIndexOf('\x1b[?1049l')
  }

  /** Returns whether the cursor is shown. */
  get hasCursor() {
    return this.text.lastIndexOf('\x1b[?25h') >= this.text.lastIndexOf('\x1b[?25l')
  }

  /** Returns the lines of the last whole drawing, without styles. */
  get lines() {
    const end = this.text.lastIndexOf('\x1b[J')
    const start = this.text.lastIndexOf('\x1b[H', end)
    return (
      this.text
        .slice(start, end)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of a terminal
        .replace(/\x1b\[[\d;?]*[a-zA-Z]/g, '')
        .split(/\r+\n/)
    )
  }
}

/**
 * Runs the command line in a terminal. After its end, the terminal prints its settings.
 * @param {string[]} args without spaces @param {{ cwd: string, env?: Record<string, string> }} options
 */
function inTerminal(args, { cwd, env = {} }) {
  const { columns, rows } = SIZE
  // Paths can have spaces, and there are three shells on the way.
  const command = ['\\"\\$SPEC_NODE\\"', '\\"\\$SPEC_BIN\\"', ...args].join(' ')
  const paths = { SPEC_NODE: process.execPath, SPEC_BIN: BIN }
  // In the foreground from its start: a shell that takes a stopped job for a running one never continues the job.
  const job = `sh -c "echo pid=\\$\\$ >&2; exec ${command}"`
  const words = `stty rows ${rows} cols ${columns}; ${job}; echo code=$?; stty -a`
  const child = spawn('script', ['-qec', `bash -mc '${words}'`, '/dev/null'], {
    cwd,
    env: { ...cleanEnv(), TERM: 'xterm-256color', ...paths, ...env },
  })
  const screen = new Screen()
  child.stdout.setEncoding('utf8').on('data', (data) => {
    screen.text += data
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  return {
    screen,
    /** Types keys. @param {string} keys */
    press: (keys) => child.stdin.write(keys),
    /** Waits until the screen shows something. @param {RegExp} what */
    shows: async (what) => {
      try {
        await until(() => screen.lines.some((line) => what.test(line)))
      } catch {
        child.kill('SIGKILL')
        throw new Error(`the screen never shows ${what}, but\n${screen.lines.join('\n')}`)
      }
    },
    /** Returns the pid of the command line. */
    pid: () => Number(/pid=(\d+)/.exec(screen.text)?.[1]),
    ended,
  }
}

module.exports = { inTerminal, NO_TERMINAL }
