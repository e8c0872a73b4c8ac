'use strict'

// `cpu-prof convert`: converts a recording to another format.

const index = require('../../index.js')
const { printResult, fail, messageOf } = require('../terminal/output.js')
const { withCleanup } = require('../terminal/cleanup.js')

/** @param {string} input @param {{ output: string, quiet?: boolean }} options */
async function convert(input, { output, quiet }) {
  try {
    const { files } = await withCleanup(() => index.convert(input, output))
    if (!quiet) printResult(`${files.join('\n')}\n`)
  } catch (error) {
    fail(messageOf(error))
  }
}

module.exports = { convert }
