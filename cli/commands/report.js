'use strict'

const index = require('../../index.js')
const { workingDirectory } = require('../terminal/format.js')
const { say, print, messageOf, sayTroubles } = require('../terminal/output.js')
const { screen } = require('../terminal/screen.js')

/** Without a screen to fit. */
const LINES = 50
const LONGEST_TABLE = 200

/**
 * @param {string[]} inputs
 * @param {{ top?: number, by?: import('../report/tables.js').By, from?: number, to?: number, json?: boolean, markdown?: boolean }} options
 */
async function report(inputs, { top, by, from, to, json, markdown }) {
  /** @type {import('../../index.js').Report} */
  let result
  try {
    // Text and Markdown leave out some of what they get.
    const enough = json ? top : Math.max(top ?? 0, LONGEST_TABLE)
    result = await index.report(inputs, { top: enough, from, to })
  } catch (error) {
    say(messageOf(error))
    process.exitCode = 1
    return
  }
  sayTroubles(result)
  print(json ? `${JSON.stringify(result, null, 2)}\n` : render())

  function render() {
    const cwd = workingDirectory()
    if (markdown) return require('../report/markdown.js').renderMarkdown(result, { cwd, by, top })
    const { columns, rows, colours } = screen(process.stdout)
    // The prompt takes a line, too.
    const lines = rows === undefined ? LINES : rows - 1
    return require('../report/text.js').renderText(result, {
      columns,
      lines,
      colours,
      cwd,
      by,
      top,
    })
  }
}

module.exports = { report }
