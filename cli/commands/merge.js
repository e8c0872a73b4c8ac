'use strict'

// `cpu-prof merge`: merges recordings into one trace.

const index = require('../../index.js')
const { formatBytes, formatCounts } = require('../terminal/format.js')
const { progress } = require('../terminal/progress.js')
const { withCleanup } = require('../terminal/cleanup.js')
const {
  printStatus,
  printResult,
  printProblems,
  fail,
  messageOf,
} = require('../terminal/output.js')

/**
 * @param {string[]} inputs
 * @param {{ output: string, from?: number, to?: number, split?: boolean, json?: boolean, quiet?: boolean }} options
 */
async function merge(inputs, { output, from, to, split, json, quiet }) {
  const bar = progress('merging')
  let result
  try {
    const onProgress = quiet ? undefined : bar.update
    const mergeAll = () => index.merge(inputs, output, { from, to, split, onProgress })
    result = await withCleanup(mergeAll)
  } catch (error) {
    bar.end()
    return fail(messageOf(error))
  }
  bar.end()
  printProblems(result)
  if (!quiet) printStatus(describeResult(result))
  printResult(`${json ? JSON.stringify(result, null, 2) : result.files.join('\n')}\n`)
}

/** @param {import('../../index.js').MergeResult} result */
function describeResult({ files, bytes, processes, threads }) {
  const size =
    files.length === 1
      ? formatBytes(bytes)
      : `${files.length} files of at most ${formatBytes(bytes)}`
  return `${formatCounts(processes, threads)}, ${size}`
}

module.exports = { merge }
