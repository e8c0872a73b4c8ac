'use strict'

// `cpu-prof convert`: converts recordings to another format.

const index = require('../../index.js')
const { printProblems, printPaths, failWith } = require('../terminal/output.js')
const { withInputs } = require('../terminal/input.js')
const { withCleanup } = require('../terminal/cleanup.js')

/**
 * @param {string[]} inputs
 * @param {{ output: string, quiet?: boolean } & import('../../index.js').ConvertOptions} options
 */
async function convert(inputs, { output, quiet, ...options }) {
  try {
    const result = await withInputs(inputs, (paths) =>
      withCleanup(() => index.convert(paths, output, options)),
    )
    printProblems(result)
    if (!quiet) printPaths(result.files)
  } catch (error) {
    failWith(error)
  }
}

module.exports = { convert }
