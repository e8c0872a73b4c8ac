'use strict'

const index = require('../../index.js')
const { say, print, messageOf } = require('../terminal/output.js')
const { tidily } = require('../terminal/cleanup.js')

/** @param {string} input @param {{ output: string, quiet?: boolean }} options */
async function convert(input, { output, quiet }) {
  try {
    const { files } = await tidily(() => index.convert(input, output))
    if (!quiet) print(`${files.join('\n')}\n`)
  } catch (error) {
    say(messageOf(error))
    process.exitCode = 1
  }
}

module.exports = { convert }
